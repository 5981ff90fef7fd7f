import type { Reason } from '../reasons.ts'
import type { ActivityEvent } from './activity-entry.ts'

/** Events of refusals that have one of their own (contract §7). */
const EVENTS: ReadonlyMap<string, ActivityEvent> = new Map<Reason, ActivityEvent>([
  ['permission_denied', 'permission_denied'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['mcp_tool_blocked', 'mcp_tool_blocked'],
  ['security_block', 'injection_blocked'],
])

/** The event that tells of a refusal. */
export const eventOfReason = (reason: string): ActivityEvent =>
  EVENTS.get(reason) ?? 'request_rejected'
