import type { Header } from './header.ts'

/** The cookie of the dashboard's session: over plain http, and over https, where a browser knows its origin. */
export const SESSION_COOKIES = ['agw_session', '__Host-agw_session'] as const

/** What all their names have; most requests are done with by this. */
const PART = SESSION_COOKIES[0]

/**
 * The `Cookie` that goes upstream in place of the caller's: a browser sends the operator's session to every port of the
 * host, and no API may see it (threats.md 6). Null where there is nothing to drop, empty where nothing is left.
 */
export function dropSessionCookie(headers: readonly Header[]): string | null {
  if (!headers.some(({ name, value }) => name === 'cookie' && value.includes(PART))) return null
  return headers
    .filter(({ name }) => name === 'cookie')
    .flatMap(({ value }) => value.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !isOfSession(pair.split('=', 1)[0]?.trim() ?? ''))
    .join('; ')
}

const isOfSession = (name: string): boolean => SESSION_COOKIES.some((own) => own === name)
