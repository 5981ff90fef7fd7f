const WIDTH = 96
const HEIGHT = 20

/** A small picture of a course; the numbers beside it say the same. */
export function Sparkline({
  counts,
  tone,
}: {
  counts: readonly number[]
  tone: 'calls' | 'refused'
}) {
  const top = Math.max(1, ...counts)
  const wide = WIDTH / Math.max(1, counts.length)
  const path = counts
    .map((count, at) => {
      const high = (count / top) * HEIGHT
      return count === 0
        ? ''
        : `M${(at * wide).toFixed(1)} ${(HEIGHT - high).toFixed(1)}h${(wide * 0.8).toFixed(1)}v${high.toFixed(1)}h-${(wide * 0.8).toFixed(1)}z`
    })
    .join('')
  return (
    <svg
      class={`spark ${tone}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  )
}
