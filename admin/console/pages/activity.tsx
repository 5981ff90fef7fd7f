import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { EVENT_NAMES } from '../../../core/catalogue/events.ts'
import { REASONS } from '../../../core/catalogue/reasons.ts'
import { type Problem, withQuery } from '../api.ts'
import type { ActivityEntry } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { download } from '../download.ts'
import { eventTitle } from '../event-title.ts'
import { ActivityHistogram } from '../parts/activity-histogram.tsx'
import { EntryDrawer } from '../parts/entry-drawer.tsx'
import { EntryList } from '../parts/entry-list.tsx'
import { FacetChips } from '../parts/facet-chips.tsx'
import { SelectField, TextField, utcOf, localOf } from '../parts/fields.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { Time } from '../parts/time.tsx'
import { TimePresets } from '../parts/time-presets.tsx'
import { goTo, linkTo } from '../place.ts'
import { reasonTitle } from '../reason-title.ts'
import { resolvePair } from '../resolve-pair.ts'
import { type Sort, sortEntries } from '../sort-entries.ts'
import { timeRange } from '../time-ranges.ts'
import { useAction } from '../use-action.ts'
import { type Entries, useEntries } from '../use-entries.ts'
import { LIVE_MAX, useLive } from '../use-live.ts'
import { useHosts } from '../use-hosts.ts'
import { VIA_OPTIONS } from '../via-title.ts'

type Query = Readonly<Record<string, string>>
type Filters = Readonly<Record<string, string | undefined>>
const FILTERS = [
  'event',
  'decision',
  'reason',
  'agent_id',
  'integration_id',
  'via',
  'status',
  'request_id',
  'q',
  'from',
  'to',
] as const
const DECISIONS: Readonly<Record<NonNullable<ActivityEntry['decision']>, string>> = {
  allowed: 'Allowed',
  blocked: 'Blocked',
  terminated: 'Terminated',
}

const REASON_OPTIONS = Object.keys(REASONS).map((reason) => [reason, reasonTitle(reason)] as const)
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx']
/** A status of a link, such as 503, is an option too. */
const statusOptions = (chosen: string) =>
  [
    '',
    ...STATUS_CLASSES,
    ...(STATUS_CLASSES.includes(chosen) || chosen === '' ? [] : [chosen]),
  ].map((status) => [status, status === '' ? 'any' : status] as const)

/** Charts and counts without a chosen range show this one. */
const COUNTED_MS = 7 * 24 * 3_600_000

/** The log; with `entry` one entry of it is open in a drawer, and the list stays as it is. */
export function ActivityPage({ query, entry }: { query: Query; entry: string | undefined }) {
  const given: Filters = Object.fromEntries(FILTERS.map((name) => [name, query[name]]))
  const isLive = query['live'] === '1'
  const range = query['range'] === undefined ? null : timeRange(query['range'])
  // Closed, its lists of names are not read.
  const [isFiltering, setFiltering] = useState(false)
  const text = withQuery('', query)
  // The range ends now; it does not move on while the list is read.
  const now_ms = useMemo(() => Date.now(), [text])
  const since = (ms: number): string => new Date(now_ms - ms).toISOString()
  const filter = range === null || given['from'] ? given : { ...given, from: since(range.ms) }
  const counted = filter['from'] ? filter : { ...filter, from: since(COUNTED_MS) }
  const exporting = useAction(
    (format: string) => download(withQuery('/admin/activity/export', { format, ...filter })),
    () => undefined,
  )
  return (
    <div class="log">
      <div class="head">
        <h1>Activity</h1>
        <TimePresets
          parts={['activity']}
          query={{ ...query, live: undefined }}
          current={range?.key ?? null}
        />
        <details class="filters" onToggle={({ currentTarget }) => setFiltering(currentTarget.open)}>
          <summary>Filters</summary>
          {isFiltering && <Filter key={text} query={query} />}
        </details>
        <div class="buttons toolbar">
          <button
            type="button"
            aria-pressed={isLive}
            onClick={() =>
              goTo(['activity'], {
                ...given,
                ...(isLive
                  ? { range: query['range'] }
                  : { from: undefined, to: undefined, live: '1' }),
              })
            }
          >
            {isLive ? 'Stop following' : 'Follow live'}
          </button>
          <button type="button" disabled={exporting.isBusy} onClick={() => exporting.run('ndjson')}>
            Export NDJSON
          </button>
          <button type="button" disabled={exporting.isBusy} onClick={() => exporting.run('csv')}>
            Export CSV
          </button>
          {exporting.isBusy && <span role="status">Exporting …</span>}
        </div>
      </div>
      <div class="counted">
        <FacetChips filter={counted} query={query} />
        <ActivityHistogram filter={counted} query={query} />
      </div>
      <ProblemNotice problem={exporting.problem} />
      <List key={String(isLive)} filter={filter} given={given} query={query} isLive={isLive} />
      {entry !== undefined && (
        <EntryDrawer id={entry} query={query} onClose={() => goTo(['activity'], query)} />
      )}
    </div>
  )
}

