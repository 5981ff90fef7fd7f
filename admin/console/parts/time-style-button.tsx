import { useState } from 'preact/hooks'
import { type TimeStyle, timeStyle, TIME_STYLES } from '../time-style.ts'
import { tellTimes } from '../use-time-text.ts'

const TITLES: Readonly<Record<TimeStyle, string>> = {
  relative: 'Relative',
  local: 'Local',
  utc: 'UTC',
}

/** Goes from ages to local clock times and those of UTC, and back. */
export function TimeStyleButton() {
  const [current, setCurrent] = useState<TimeStyle>(timeStyle.value)
  const next = TIME_STYLES[(TIME_STYLES.indexOf(current) + 1) % TIME_STYLES.length] ?? 'relative'
  return (
    <button
      type="button"
      onClick={() => {
        timeStyle.set(next)
        setCurrent(next)
        tellTimes()
      }}
    >
      Times: {TITLES[current]}
    </button>
  )
}
