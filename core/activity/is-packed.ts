import { type EventName, EVENTS } from '../catalogue/events.ts'

const OPENING = '"event":"'
/** Of refused calls, those with this reason alone raise an alert. */
const ALERTING = '"reason":"credential_echoed"'
const PACKED: readonly string[] = Object.entries(EVENTS).flatMap(([event, row]) =>
  row.reports_call &&
  row.delivery === null &&
  (!row.may_alert || event === ('request_rejected' satisfies EventName))
    ? [event]
    : [],
)

/**
 * Whether an entry may be in a block: it raises no alert and no webhook event, so it is not needed before it is searched for.
 */
export function isPacked(text: string): boolean {
  const begin = text.indexOf(OPENING) + OPENING.length
  if (text.includes(ALERTING)) return false
  return PACKED.some((event) => text.startsWith(event, begin) && text[begin + event.length] === '"')
}