function Filter({ query }: { query: Query }) {
  const [wanted, setWanted] = useState<Query>({
    ...query,
    from: localOf(query['from']),
    to: localOf(query['to']),
  })
  const set = (name: string) => (value: string) => setWanted({ ...wanted, [name]: value })
  const valueOf = (name: string): string => wanted[name] ?? ''
  const [wrong, setWrong] = useState<Problem | null>(null)
  const search = async (): Promise<void> => {
    const resolved = await resolvePair(wanted)
    if (!resolved.ok) return setWrong(resolved.problem)
    setWrong(null)
    const { from = '', to = '' } = wanted
    goTo(['activity'], { ...wanted, ...resolved.ids, from: utcOf(from), to: utcOf(to) })
  }
  return (
    <form
      class="filter"
      role="search"
      aria-label="Activity"
      onSubmit={(event) => {
        event.preventDefault()
        void search()
      }}
    >
      <SelectField
        label="Event"
        value={valueOf('event')}
        onValue={set('event')}
        options={[['', 'any'], ...EVENT_NAMES.map((name) => [name, eventTitle(name)] as const)]}
      />
      <SelectField
        label="Decision"
        value={valueOf('decision')}
        onValue={set('decision')}
        options={[['', 'any'], ...Object.entries(DECISIONS)]}
      />
      <SelectField
        label="Reason"
        value={valueOf('reason')}
        onValue={set('reason')}
        options={[['', 'any'], ...REASON_OPTIONS]}
      />
      <SelectField
        label="Status"
        value={valueOf('status')}
        onValue={set('status')}
        options={statusOptions(valueOf('status'))}
      />
      <SelectField
        label="Way"
        value={valueOf('via')}
        onValue={set('via')}
        options={[['', 'any'], ...VIA_OPTIONS]}
      />
      <Picker kind="agents" value={valueOf('agent_id')} onValue={set('agent_id')} />
      <Picker
        kind="integrations"
        value={valueOf('integration_id')}
        onValue={set('integration_id')}
      />
      <TextFilters valueOf={valueOf} set={set} />
      <button type="submit">Search</button>
      <a href={linkTo(['activity'])}>Clear</a>
      <ProblemNotice problem={wrong} />
    </form>
  )
}

const TextFilters = ({
  valueOf,
  set,
}: {
  valueOf: (name: string) => string
  set: (name: string) => (value: string) => void
}) => (
  <>
    <TextField
      label="Request id"
      value={valueOf('request_id')}
      onValue={set('request_id')}
      maxLength={128}
    />
    <TextField
      label="Contains"
      type="search"
      value={valueOf('q')}
      onValue={set('q')}
      maxLength={200}
    />
    <TextField
      label="From"
      type="datetime-local"
      value={valueOf('from')}
      onValue={set('from')}
      step={1}
    />
    <TextField
      label="Before"
      type="datetime-local"
      value={valueOf('to')}
      onValue={set('to')}
      step={1}
    />
  </>
)

interface ListProps {
  readonly filter: Filters
  /** What was chosen of it. */
  readonly given: Filters
  readonly query: Query
  readonly isLive: boolean
}

