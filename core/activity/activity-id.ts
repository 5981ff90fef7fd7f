import { randomUUID } from 'node:crypto'

const PREFIX = 'act_'
/** Hexadecimal digits of the time; they last until the year 10889. */
const TIME_DIGITS = 12
const FORM = /^act_([0-9a-f]{12})[0-9a-z-]{1,40}$/

/**
 * A new id of an activity entry. It begins with the time at which the entry was made, as a UUID of version 7 does, so
 * that an entry is found by its id without an index of ids.
 */
export const mintActivityId = (now_ms: number): string =>
  PREFIX +
  now_ms.toString(16).padStart(TIME_DIGITS, '0') +
  // The version and variant of a UUID and 74 random bits.
  randomUUID().slice(14)

/** When the entry was made, by the clock of its maker; null where the text is no such id. */
export function timeOfActivityId(id: string): number | null {
  const digits = FORM.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16)
}
