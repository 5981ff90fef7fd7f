import type { Readiness } from '../api-types.ts'
import { useLoad } from '../use-load.ts'
import { Tag } from './bits.tsx'
import { Loaded } from './notices.tsx'
import { Table } from './table.tsx'

const EVERY_MS = 5000

const WHAT: Readonly<Record<keyof Readiness['parts'], readonly [title: string, what: string]>> = {
  redis: ['Store', 'Redis or Valkey accepts writes'],
  store: ['Data', 'It is the store that this deployment has used before'],
  edges: ['Edges', 'At least one edge holds its lease'],
  proxy: ['Proxy', 'A probe through Envoy and ext-proc came back'],
  encryption_key: ['Encryption key', 'It decrypts the stored secrets'],
}

/** What the gateway needs to serve calls, part by part. */
export function HealthParts() {
  const loading = useLoad<Readiness>('/readyz', EVERY_MS)
  // A service that is not ready says so with a 503 and the same body.
  const told = loading.problem?.body as Readiness | null | undefined
  const from = told?.parts ? { ...loading, value: told, problem: null } : loading
  return (
    <Loaded from={from}>
      {({ parts }) => (
        <Table
          caption="Health"
          rows={Object.entries(parts) as [keyof Readiness['parts'], string][]}
          keyOf={([part]) => part}
          empty=""
          columns={[
            { head: 'Part', cell: ([part]) => WHAT[part][0] },
            { head: 'Check', cell: ([part]) => WHAT[part][1] },
            { head: 'State', cell: ([, state]) => <Tag text={state === 'ok' ? 'ok' : 'failed'} /> },
            { head: 'Problem', cell: ([, state]) => (state === 'ok' ? '' : state) },
          ]}
        />
      )}
    </Loaded>
  )
}
