import type { ComponentChildren } from 'preact'
import type { ActivityEntry } from '../api-types.ts'
import { AgentLink, Facts, Json, Tag } from '../parts/bits.tsx'
import { Loaded } from '../parts/notices.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { useLoad } from '../use-load.ts'

/** One entry of the activity log in full. */
export function EntryPage({ id }: { id: string }) {
  const entry = useLoad<ActivityEntry>(`/admin/activity/${encodeURIComponent(id)}`)
  return (
    <>
      <p>
        <a href={linkTo(['activity'])}>All activity</a>
      </p>
      <Loaded from={entry}>{(value) => <EntryDetail entry={value} />}</Loaded>
    </>
  )
}

function EntryDetail({ entry }: { entry: ActivityEntry }) {
  return (
    <>
      <h1>{entry.event}</h1>
      <Facts
        facts={[
          ['time', <Time key="t" at={entry.timestamp} />],
          ['decision', entry.decision === null ? 'none' : <Tag key="d" text={entry.decision} />],
          ['agent', <AgentLink key="a" id={entry.agent_id} name={entry.agent_name} />],
          ...callFacts(entry),
        ]}
      />
      {entry.steps.length > 0 && (
        <section>
          <h2>Steps</h2>
          <Table
            caption="Steps of the decision"
            rows={entry.steps}
            keyOf={({ step }) => step}
            empty=""
            columns={[
              { head: 'Step', cell: ({ step }) => step },
              { head: 'Outcome', cell: ({ outcome }) => <Tag text={outcome} /> },
              { head: 'Took', isNumber: true, cell: ({ took_us }) => `${took_us} µs` },
            ]}
          />
        </section>
      )}
      <section>
        <h2>Data</h2>
        <Json value={entry.data} />
      </section>
    </>
  )
}

/** The members of a call and its target; null members are not shown. */
function callFacts(entry: ActivityEntry): [string, ComponentChildren][] {
  const { integration_id, scope_id, rule } = entry
  const all: [string, ComponentChildren | null][] = [
    ['call', entry.method && <code>{`${entry.method} ${entry.endpoint}`}</code>],
    ['status', entry.status],
    ['reason', entry.reason],
    [
      'integration',
      integration_id && (
        <a href={linkTo(['integrations'], { q: integration_id })}>{integration_id}</a>
      ),
    ],
    ['scope', scope_id && <a href={linkTo(['scopes', scope_id])}>{scope_id}</a>],
    ['rule', rule],
    ['key', entry.key_id],
    ['from', entry.source_ip],
    ['edge', entry.edge_id],
    ['took', entry.duration_ms === null ? null : `${entry.duration_ms} ms`],
    ['bytes in', entry.bytes_in],
    ['bytes out', entry.bytes_out],
    ['request', entry.request_id && <code>{entry.request_id}</code>],
    ['id', <code key="id">{entry.id}</code>],
  ]
  return all.filter(([, value]) => value !== null)
}