/** Found entries; a live list begins with them and goes on with new ones above. */
function List({ filter, given, query, isLive }: ListProps) {
  const found = useEntries(withQuery('/admin/activity', filter))
  const [isPaused, setPaused] = useState(false)
  const [isAtTop, setAtTop] = useState(true)
  const path = isLive ? withQuery('/admin/activity/stream', filter) : null
  const live = useLive(path, isPaused || !isAtTop)
  const begun = useRef<string | null>(null)
  useEffect(() => {
    if (!live.isLive || begun.current === path) return
    begun.current = path
    // What came after the list was read and before the stream began is in neither.
    found.reload()
  }, [live.isLive])
  const apiName = useHosts()
  const [sort, setSort] = useState<Sort | null>(null)
  const byTime = useMemo(
    () => withoutRepeated([...live.entries, ...found.entries]),
    [live.entries, found.entries],
  )
  const entries = useMemo(() => sortEntries(byTime, isLive ? null : sort), [byTime, sort, isLive])
  return (
    <>
      <p class="buttons toolbar">
        <span role="status">
          {isLive
            ? liveStatus(live.isLive, isPaused || !isAtTop)
            : foundStatus(found, entries.length)}
        </span>
        {isLive && (
          <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            Pause
          </button>
        )}
        {live.waiting > 0 && (
          <button type="button" class="main" onClick={live.show}>
            {live.waiting >= LIVE_MAX ? `${LIVE_MAX} or more` : live.waiting} new
          </button>
        )}
        {!isLive && <FoundBar found={found} isEmpty={entries.length === 0} />}
        {Object.values(given).some(Boolean) && <a href={linkTo(['activity'])}>Clear filters</a>}
        {sort !== null && <Sorted by={sort.by} onEnd={() => setSort(null)} />}
      </p>
      <ProblemNotice problem={found.problem} />
      <Skipped hours={found.skipped_hours} />
      {entries.length > 0 && (
        <EntryList
          entries={entries}
          query={query}
          apiName={apiName}
          sort={sort}
          onSort={isLive ? null : setSort}
          onNearEnd={found.more}
          onTop={setAtTop}
        />
      )}
    </>
  )
}

const FoundBar = ({ found, isEmpty }: { found: Entries; isEmpty: boolean }) => (
  <>
    {isEmpty && found.state !== 'end' && found.searched_to !== null && (
      <span>
        Searched back to <Time at={found.searched_to} />.
      </span>
    )}
    {isEmpty && found.state === 'more' && (
      <button type="button" onClick={found.more}>
        Load older
      </button>
    )}
    <button type="button" onClick={found.reload}>
      Refresh
    </button>
  </>
)

const Sorted = ({ by, onEnd }: { by: string; onEnd: () => void }) => (
  <span role="status">
    Sorted by {by}: only what is loaded.{' '}
    <button type="button" onClick={onEnd}>
      By time
    </button>
  </span>
)

const Skipped = ({ hours }: { hours: readonly string[] }) =>
  hours.length === 0 ? null : (
    <p>
      Entries may be missing. Hours of the archive that cannot be searched yet, or are damaged
      (UTC): {hours.join(', ')}
    </p>
  )

const liveStatus = (isLive: boolean, isHeld: boolean): string => {
  if (!isLive)
    return 'Connecting … No answer from the log, so what is shown may be old. The stream resumes after the last entry.'
  return isHeld ? 'Paused: new entries wait.' : 'Live: new entries appear at the top.'
}

function foundStatus({ state }: Entries, count: number): string {
  const shown = count === 0 ? 'No matching entries' : countOf(count, 'entry', 'entries')
  switch (state) {
    case 'searching':
      return count === 0 ? 'Searching …' : `${shown}. Loading older ones …`
    case 'more':
      return count === 0 ? `${shown} so far.` : `${shown} so far; scroll for older ones.`
    case 'full':
      return `The newest ${shown}. Choose an earlier time for older ones.`
    case 'end':
      return count === 0 ? 'No matching entries.' : `${shown}.`
  }
}

/** An entry may come by the stream and by the search. */
function withoutRepeated(entries: readonly ActivityEntry[]): readonly ActivityEntry[] {
  const seen = new Set<string>()
  return entries.filter(({ id }) => !seen.has(id) && seen.add(id))
}
