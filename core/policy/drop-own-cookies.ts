import type { Header } from './header.ts'
import { holdsGatewayKey } from './holds-gateway-key.ts'

/** The cookie of the console's session: over plain http, and over https, where a browser knows its origin. */
export const SESSION_COOKIES = ['agw_session', '__Host-agw_session'] as const

/** What all their names have; most requests are done with by this. */
const PART = SESSION_COOKIES[0]

/**
 * The `Cookie` that goes upstream in place of the caller's, without the operator's session, which a browser sends to
 * every port of the host, and without any cookie that holds a gateway key. Null where there is nothing to drop, empty
 * where nothing is left.
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
