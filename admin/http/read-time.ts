/** A time in a request: ISO 8601, at least to the minute, with Z or an offset. */
export const TIME_PATTERN =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$'
export const TIME_MESSAGE = 'must be a time like 2030-01-31T12:00:00Z'

const TIME = new RegExp(TIME_PATTERN)

/** The years that ISO 8601 writes with four digits: with its offset, a time can be in another one. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** Unix ms; null if it is not a valid time. */
export const readTime = (text: string): number | null => {
  // Of 30 February, Date.parse makes a day in March.
  const isDay = new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10))
  const ms = isDay && TIME.test(text) ? Date.parse(text) : Number.NaN
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : null
}
