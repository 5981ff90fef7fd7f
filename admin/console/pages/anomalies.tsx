import { useState } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { ActivityEntry, Agent, AnomalyReplay, Page } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { isId } from '../is-id.ts'
import { AgentLink } from '../parts/bits.tsx'
import { Loaded, ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { Table } from '../parts/table.tsx'
import { ThresholdForm } from '../parts/threshold-form.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../place.ts'
import { resolveId } from '../resolve-id.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { whyOf } from '../why-of.ts'

const SHOWN = '50'

export function AnomaliesPage({ query }: { query: Readonly<Record<string, string>> }) {
  const agent_id = query['agent_id'] ?? ''
  return (
    <>
      <h1>Anomalies</h1>
      <p class="muted">
        Each scope of an agent is compared with its own history. Its score is 0 for usual traffic,
        and close to 1 for traffic that it has never had.
      </p>
      <ChooseAgent agent_id={agent_id} />
      {isId('agents', agent_id) ? <AgentAnomalies agent_id={agent_id} /> : <Latest />}
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

/** The stored calls of the last two weeks, scored again. */
function AgentAnomalies({ agent_id }: { agent_id: string }) {
  const path = `/admin/agents/${encodeURIComponent(agent_id)}`
  const agent = useLoad<Agent>(path)
  const replay = useLoad<AnomalyReplay>(`${path}/anomaly-replay`)
  return (
    <Loaded from={replay}>
      {(value) => (
        <>
          <p>
            <AgentLink id={agent_id} name={agent.value?.agent_name ?? null} />:{' '}
            {countOf(value.calls, 'call')} since <Time at={value.since ?? value.from} isFull />{' '}
            scored again, as if no alert had been raised and no kill made.
          </p>
          {!value.complete && <Incomplete agent_id={agent_id} />}
          {value.scopes.length === 0 && (
            <p class="empty">No call of this agent in the last 14 days was under a scope.</p>
          )}
          {value.scopes
            .toSorted((a, b) => b.highest_score - a.highest_score)
            .map((scope) => (
              <ThresholdForm key={scope.scope_id} replay={value} scope={scope} />
            ))}
        </>
      )}
    </Loaded>
  )
}

const Incomplete = ({ agent_id }: { agent_id: string }) => (
  <div class="notice warn" role="status">
    <p>
      The agent has more calls or scopes in these 14 days than are scored here. This scores them
      all:
    </p>
    <pre tabIndex={0}>agw anomaly replay --agent {agent_id}</pre>
  </div>
)

function Latest() {
  const entries = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', { event: 'anomaly_detected', limit: SHOWN }),
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
            empty="No anomaly was reported. Choose an agent to see its score, and which alerts a threshold would have raised."
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
                cell: ({ agent_id, agent_name }) => (
                  <a href={linkTo(['anomalies'], { agent_id: agent_id ?? undefined })}>
                    {agent_name ?? agent_id}
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
