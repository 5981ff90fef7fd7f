import type { ActivityEntry } from '../activity/activity-entry.ts'

/** What a webhook may subscribe to (contract §7). `test` is sent on request alone. */
export const SUBSCRIBABLE_EVENTS = [
  'injection_blocked',
  'injection_detected',
  'agent_killed',
  'agent_reactivated',
  'anomaly_detected',
  'permission_denied',
  'rate_limit_exceeded',
  'mcp_tool_blocked',
] as const
export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number]

const known = new Set<string>(SUBSCRIBABLE_EVENTS)

export const isSubscribable = (event: string): event is SubscribableEvent => known.has(event)

/**
 * Whether webhooks hear of an entry: not of one that mode `log` or a whitelist has turned into a line of the log
 * (contract §4).
 */
export const isDelivered = ({ event, data }: Pick<ActivityEntry, 'event' | 'data'>): boolean =>
  isSubscribable(event) && data['mode'] !== 'log' && data['whitelisted'] !== true
