import type { KillMethod } from '../../core/kill/kill-record.ts'

/** The header by which the command line and the dashboard say who they are; without it a kill came by the API. */
const CLIENT_HEADER = 'x-agw-client'

export function killMethodOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): KillMethod {
  const client = headers[CLIENT_HEADER]
  return client === 'cli' || client === 'dashboard' ? client : 'api'
}
