import type { IncomingHttpHeaders } from 'node:http'
import { hashKey } from '../../core/keys/api-key.ts'
import { readSessionCookie } from './session-cookie.ts'

/** What the page that opened the session has kept in its origin and says with each request. */
const PAGE_HEADER = 'x-agw-page-secret'

export interface NamedSession {
  /** SHA-256 of what the cookie says, by which the store knows the session. */
  readonly hash: string
  /** SHA-256 of what the page says. */
  readonly page_hash: string
}

/**
 * The session that a request names; null when it names none. It takes both halves to open one: a browser hands the
 * cookie to every port of the host, and takes one from there too, while what a page keeps knows its own port
 * (threat model, rule 6).
 */
export function namedSession(headers: IncomingHttpHeaders): NamedSession | null {
  const secret = readSessionCookie(headers.cookie)
  if (secret === null) return null
  return { hash: hashKey(secret), page_hash: hashKey(String(headers[PAGE_HEADER] ?? '')) }
}
