import { EVENTS } from '../catalogue/events.ts'

const OPENING = '"event":"'
const PACKED: readonly string[] = Object.entries(EVENTS).flatMap(([event, row]) =>
  row.reports_call && !row.may_alert && row.delivery === null ? [event] : [],
)

/**
 * Whether an entry may be in a block: it raises no alert and no webhook event, so it is not needed before it is searched for.
 */
export function isPacked(text: string): boolean {
  const begin = text.indexOf(OPENING) + OPENING.length
  return PACKED.some((event) => text.startsWith(event, begin) && text[begin + event.length] === '"')
}
