const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof UNITS_MS

/** A whole number and a unit, such as `24h`, in ms; null for another text. */
export function readDuration(text: string, units: readonly Unit[]): number | null {
  const [, count, letter] = /^(\d{1,6})([a-z])$/.exec(text) ?? []
  const unit = units.find((one) => one === letter)
  return unit === undefined ? null : Number(count) * UNITS_MS[unit]
}
