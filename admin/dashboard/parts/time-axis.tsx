import { CLOCK_FORMAT } from '../clock-format.ts'
import { DAY_FORMAT } from '../day-format.ts'

const LABELS = 8
const LONG_MS = 2 * 86_400_000

/** The times below a chart. Outside the picture, which is stretched and would stretch the letters. */
export function TimeAxis({
  from_ms,
  step_ms,
  bars,
}: {
  from_ms: number
  step_ms: number
  bars: number
}) {
  const every = Math.max(1, Math.ceil(bars / LABELS))
  const format = bars * step_ms > LONG_MS ? DAY_FORMAT : CLOCK_FORMAT
  const times = Array.from({ length: bars }, (_, at) => at).filter((at) => at % every === 0)
  return (
    <div class="times">
      {times.map((at) => (
        <span key={at} style={{ left: `${(100 * at) / bars}%` }}>
          {format.format(from_ms + at * step_ms)}
        </span>
      ))}
    </div>
  )
}
