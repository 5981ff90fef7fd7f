import { CLOCK_FORMAT } from '../clock-format.ts'
import { DAY_FORMAT } from '../day-format.ts'
import { timeTicks } from '../time-ticks.ts'

const LABELS = 8
/** A label is centred below its time; one closer to the end would not have the room. */
const LAST = 0.97

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
  const span_ms = bars * step_ms
  const ticks = timeTicks(from_ms, from_ms + span_ms * LAST, LABELS)
  return (
    <div class="times">
      {ticks.map((at_ms) => (
        <span key={at_ms} style={{ left: `${((at_ms - from_ms) / span_ms) * 100}%` }}>
          {isMidnight(new Date(at_ms)) ? DAY_FORMAT.format(at_ms) : CLOCK_FORMAT.format(at_ms)}
        </span>
      ))}
    </div>
  )
}

const isMidnight = (time: Date): boolean => time.getHours() === 0 && time.getMinutes() === 0
