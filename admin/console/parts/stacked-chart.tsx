import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CLOCK_FORMAT } from '../clock-format.ts'
import { DAY_FORMAT } from '../day-format.ts'
import { TimeAxis } from './time-axis.tsx'

export interface ChartGroup {
  readonly title: string
  readonly counts: readonly number[]
  /** A class of the style sheet in place of that of its position. */
  readonly tone?: string
}

const WIDTH = 1000
const MARGIN = 34
/** Room for the line below the bars. */
const FOOT = 2
/** Colours of the style sheet; further groups share the last. */
const TONES = 8

export const toneOf = (group: number): string => `tone-${Math.min(group, TONES - 1)}`

interface ChartProps {
  readonly label: string
  readonly from_ms: number
  readonly step_ms: number
  readonly groups: readonly ChartGroup[]
  readonly height: number
  /** Further rows on the same axis. */
  readonly children?: ComponentChildren
  /** A bar or a range of bars was chosen. */
  readonly onRange: (range: { readonly from_ms: number; readonly to_ms: number }) => void
}

/**
 * Stacked bars over time. A pointer chooses one bar with a click and several by dragging; the arrow keys move, with Shift they
 * extend, and Enter chooses.
 */
export function StackedChart(props: ChartProps) {
  const { label, groups, height } = props
  const bars = groups[0]?.counts.length ?? 0
  const sums = Array.from({ length: bars }, (_, at) => sumAt(groups, at))
  const top = niceTop(Math.max(1, ...sums))
  const { first, last, current, isActive, handlers } = useChosen(props, bars)
  const isShown = isActive && bars > 0
  return (
    <div class="chart">
      <svg
        {...handlers}
        viewBox={`0 0 ${WIDTH} ${height + FOOT}`}
        preserveAspectRatio="none"
        role="slider"
        tabIndex={0}
        aria-label={`${label}: arrow keys choose a time, Shift extends it, Enter shows its entries`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars - 1)}
        aria-valuenow={current}
        aria-valuetext={spoken(props, first, last)}
      >
        <Bars groups={groups} bars={bars} top={top} height={height} />
        {isShown && <Chosen first={first} last={last} bars={bars} height={height} />}
      </svg>
      {props.children}
      <Axes {...props} bars={bars} top={top} />
      <p class="muted" aria-hidden="true">
        {isShown
          ? spoken(props, first, last)
          : 'Click a bar or drag across several to see their entries.'}
      </p>
    </div>
  )
}

/** The bars that are chosen, from the first to the last, and the events of the picture that choose them. */
function useChosen({ from_ms, step_ms, onRange }: ChartProps, bars: number) {
  const [at, setAt] = useState(bars - 1)
  const [anchor, setAnchor] = useState<number | null>(null)
  const [isActive, setActive] = useState(false)
  const isDragged = useRef(false)
  useEffect(() => setAt((before) => Math.max(0, Math.min(before, bars - 1))), [bars])
  const current = Math.max(0, Math.min(at, bars - 1))
  const [first, last] = [Math.min(anchor ?? current, current), Math.max(anchor ?? current, current)]
  const choose = (): void =>
    onRange({ from_ms: from_ms + first * step_ms, to_ms: from_ms + (last + 1) * step_ms })
  const barAt = ({ clientX, currentTarget }: PointerOn): number => {
    const box = currentTarget.getBoundingClientRect()
    const x = box.width === 0 ? 0 : ((clientX - box.left) / box.width) * WIDTH
    const bar = Math.floor(((x - MARGIN) / (WIDTH - MARGIN)) * bars)
    return Math.max(0, Math.min(bar, bars - 1))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAnchor(event.shiftKey ? (anchor ?? current) : null)
      setAt(Math.max(0, Math.min(current + step * (Math.abs(step) > 1 ? bars : 1), bars - 1)))
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      choose()
    }
  }
  const handlers = {
    onKeyDown,
    onFocus: () => setActive(true),
    onBlur: () => setActive(false),
    onPointerDown: (event: PointerOn) => {
      if (event.button !== 0) return
      isDragged.current = true
      event.currentTarget.setPointerCapture(event.pointerId)
      setAnchor(barAt(event))
      setAt(barAt(event))
    },
    onPointerMove: (event: PointerOn) => {
      setActive(true)
      if (!isDragged.current) setAnchor(null)
      setAt(barAt(event))
    },
    onPointerLeave: () => {
      if (!isDragged.current) setActive(false)
    },
    onPointerCancel: () => {
      isDragged.current = false
    },
    onPointerUp: () => {
      if (!isDragged.current) return
      isDragged.current = false
      choose()
    },
  }
  return { first, last, current, isActive, handlers }
}

