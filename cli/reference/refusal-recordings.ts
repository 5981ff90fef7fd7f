import { readFileSync } from 'node:fs'
import { fromRoot } from '../../core/system/root.ts'

/** The refusals that each client meets, in the order of the page. */
export const REFUSAL_CASES = [
  'permission_denied',
  'security_block',
  'rate_limit_exceeded',
  'agent_killed',
  'agent_killed_in_flight',
  'invalid_api_key',
  'integration_not_found',
  'request_too_large',
  'gateway_unavailable',
  'upstream_unreachable',
  'credential_unavailable',
  'redirect_refused',
  'mcp_tool_blocked',
] as const
export type RefusalCase = (typeof REFUSAL_CASES)[number]

/** What a client did with a refusal. */
export interface RefusalRecording {
  /** What its user sees; null if it still waited to repeat the call when the recording ended. */
  readonly shown: string | null
  /** The refusals that it got, in order: status and reason. */
  readonly refusals: readonly string[]
}

export interface ClientRecording {
  readonly version: string
  readonly error_format: string
  readonly refusals: Readonly<Partial<Record<RefusalCase, RefusalRecording>>>
}

export const RECORDINGS_FILE = fromRoot('test', 'witness', 'refusals', 'recordings.json')

/** By client. */
export const refusalRecordings = (): Readonly<Record<string, ClientRecording>> =>
  JSON.parse(readFileSync(RECORDINGS_FILE, 'utf8'))
