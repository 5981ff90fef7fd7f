import type { TimeStyle } from './time-style.ts'

const NOW_S = 5
const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const
/** A longer age says less than the date. */
const AGE_MAX_MS = 30 * 86_400_000

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
const DAY = { month: 'short', day: 'numeric' } as const
const YEAR = { year: 'numeric' } as const
const formatsIn = (timeZone: string | undefined) => ({
  clock: new Intl.DateTimeFormat(undefined, { ...CLOCK, timeZone }),
  day: new Intl.DateTimeFormat(undefined, { ...DAY, timeZone }),
  year: new Intl.DateTimeFormat(undefined, { ...YEAR, timeZone }),
})
const FORMATS = { local: formatsIn(undefined), utc: formatsIn('UTC') }
const ZONED = new Intl.DateTimeFormat(undefined, {
  ...YEAR,
  ...DAY,
  ...CLOCK,
  timeZoneName: 'short',
})

/** A time in a list: its age, such as `3 min ago`, or its clock time, with the date unless it is today's. */
export function timeText(
  at_ms: number,
  now_ms: number,
  style: TimeStyle,
  ageMax_ms = AGE_MAX_MS,
): string {
  const seconds = Math.round((now_ms - at_ms) / 1000)
  const distance = Math.abs(seconds)
  if (style !== 'relative' || distance * 1000 > ageMax_ms) return clockText(at_ms, now_ms, style)
  if (distance < NOW_S) return 'just now'
  return seconds < 0 ? `in ${spanText(distance)}` : `${spanText(distance)} ago`
}

/** A time span in its largest whole unit, such as `3 min`. */
export function spanText(seconds: number): string {
  const [size, unit] = UNITS.find(([of]) => seconds >= of) ?? UNITS[3]
  return `${Math.floor(seconds / size)} ${unit}`
}

function clockText(at_ms: number, now_ms: number, style: TimeStyle): string {
  const { clock, day, year } = FORMATS[style === 'utc' ? 'utc' : 'local']
  const date = day.format(at_ms)
  const time = clock.format(at_ms)
  const itsYear = year.format(at_ms)
  if (itsYear !== year.format(now_ms)) return `${date}, ${itsYear}, ${time}`
  return date === day.format(now_ms) ? time : `${date}, ${time}`
}

/** The whole local time with its zone. */
export const zonedText = (at_ms: number): string => ZONED.format(at_ms)