type PointerOn = PointerEvent & { readonly currentTarget: SVGSVGElement }

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowUp: 1,
  Home: -2,
  End: 2,
}

const Bars = ({
  groups,
  bars,
  top,
  height,
}: {
  groups: readonly ChartGroup[]
  bars: number
  top: number
  height: number
}) => {
  const wide = (WIDTH - MARGIN) / Math.max(1, bars)
  const base = Array.from({ length: bars }, () => 0)
  // One path for each group, so that a chart of a week is a handful of elements.
  return (
    <>
      {groups.map(({ title, counts, tone }, group) => {
        let path = ''
        for (const [at, count] of counts.entries()) {
          if (count === 0) continue
          const low = base[at] ?? 0
          base[at] = low + count
          const x = MARGIN + at * wide
          const y = height - ((low + count) / top) * height
          path += `M${x.toFixed(1)} ${y.toFixed(1)}h${(wide * 0.86).toFixed(1)}v${((count / top) * height).toFixed(1)}h-${(wide * 0.86).toFixed(1)}z`
        }
        return <path key={title} class={tone ?? toneOf(group)} d={path} />
      })}
      <path class="axis" d={`M${MARGIN} ${height}H${WIDTH}`} />
    </>
  )
}

const Chosen = ({
  first,
  last,
  bars,
  height,
}: {
  first: number
  last: number
  bars: number
  height: number
}) => {
  const wide = (WIDTH - MARGIN) / bars
  return (
    <rect
      class="chosen"
      x={MARGIN + first * wide}
      y={0}
      width={(last - first + 1) * wide}
      height={height}
    />
  )
}

const Axes = ({ from_ms, step_ms, bars, top }: ChartProps & { bars: number; top: number }) => (
  <div class="axes" aria-hidden="true">
    <span class="top">{top.toLocaleString()}</span>
    <TimeAxis from_ms={from_ms} step_ms={step_ms} bars={bars} />
  </div>
)

function spoken({ from_ms, step_ms, groups }: ChartProps, first: number, last: number): string {
  const counts = groups
    .map(({ title, counts: all }) => ({
      title,
      count: all.slice(first, last + 1).reduce((sum, one) => sum + one, 0),
    }))
    .filter(({ count }) => count > 0)
  const sum = counts.reduce((all, { count }) => all + count, 0)
  const [from, to] = [from_ms + first * step_ms, from_ms + (last + 1) * step_ms]
  const isOneDay = DAY_FORMAT.format(from) === DAY_FORMAT.format(to)
  const time = `${DAY_FORMAT.format(from)}, ${CLOCK_FORMAT.format(from)} to ${isOneDay ? '' : `${DAY_FORMAT.format(to)}, `}${CLOCK_FORMAT.format(to)}`
  return `${time}: ${sum.toLocaleString()}${counts.length > 0 ? ` (${counts.map(({ title, count }) => `${title} ${count.toLocaleString()}`).join(', ')})` : ''}`
}

const sumAt = (groups: readonly ChartGroup[], at: number): number =>
  groups.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0)

/** A round number that leaves little room above the highest bar. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  return power * ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= most) ?? 10)
}
