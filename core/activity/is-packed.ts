import { type EventName, EVENTS } from '../catalogue/events.ts'

const OPENING = '"event":"'
const PACKED: readonly string[] = Object.entries(EVENTS).flatMap(([event, row]) =>
  row.reports_call && !row.may_alert && row.delivery === null ? [event] : [],
)
const REFUSED: EventName = 'request_rejected'
/** Of refused calls, those with this reason alone raise an alert. */
const ALERTING = '"reason":"credential_echoed"'

/**
 * Whether an entry may be in a block: it raises no alert and no webhook event, so it is not needed before it is searched for.
 */
export function isPacked(text: string): boolean {
  const begin = text.indexOf(OPENING) + OPENING.length
  const isOf = (event: string): boolean =>
    text.startsWith(event, begin) && text[begin + event.length] === '"'
  return PACKED.some(isOf) || (isOf(REFUSED) && !text.includes(ALERTING))
}
