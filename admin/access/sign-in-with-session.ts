import type { IncomingHttpHeaders } from 'node:http'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { Refusal } from '../http/outcome.ts'
import { isOfDashboard } from './is-of-dashboard.ts'
import { namedSession } from './named-session.ts'
import { findSession } from './sessions.ts'

/** By this header the page marks a background request, which does not extend the session. */
export const BACKGROUND_HEADER = 'x-agw-background'

/** Authenticates a request by the console's cookie; null if there is no session cookie, or if a token is sent. */
export async function signInWithSession(
  context: AdminContext,
  request: {
    readonly method: string
    readonly headers: IncomingHttpHeaders
    readonly source_ip: string | null
  },
): Promise<Actor | Refusal | null> {
  const { method, headers, source_ip } = request
  const session = headers.authorization === undefined ? namedSession(headers) : null
  if (session === null) return null
  if (!isOfDashboard(method, headers)) return FROM_ELSEWHERE
  const isUse = headers[BACKGROUND_HEADER] === undefined
  const actor = await findSession(context, session, { source_ip, isUse })
  if (actor === null) return OVER
  if (isUse) context.tokenUses.note(actor.organization_id, actor.token_id)
  return actor
}

export const FROM_ELSEWHERE: Refusal = {
  kind: 'refusal',
  error: 'forbidden',
  message:
    'Sessions are accepted from the console only. Other clients must send "Authorization: Bearer <ADMIN_TOKEN>".',
  details: { reason: 'not_from_dashboard' },
}

const OVER: Refusal = {
  kind: 'refusal',
  error: 'unauthorized',
  message: 'The session has ended. Sign in again.',
  headers: { 'www-authenticate': 'Bearer realm="agw admin"' },
}
