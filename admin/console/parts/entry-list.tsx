import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ActivityEntry } from '../api-types.ts'
import { eventTitle } from '../event-title.ts'
import { isSortColumn, nextSort, type Sort } from '../sort-entries.ts'
import type { ApiOf } from '../use-hosts.ts'
import { toneOf } from '../word-of.ts'
import { isInField } from '../is-in-field.ts'
import { goTo, linkTo } from '../place.ts'
import { summaryOf } from '../summary-of.ts'
import { AgentLink } from './bits.tsx'
import { MethodAndPath } from './method-and-path.tsx'
import { nextRows, type Rows } from './next-rows.ts'
import { Time } from './time.tsx'

type Query = Readonly<Record<string, string>>

/** Heights of a row, as the style sheet has them: one line, and two on a narrow screen. */
const ROW = 26
const ROW_NARROW = 52
const NARROW = '(max-width: 62rem)'
/** Rows above and below what is seen. */
const SPARE = 8
/** Rows that are drawn in one frame, so that a fast scroll has no long task; a screen takes two or three frames. */
const DRAWN_MAX = 12
/** Rows that are kept; more than a screen shows. */
const KEPT_MAX = 400
/** Of many entries within an hour of long ago, only clock times tell one from the other. */
const AGE_MAX_MS = 3_600_000
/** So close to the end, older entries are loaded. */
const NEAR_END = 60

interface ListProps {
  readonly entries: readonly ActivityEntry[]
  /** The filter of the list, which stays when an entry is opened. */
  readonly query: Query
  readonly apiName: ApiOf
  readonly sort: Sort | null
  /** Null where the order is that of time. */
  readonly onSort: ((sort: Sort | null) => void) | null
  readonly onNearEnd: () => void
  /** Whether the first row is seen. */
  readonly onTop?: (isAtTop: boolean) => void
}

/** Entries in one list, of which only the rows that are seen are in the page. `j` and `k` go from row to row. */
export function EntryList(props: ListProps) {
  const { entries, query, apiName, sort, onSort } = props
  const list = useRef<HTMLDivElement>(null)
  const row = useRowHeight()
  const { drawn, look } = useWindow(list, row, props)
  useRowKeys(list, row, entries, look)
  const rowOf = useRows(query, apiName)
  const end = Math.min(entries.length, drawn.end)
  const begin = Math.min(drawn.begin, end)
  const space = {
    paddingTop: `${begin * row}px`,
    paddingBottom: `${(entries.length - end) * row}px`,
  }
  return (
    <div
      class="entries"
      role="table"
      aria-label="Activity"
      aria-rowcount={entries.length + 1}
      ref={list}
      onScroll={look}
    >
      <div role="rowgroup" class="entries-head">
        <div role="row" class="entry" aria-rowindex={1}>
          {HEADS.map((head) => (
            <Head key={head} head={head} sort={sort} onSort={onSort} />
          ))}
        </div>
      </div>
      <div role="rowgroup" style={space}>
        {entries.slice(begin, end).map((entry, at) => rowOf(entry, begin + at + 2))}
      </div>
    </div>
  )
}

function Head({ head, sort, onSort }: { head: string } & Pick<ListProps, 'sort' | 'onSort'>) {
  if (onSort === null || !isSortColumn(head)) return <span role="columnheader">{head}</span>
  const isChosen = sort?.by === head
  const order = isChosen ? (sort.isFalling ? 'descending' : 'ascending') : 'none'
  return (
    <span role="columnheader" aria-sort={order}>
      <button type="button" class="sort" onClick={() => onSort(nextSort(sort, head))}>
        {head}
        {isChosen && (sort.isFalling ? ' ↓' : ' ↑')}
      </button>
    </span>
  )
}

interface KeptRow {
  readonly entry: ActivityEntry
  readonly index: number
  readonly drawn: VNode
}

/** A row that was drawn before is given again as it is, so that a scrolled list draws only what comes into view. */
function useRows(query: Query, apiName: ListProps['apiName']) {
  const rows = useMemo(() => new Map<string, KeptRow>(), [query, apiName])
  return (entry: ActivityEntry, index: number): VNode => {
    const kept = rows.get(entry.id)
    if (kept?.entry === entry && kept.index === index) return kept.drawn
    const drawn = <Row key={entry.id} entry={entry} index={index} query={query} apiName={apiName} />
    if (rows.size >= KEPT_MAX) rows.clear()
    rows.set(entry.id, { entry, index, drawn })
    return drawn
  }
}

type ListElement = { readonly current: HTMLDivElement | null }

