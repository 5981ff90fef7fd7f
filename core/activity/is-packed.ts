import { EVENTS } from '../events.ts'

const OPENING = '"event":"'
const PACKED: readonly string[] = Object.entries(EVENTS).flatMap(([event, row]) =>
  row.reports_call && !row.may_alert && row.delivery === null ? [event] : [],
)

/** Whether an entry may be in a block: nobody is alerted or notified of it, so nobody has to see it before it is looked up. */
export function isPacked(text: string): boolean {
  const begin = text.indexOf(OPENING) + OPENING.length
  return PACKED.some((event) => text.startsWith(event, begin) && text[begin + event.length] === '"')
}
