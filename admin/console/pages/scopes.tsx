import { useState } from 'preact/hooks'
import { type Problem, withQuery } from '../api.ts'
import type { Scope } from '../api-types.ts'
import { AgentLink } from '../parts/bits.tsx'
import { TextField } from '../parts/fields.tsx'
import { SelectorText } from '../parts/label-fields.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { ScopeName } from '../parts/scope-name.tsx'
import { Picker } from '../parts/picker.tsx'
import { PagedTable } from '../parts/table.tsx'
import { goTo, linkTo } from '../place.ts'
import { resolvePair } from '../resolve-pair.ts'
import { useMay } from '../session.ts'
import { usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'

type Query = Readonly<Record<string, string>>

export function ScopesPage({ query }: { query: Query }) {
  const { agent_id, integration_id, q } = query
  const path = withQuery('/admin/scopes', { agent_id, integration_id, q })
  const scopes = usePages<Scope>(path)
  const agentName = useNames('agents')
  const integrationName = useNames('integrations')
  const mayChange = useMay('admin')
  return (
    <>
      <div class="head">
        <h1>Scopes</h1>
        {mayChange && (
          <a class="button main" href={linkTo(['scopes', 'new'], { agent_id, integration_id })}>
            Add a scope
          </a>
        )}
      </div>
      <Filter key={path} query={query} />
      <PagedTable
        pages={scopes}
        caption="Scopes"
        keyOf={({ scope_id }) => scope_id}
        empty={agent_id || integration_id || q ? 'No matching scopes.' : 'No scopes yet.'}
        columns={[
          {
            head: 'Name',
            cell: (scope) => <ScopeName of={scope} />,
          },
          {
            head: 'Agent',
            cell: ({ agent_id: id, agent_selector }) =>
              id === null ? (
                <SelectorText of={agent_selector} />
              ) : (
                <AgentLink id={id} name={agentName(id)} />
              ),
          },
          {
            head: 'Integration',
            cell: ({ integration_id: id, integration_selector }) =>
              id === null ? (
                <SelectorText of={integration_selector} />
              ) : (
                <a href={linkTo(['integrations'], { q: id })}>{integrationName(id)}</a>
              ),
          },
          { head: 'Allows', cell: ({ rules }) => <Rules rules={rules} /> },
          {
            head: 'Injection',
            cell: ({ injection_detection: { enabled, mode, sensitivity } }) =>
              enabled ? `${mode}, ${sensitivity}` : 'off',
          },
          {
            head: 'Calls/min',
            isNumber: true,
            cell: ({ rate_limiting: { requests_per_minute: limit } }) => limit ?? 'no limit',
          },
          { head: 'Priority', isNumber: true, cell: ({ priority }) => priority },
        ]}
      />
    </>
  )
}

const Rules = ({ rules }: { rules: Scope['rules'] }) => (
  <ul class="plain">
    {rules.map(({ methods, paths }, i) => (
      <li key={`${i}`}>
        <code>
          {methods.join(', ')} {paths.join(', ')}
        </code>
      </li>
    ))}
  </ul>
)

function Filter({ query }: { query: Query }) {
  const [wanted, setWanted] = useState<Query>(query)
  const set = (name: string) => (value: string) => setWanted({ ...wanted, [name]: value })
  const [wrong, setWrong] = useState<Problem | null>(null)
  const search = async (): Promise<void> => {
    const resolved = await resolvePair(wanted)
    setWrong(resolved.ok ? null : resolved.problem)
    if (resolved.ok) goTo(['scopes'], { ...wanted, ...resolved.ids })
  }
  return (
    <form
      class="filter"
      role="search"
      aria-label="Scopes"
      onSubmit={(event) => {
        event.preventDefault()
        void search()
      }}
    >
      <Picker kind="agents" value={wanted['agent_id'] ?? ''} onValue={set('agent_id')} />
      <Picker
        kind="integrations"
        value={wanted['integration_id'] ?? ''}
        onValue={set('integration_id')}
      />
      <TextField label="Name" type="search" value={wanted['q'] ?? ''} onValue={set('q')} />
      <button type="submit">Search</button>
      <a href={linkTo(['scopes'])}>Clear</a>
      <ProblemNotice problem={wrong} />
    </form>
  )
}
