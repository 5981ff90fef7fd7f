import type { KillMethod } from '../../core/kill/kill-record.ts'

/** The header that identifies the command line; the console is identified by its session. */
const CLIENT_HEADER = 'x-agw-client'

export function killMethodOf(
  isSession: boolean,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): KillMethod {
  if (isSession) return 'dashboard'
  return headers[CLIENT_HEADER] === 'cli' ? 'cli' : 'api'
}
