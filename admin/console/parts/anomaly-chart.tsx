import type { AnomalyReplay } from '../api-types.ts'
import { CLOCK_FORMAT } from '../clock-format.ts'
import { countOf } from '../count-of.ts'
import { DAY_FORMAT } from '../day-format.ts'
import { TimeAxis } from './time-axis.tsx'

type ReplayedScope = AnomalyReplay['scopes'][number]

const WIDTH = 1000
const MARGIN = 34
const SCORES = 110
const GAP = 16
const CALLS = 60
const FOOT = SCORES + GAP + CALLS

/** The score of each hour with the thresholds, and below it the calls of each hour with the usual number. */
export function AnomalyChart({
  replay,
  scope,
  alert,
  kill,
}: {
  replay: AnomalyReplay
  scope: ReplayedScope
  alert: number
  kill: number
}) {
  const { scores, calls_by_step: calls, usual_calls_by_step: usual } = scope
  const top = Math.max(1, ...calls, ...usual)
  const over = scores.filter((score) => score >= alert).length
  return (
    <div class="chart anomaly">
      <ul class="legend" aria-hidden="true">
        <Key name="below" text="Score, highest of the hour" />
        <Key name="over" text={`${alert} or more`} />
        <Key name="calls" text="Calls per hour" />
        <Key name="usual" text="Usual" />
      </ul>
      <svg
        viewBox={`0 0 ${WIDTH} ${FOOT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Score of each hour: ${highest(scope)}; ${countOf(over, 'hour reaches', 'hours reach')} ${alert}. Most calls in an hour: ${Math.max(0, ...calls)}.`}
      >
        <path class="axis" d={`M${MARGIN} ${SCORES}H${WIDTH}M${MARGIN} ${FOOT}H${WIDTH}`} />
        <path class="below" d={barsOf(scores, 1, SCORES, SCORES, (score) => score < alert)} />
        <path class="over" d={barsOf(scores, 1, SCORES, SCORES, (score) => score >= alert)} />
        <path class="usual" d={barsOf(usual, top, FOOT, CALLS, () => true, 1)} />
        <path class="calls" d={barsOf(calls, top, FOOT, CALLS, () => true)} />
        <Line name="alert" at={alert} />
        {kill < 1 && <Line name="kill" at={kill} />}
      </svg>
      <div class="axes" aria-hidden="true">
        <TimeAxis
          from_ms={Date.parse(replay.from)}
          step_ms={replay.step_s * 1000}
          bars={scores.length}
        />
      </div>
    </div>
  )
}

const Key = ({ name, text }: { name: string; text: string }) => (
  <li>
    <svg class="swatch" viewBox="0 0 10 10">
      <path class={name} d="M0 0h10v10h-10z" />
    </svg>{' '}
    {text}
  </li>
)

const Line = ({ name, at }: { name: string; at: number }) => (
  <path
    class={`line ${name}`}
    vector-effect="non-scaling-stroke"
    d={`M${MARGIN} ${((1 - at) * SCORES).toFixed(1)}H${WIDTH}`}
  />
)

/** Bars that stand on a line, as one path. */
function barsOf(
  values: readonly number[],
  top: number,
  foot: number,
  height: number,
  isDrawn: (value: number) => boolean,
  share = 0.8,
): string {
  const wide = (WIDTH - MARGIN) / Math.max(1, values.length)
  const parts = values.map((value, at) => {
    if (value <= 0 || !isDrawn(value)) return ''
    const high = (value / top) * height
    const width = (wide * share).toFixed(2)
    return `M${(MARGIN + at * wide).toFixed(2)} ${(foot - high).toFixed(1)}h${width}v${high.toFixed(1)}h-${width}z`
  })
  return parts.join('')
}

function highest({ highest_score: score, highest_at: at }: ReplayedScope): string {
  if (at === null) return 'highest 0'
  const time = new Date(at)
  return `highest ${score.toFixed(2)} on ${DAY_FORMAT.format(time)}, ${CLOCK_FORMAT.format(time)}`
}
