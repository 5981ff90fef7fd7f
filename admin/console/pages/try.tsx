import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Explanation } from '../api-types.ts'
import { Facts, Json, Tag } from '../parts/bits.tsx'
import { TextField } from '../parts/fields.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { linkTo } from '../place.ts'
import { resolveId } from '../resolve-id.ts'
import { useAction } from '../use-action.ts'

type Query = Readonly<Record<string, string>>

/** Shows which integration, scope and rule would decide a call, without making it. */
export function TryPage({ query }: { query: Query }) {
  const [agent_id, setAgent] = useState(query['agent_id'] ?? '')
  const [method, setMethod] = useState('GET')
  const [url, setUrl] = useState('')
  const [explained, setExplained] = useState<Explanation | null>(null)
  const explain = useAction(async () => {
    const agent = await resolveId('agents', agent_id)
    if (!agent.ok) return agent
    const body = { agent_id: agent.id, method, url }
    return await ask<Explanation>('POST', '/admin/explain', { body })
  }, setExplained)
  return (
    <>
      <h1>Policy tester</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setExplained(null)
          explain.run()
        }}
      >
        <Picker kind="agents" value={agent_id} onValue={setAgent} required />
        <TextField label="Method" value={method} onValue={setMethod} required maxLength={20} />
        <TextField
          label="Target URL"
          hint="As the agent writes it after the proxy address, for example https://api.example.com/v1/models"
          value={url}
          onValue={setUrl}
          required
        />
        <ProblemNotice problem={explain.problem} />
        <button type="submit" class="main" disabled={explain.isBusy}>
          Explain
        </button>
      </form>
      {explained !== null && <Explained explanation={explained} />}
    </>
  )
}

function Explained({ explanation }: { explanation: Explanation }) {
  const { answer, error, details, integration, scope, rule, nearest } = explanation
  return (
    <div class={`notice ${answer === 'allowed' ? 'good' : 'bad'}`} role="status">
      <p>
        <Tag text={answer} /> {error !== null && <code>{error}</code>}
      </p>
      <Facts
        facts={[
          [
            'integration',
            integration === null ? 'none' : `${integration.name} · ${integration.base_url}`,
          ],
          [
            'scope',
            scope === null ? 'none' : <a href={linkTo(['scopes', scope.scope_id])}>{scope.name}</a>,
          ],
          ['rule', rule === null ? 'none' : rule + 1],
        ]}
      />
      {nearest !== null && (
        <p>
          Rule {nearest.rule + 1} of{' '}
          <a href={linkTo(['scopes', nearest.scope_id])}>{nearest.name}</a> allows the path with{' '}
          {nearest.methods.join(', ')}.
        </p>
      )}
      {Object.keys(details).length > 0 && <Json value={details} />}
      {answer === 'allowed' && (
        <p class="muted">
          Rate limit, tools, body scan and the address of a host name are checked during the call.
        </p>
      )}
    </div>
  )
}
