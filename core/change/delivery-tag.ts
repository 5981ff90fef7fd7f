import type { ActivityEntry } from '../activity/activity-entry.ts'
import { eventRow, isDeliveredEvent } from '../catalogue/events.ts'

/** What core/lua/include/enqueue-event.lua has to know of an event: its name and its handling; empty for none. */
export function deliveryTag(event: string): string {
  const delivery = eventRow(event)?.delivery ?? null
  return delivery === null ? '' : `${event} ${delivery.handling}`
}

/** Whether webhooks receive an entry: not one that mode `log` or a whitelist keeps out of sight. */
export const isDelivered = ({ event, data }: Pick<ActivityEntry, 'event' | 'data'>): boolean =>
  isDeliveredEvent(event) && data['mode'] !== 'log' && data['whitelisted'] !== true
