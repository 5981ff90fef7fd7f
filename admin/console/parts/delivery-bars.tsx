import type { Delivery, Webhook } from '../api-types.ts'

const BARS_MAX = 50
const WIDTH = 6
const HEIGHT = 22
const GAP = 2
const SHARE_WIDTH = 90

/** The newest deliveries, a bar each, the newest at the right. */
export function DeliveryBars({ deliveries }: { deliveries: readonly Delivery[] }) {
  const shown = deliveries.slice(0, BARS_MAX).toReversed()
  if (shown.length === 0) return null
  const count = (status: Delivery['status']): number =>
    shown.filter((delivery) => delivery.status === status).length
  const words = `${shown.length === 1 ? 'Last delivery' : `Last ${shown.length} deliveries`}: ${count('delivered')} delivered, ${count('failed')} failed, ${count('pending')} pending`
  return (
    <figure class="bars">
      <svg
        role="img"
        aria-label={words}
        width={shown.length * WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${shown.length * WIDTH} ${HEIGHT}`}
      >
        {shown.map(({ delivery_id, status }, at) => (
          <rect
            key={delivery_id}
            class={status}
            x={at * WIDTH}
            width={WIDTH - GAP}
            y={status === 'pending' ? HEIGHT / 2 : 0}
            height={status === 'pending' ? HEIGHT / 2 : HEIGHT}
          />
        ))}
      </svg>
      <figcaption class="muted">{words}</figcaption>
    </figure>
  )
}

/** The share of attempts that succeeded. */
export function SuccessShare({ webhook }: { webhook: Webhook }) {
  const { success_count: good, failure_count: bad } = webhook
  const all = good + bad
  if (all === 0) return <span class="muted">no attempts</span>
  const width = Math.round((good / all) * SHARE_WIDTH)
  return (
    <span class="bars">
      <svg aria-hidden="true" width={SHARE_WIDTH} height="8" viewBox={`0 0 ${SHARE_WIDTH} 8`}>
        <rect class="delivered" x="0" y="0" width={width} height="8" />
        <rect class="failed" x={width} y="0" width={SHARE_WIDTH - width} height="8" />
      </svg>{' '}
      {percent(good, all)} of {all.toLocaleString()}
    </span>
  )
}

/** Never 100 % where something failed. */
const percent = (good: number, all: number): string =>
  good === all ? '100 %' : `${(Math.floor((good / all) * 1000) / 10).toFixed(1)} %`
