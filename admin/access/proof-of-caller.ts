import type { IncomingHttpHeaders } from 'node:http'
import { hashKey } from '../../core/keys/api-key.ts'
import type { CallerProof } from '../../core/kill/publish-kill.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readBearer } from './read-bearer.ts'
import { isGuessable } from './sign-in.ts'
import { isOfDashboard } from './is-of-dashboard.ts'
import { namedSession } from './named-session.ts'
import { SESSION_IDLE_MS } from './sessions.ts'
import { BACKGROUND_HEADER } from './sign-in-with-session.ts'

/**
 * What the store can check a caller by in the script of the request itself. Null if the request must sign in first: it names
 * nobody, its token could be guessed, or its session is not used by the console.
 */
export function proofOfCaller(method: string, headers: IncomingHttpHeaders): CallerProof | null {
  const session = headers.authorization === undefined ? namedSession(headers) : null
  if (session !== null)
    return isOfDashboard(method, headers)
      ? {
          session: REDIS_KEYS.session(session.hash),
          page_hash: session.page_hash,
          idle_ms: headers[BACKGROUND_HEADER] === undefined ? SESSION_IDLE_MS : 0,
        }
      : null
  const token = readBearer(headers.authorization)
  return token === null || isGuessable(token) ? null : { token_hash: hashKey(token) }
}
