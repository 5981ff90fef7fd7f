import { useEffect, useState } from 'preact/hooks'
import { EVENT_NAMES } from '../../../core/events.ts'
import { type Problem, withQuery } from '../api.ts'
import type { ActivityEntry } from '../api-types.ts'
import { download } from '../download.ts'
import { eventTitle } from '../event-title.ts'
import { followActivity } from '../follow-activity.ts'
import { EntryDrawer } from '../parts/entry-drawer.tsx'
import { EntryTable } from '../parts/entry-table.tsx'
import { SelectField, TextField, utcOf } from '../parts/fields.tsx'
import { Loaded, ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { goTo, linkTo } from '../place.ts'
import { resolvePair } from '../resolve-pair.ts'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'

type Query = Readonly<Record<string, string>>
const FILTERS = [
  'event',
  'decision',
  'reason',
  'agent_id',
  'integration_id',
  'request_id',
  'q',
  'from',
  'to',
] as const
/** Rows that the live view keeps; older entries are found by a search. */
const LIVE_LIMIT = 300
/** How often new entries are shown: rendering the table for each of thousands would leave no time for clicks. */
const LIVE_SHOW_MS = 200
const DECISIONS: Readonly<Record<NonNullable<ActivityEntry['decision']>, string>> = {
  allowed: 'Allowed',
  blocked: 'Blocked',
  terminated: 'Terminated',
}

/** The log; with `entry` one entry of it is open in a drawer, and the list stays as it is. */
export function ActivityPage({ query, entry }: { query: Query; entry: string | undefined }) {
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query[name]]))
  const isLive = query['live'] === '1'
  const text = withQuery('', filter)
  const exporting = useAction(
    (format: string) => download(withQuery('/admin/activity/export', { format, ...filter })),
    () => undefined,
  )
  return (
    <>
      <h1>Activity</h1>
      <Filter key={text} query={query} />
      <p class="buttons">
        <button
          type="button"
          aria-pressed={isLive}
          onClick={() => goTo(['activity'], { ...filter, live: isLive ? undefined : '1' })}
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
      </p>
      <ProblemNotice problem={exporting.problem} />
      {isLive ? (
        <Live key={text} filter={filter} query={query} />
      ) : (
        <Found filter={filter} query={query} />
      )}
      {entry !== undefined && (
        <EntryDrawer id={entry} query={query} onClose={() => goTo(['activity'], query)} />
      )}
    </>
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

type Shown = { filter: Readonly<Record<string, string | undefined>>; query: Query }

function Found({ filter, query }: Shown) {
  const entries = usePages<ActivityEntry>(withQuery('/admin/activity', filter))
  return (
    <Loaded from={entries}>
      {(found) => (
        <>
          <EntryTable
            entries={found}
            query={query}
            empty={
              entries.more === null
                ? 'No matching entries.'
                : 'No matching entries so far. Older entries have not been searched yet.'
            }
          />
          <p class="buttons">
            {entries.more !== null && (
              <button type="button" onClick={entries.more}>
                Load older
              </button>
            )}
            <button type="button" onClick={entries.reload}>
              Refresh
            </button>
          </p>
        </>
      )}
    </Loaded>
  )
}

function Live({ filter, query }: Shown) {
  const [entries, setEntries] = useState<readonly ActivityEntry[]>([])
  const [isLive, setLive] = useState(false)
  const path = withQuery('/admin/activity/stream', filter)
  useEffect(() => {
    let waiting: ActivityEntry[] = []
    const show = (): void => {
      const come = waiting.reverse()
      waiting = []
      if (come.length > 0) setEntries((before) => [...come, ...before].slice(0, LIVE_LIMIT))
    }
    const timer = setInterval(show, LIVE_SHOW_MS)
    const stop = followActivity(path, {
      onEntry: (entry) => {
        waiting.push(entry)
        if (waiting.length > LIVE_LIMIT) waiting.shift()
      },
      onState: setLive,
    })
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [path])
  return (
    <>
      <p role="status">
        {isLive
          ? `Live: new entries appear here (latest ${LIVE_LIMIT}).`
          : 'Connecting … No answer from the log, so what is shown may be old. The stream resumes after the last entry.'}
      </p>
      <EntryTable entries={entries} query={query} empty="No entries yet." />
    </>
  )
}

/** A time of the API as a `datetime-local` value: local, to the second. */
function localOf(utc: string | undefined): string {
  const date = new Date(utc ?? '')
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
