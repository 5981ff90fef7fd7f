import { useId } from 'preact/hooks'

interface Counted {
  readonly threshold: number
  readonly alerts: number
}

/** A threshold as a slider, with the number of occurrences that each of its values would have had. */
export function RangeField({
  label,
  counts,
  words,
  value,
  onValue,
}: {
  label: string
  /** By threshold, with equal steps. */
  counts: readonly Counted[]
  words: (count: number) => string
  value: number
  onValue: (value: number) => void
}) {
  const id = useId()
  const [first, second] = counts
  if (first === undefined || second === undefined) return null
  const last = counts.at(-1) ?? first
  const step = Math.round((second.threshold - first.threshold) * 100) / 100
  const shown = nearest(counts, value)
  const said = `${value >= 1 ? 'never' : value}: ${words(shown.alerts)}`
  return (
    <div class="field">
      <label for={id}>
        {label} <output for={id}>{said}</output>
      </label>
      <input
        id={id}
        type="range"
        min={first.threshold}
        max={last.threshold}
        step={step}
        value={value}
        aria-valuetext={said}
        onInput={(event) => onValue(Number(event.currentTarget.value))}
      />
      <ol class="counts-at" aria-label={`${label}: number for each value`}>
        {counts.map(({ threshold, alerts }) => (
          <li key={threshold} aria-current={threshold === shown.threshold ? 'true' : undefined}>
            <span class="muted">{threshold}</span> {alerts}
          </li>
        ))}
      </ol>
    </div>
  )
}

const nearest = (counts: readonly Counted[], value: number): Counted =>
  counts.reduce((best, one) =>
    Math.abs(one.threshold - value) < Math.abs(best.threshold - value) ? one : best,
  )