/** The rows in the page, by what is seen of the list. Rows that are missing are drawn in the frames that follow. */
function useWindow(list: ListElement, row: number, { entries, onNearEnd, onTop }: ListProps) {
  const [drawn, setDrawn] = useState<Rows>({ begin: 0, end: DRAWN_MAX })
  const [wanted, setWanted] = useState(drawn)
  const look = (): void => {
    const element = list.current
    if (element === null) return
    const { scrollTop, clientHeight, scrollHeight } = element
    const seen = Math.floor(scrollTop / row)
    const begin = Math.max(0, seen - SPARE)
    const shown = Math.ceil(clientHeight / row) + 2 * SPARE
    const end = Math.min(entries.length, begin + shown)
    setWanted((before) => (before.begin === begin && before.end === end ? before : { begin, end }))
    setDrawn((before) => nextRows(before, { begin, end }, seen, DRAWN_MAX))
    onTop?.(scrollTop < row)
    if (scrollTop + clientHeight > scrollHeight - NEAR_END * row) onNearEnd()
  }
  useLayoutEffect(look, [row, entries.length])
  useLayoutEffect(() => {
    if (drawn.begin === wanted.begin && drawn.end === wanted.end) return
    return inNextFrame(look)
  })
  useEffect(() => {
    addEventListener('resize', look)
    return () => removeEventListener('resize', look)
  })
  return { drawn, look }
}

/** Not in the frame that begins now, which has drawn rows for a scroll. Returns the function that cancels it. */
function inNextFrame(run: () => void): () => void {
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(run)
  })
  return () => cancelAnimationFrame(frame)
}

/** The keys move the focus from row to row; a row that is not in the page is focused as soon as it is. */
function useRowKeys(
  list: ListElement,
  row: number,
  entries: readonly ActivityEntry[],
  look: () => void,
): void {
  const wanted = useRef<string | null>(null)
  const focusWanted = (): void => {
    const id = wanted.current
    if (id === null) return
    const link = list.current?.querySelector<HTMLElement>(`[data-entry="${CSS.escape(id)}"] a`)
    if (link === null || link === undefined) return
    wanted.current = null
    link.focus({ preventScroll: true })
  }
  useEffect(focusWanted)
  useListKeys((step) => {
    const element = list.current
    if (element === null || entries.length === 0) return
    const focused = document.activeElement?.closest<HTMLElement>('[data-entry]')
    const current = entries.findIndex(({ id }) => id === focused?.dataset['entry'])
    const next = Math.max(0, Math.min(current < 0 ? 0 : current + step, entries.length - 1))
    const bottom = (next + 2) * row
    if (next * row < element.scrollTop) element.scrollTop = next * row
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight
    wanted.current = entries[next]?.id ?? null
    look()
    focusWanted()
  })
}

const HEADS = ['Time', 'Event', 'Agent', 'API', 'Host', 'Call', 'Status', 'ms', 'Why']

function Row({
  entry,
  index,
  query,
  apiName,
}: {
  entry: ActivityEntry
  index: number
  query: Query
  apiName: ListProps['apiName']
}) {
  const { id, timestamp, event, agent_id, agent_name, method, endpoint } = entry
  const api = apiName(entry)
  const summary = summaryOf(entry)
  return (
    <div
      role="row"
      class="entry"
      aria-rowindex={index}
      data-entry={id}
      onClick={({ target }) => {
        // A selection is being copied, or a link of its own was chosen.
        if ((target as HTMLElement).closest('a') !== null || getSelection()?.type === 'Range')
          return
        goTo(['activity', id], query)
      }}
    >
      <span role="cell">
        <a href={linkTo(['activity', id], query)}>
          <Time at={timestamp} ageMax_ms={AGE_MAX_MS} />
        </a>
      </span>
      <span role="cell" title={event}>
        <span class={`dot ${toneOf(entry)}`} /> {eventTitle(event)}
      </span>
      <span role="cell">{agent_id !== null && <AgentLink id={agent_id} name={agent_name} />}</span>
      <span role="cell" title={api.name}>
        {api.name}
      </span>
      <span role="cell" title={api.host}>
        {api.host}
      </span>
      {method === null ? (
        <span role="cell" class="no-call" aria-colspan={4} title={summary}>
          {summary}
        </span>
      ) : (
        <>
          <span role="cell" title={endpoint ?? ''}>
            <MethodAndPath entry={entry} />
          </span>
          <span role="cell" class={toneOf(entry) === 'failed' ? 'failed' : ''}>
            {entry.status}
          </span>
          <span role="cell">{entry.duration_ms !== null && Math.round(entry.duration_ms)}</span>
          <span role="cell" title={summary}>
            {summary}
          </span>
        </>
      )}
    </div>
  )
}

function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const media = matchMedia(NARROW)
    const change = (): void => setNarrow(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [])
  return isNarrow ? ROW_NARROW : ROW
}

/** Not while the user types, and not behind an open drawer. */
function useListKeys(go: (step: number) => void): void {
  const latest = useRef(go)
  latest.current = go
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const step = { j: 1, k: -1 }[event.key]
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
      if (isInField(event)) return
      latest.current(step)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
