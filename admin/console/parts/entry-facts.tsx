import type { ComponentChildren } from 'preact'
import type { ActivityEntry } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { Facts, Json } from './bits.tsx'
import { Time } from './time.tsx'

/** Every member of an entry. */
export const EntryFacts = ({ entry, ...names }: { entry: ActivityEntry } & Names) => (
  <section>
    <h3>Details</h3>
    <Facts
      facts={[['time', <Time key="t" at={entry.timestamp} isFull />], ...callFacts(entry, names)]}
    />
    {Object.keys(entry.data).length > 0 && (
      <details>
        <summary>Data of the entry</summary>
        <Json value={entry.data} />
      </details>
    )}
  </section>
)

interface Names {
  readonly integration: string | null
  readonly scope: string | null
}

/** The members of a call and its target; null members are not shown. */
function callFacts(entry: ActivityEntry, names: Names): [string, ComponentChildren][] {
  const { integration_id, scope_id, rule, data } = entry
  const all: [string, ComponentChildren | null][] = [
    ['event', <code key="event">{entry.event}</code>],
    ['status', entry.status],
    ['reason', entry.reason],
    [
      'integration',
      integration_id && (
        <a href={linkTo(['integrations'], { q: integration_id })}>
          {names.integration ?? integration_id}
        </a>
      ),
    ],
    ['scope', scope_id && <a href={linkTo(['scopes', scope_id])}>{names.scope ?? scope_id}</a>],
    ['rule', rule === null ? null : rule + 1],
    ['key', entry.key_id],
    ['via', data['via'] === 'forward' ? 'forward proxy' : null],
    ['tunnel to', typeof data['tunnel'] === 'string' ? <code>{data['tunnel']}</code> : null],
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
