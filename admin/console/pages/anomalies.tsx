import { useState } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { ActivityEntry, Page } from '../api-types.ts'
import { isId } from '../is-id.ts'
import { ProblemNotice, Loaded } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../place.ts'
import { resolveId } from '../resolve-id.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { whyOf } from '../why-of.ts'

const SHOWN = '50'

export function AnomaliesPage({ query }: { query: Readonly<Record<string, string>> }) {
  const { agent_id = '' } = query
  const isOne = isId('agents', agent_id)
  return (
    <>
      <h1>Anomalies</h1>
      <p class="muted">
        Each scope of an agent is compared with its own history. Its score is 0 for usual traffic,
        and close to 1 for traffic that it has never had. This shows which alerts and kills each
        threshold would have caused:
      </p>
      <pre tabIndex={0}>agw anomaly replay{isOne && ` --agent ${agent_id}`}</pre>
      <ChooseAgent agent_id={agent_id} />
      <Latest agent_id={isOne ? agent_id : undefined} />
    </>
  )
}

function ChooseAgent({ agent_id }: { agent_id: string }) {
  const [typed, setTyped] = useState(agent_id)
  const find = useAction(
    async () => {
      const agent = await resolveId('agents', typed)
      return agent.ok ? { ok: true as const, value: agent.id, etag: null } : agent
    },
    (id) => goTo(['anomalies'], { agent_id: id }),
  )
  return (
    <>
      <form
        class="filter"
        role="search"
        aria-label="Agent"
        onSubmit={(event) => {
          event.preventDefault()
          find.run()
        }}
      >
        <Picker kind="agents" value={typed} onValue={setTyped} required />
        <button type="submit" class="main" disabled={find.isBusy}>
          Show
        </button>
      </form>
      <ProblemNotice problem={find.problem} />
    </>
  )
}

function Latest({ agent_id }: { agent_id: string | undefined }) {
  const entries = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', { event: 'anomaly_detected', agent_id, limit: SHOWN }),
  )
  return (
    <section>
      <h2>Latest</h2>
      <Loaded from={entries}>
        {({ data }) => (
          <Table
            caption="Latest anomalies"
            rows={data}
            keyOf={({ id }) => id}
            empty="No anomaly was reported."
            columns={[
              {
                head: 'Time',
                cell: ({ id, timestamp }) => (
                  <a href={linkTo(['activity', id], { event: 'anomaly_detected' })}>
                    <Time at={timestamp} />
                  </a>
                ),
              },
              {
                head: 'Agent',
                cell: (entry) => (
                  <a href={linkTo(['anomalies'], { agent_id: entry.agent_id ?? undefined })}>
                    {entry.agent_name ?? entry.agent_id}
                  </a>
                ),
              },
              { head: 'Why', cell: (entry) => whyOf(entry, 'the API') },
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}
