import { randomUUID } from 'node:crypto'

const PREFIX = 'act_'
/** Hexadecimal digits of the time; enough until the year 10889. */
const TIME_DIGITS = 12
const FORM = /^act_([0-9a-f]{12})[0-9a-z-]{1,40}$/

/**
 * A new id for an activity entry. Like a UUID version 7 it begins with the time of its creation, so
 * that an entry is found by its id without an index of ids.
 */
export function mintActivityId(now_ms: number): string {
  if (now_ms !== latest_ms) {
    latest_ms = now_ms
    opening = PREFIX + now_ms.toString(16).padStart(TIME_DIGITS, '0')
  }
  // The version and variant of a UUID and 74 random bits.
  return opening + randomUUID().slice(14)
}

/** At thousands of calls per second, several ids in a row begin with the same time. */
let latest_ms = Number.NaN
let opening = ''

/** When the entry was created, by the clock of its process; null if the text is not such an id. */
export function timeOfActivityId(id: string): number | null {
  const digits = FORM.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16)
}
