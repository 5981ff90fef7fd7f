import type { KillMethod } from '../../core/kill/kill-record.ts'
import type { Actor } from '../context/admin-context.ts'

/** The header that identifies the command line; the console is identified by its session. */
const CLIENT_HEADER = 'x-agw-client'

export function killMethodOf(
  actor: Actor,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): KillMethod {
  if (actor.session !== undefined) return 'dashboard'
  return headers[CLIENT_HEADER] === 'cli' ? 'cli' : 'api'
}
