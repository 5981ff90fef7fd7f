import type { Header } from './header.ts'
import { holdsGatewayKey } from './holds-gateway-key.ts'

/** The cookie of the console's session: over plain http, and over https, where a browser knows its origin. */
export const SESSION_COOKIES = ['agw_session', '__Host-agw_session'] as const

/** A part of all their names, to skip most requests quickly. */
const PART = SESSION_COOKIES[0]

/**
 * The `Cookie` that is sent upstream instead of the caller's: without the operator's session, which a browser sends to every
 * port of the host, and without cookies that contain a gateway key. Null if nothing has to be removed, empty if nothing is
 * left.
 */
export function dropOwnCookies(headers: readonly Header[]): string | null {
  if (!headers.some(isOwnCookie)) return null
  return headers
    .filter(({ name }) => name === 'cookie')
    .flatMap(({ value }) => value.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !isOfSession(pair) && !holdsGatewayKey(pair))
    .join('; ')
}

const isOwnCookie = ({ name, value }: Header): boolean =>
  name === 'cookie' && (value.includes(PART) || holdsGatewayKey(value))

const isOfSession = (pair: string): boolean => {
  const name = pair.split('=', 1)[0]?.trim()
  return SESSION_COOKIES.some((own) => own === name)
}
