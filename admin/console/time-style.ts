const KEY = 'agw_times'
export const TIME_STYLES = ['relative', 'local', 'utc'] as const
export type TimeStyle = (typeof TIME_STYLES)[number]

const stored = localStorage.getItem(KEY)
let current: TimeStyle = TIME_STYLES.find((style) => style === stored) ?? 'relative'

/** How this browser shows times: their age unless clock times were chosen. */
export const timeStyle = {
  get value(): TimeStyle {
    return current
  },
  set(value: TimeStyle): void {
    current = value
    localStorage.setItem(KEY, value)
  },
}
