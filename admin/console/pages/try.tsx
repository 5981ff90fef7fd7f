import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Agent, Explanation } from '../api-types.ts'
import type { FixableEntry } from '../fixes-of.ts'
import { Facts, Json, Tag } from '../parts/bits.tsx'
import { TextField } from '../parts/fields.tsx'
import { Nearest } from '../parts/entry-detail.tsx'
import { Fixes } from '../parts/fixes.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { linkTo } from '../place.ts'
import { resolveId } from '../resolve-id.ts'
import { useAction } from '../use-action.ts'
import { useJudged } from '../use-judged.ts'

type Query = Readonly<Record<string, string>>

interface Asked {
  readonly agent: Pick<Agent, 'agent_id' | 'agent_name'>
  readonly method: string
  readonly url: string
}

interface Explained {
  readonly asked: Asked
  readonly explanation: Explanation
}

/** Shows which integration, scope and rule would decide a call, without making it. */
export function TryPage({ query }: { query: Query }) {
  const [agent_id, setAgent] = useState(query['agent_id'] ?? '')
  const [method, setMethod] = useState('GET')
  const [url, setUrl] = useState('')
  const [explained, setExplained] = useState<Explained | null>(null)
  const explain = useAction(async (): Promise<ApiAnswer<Explained>> => {
    const agent = await resolveId('agents', agent_id)
    if (!agent.ok) return agent
    const path = `/admin/agents/${encodeURIComponent(agent.id)}`
    const [found, answer] = await Promise.all([
      ask<Agent>('GET', path),
      ask<Explanation>('POST', '/admin/explain', { body: { agent_id: agent.id, method, url } }),
    ])
    if (!answer.ok) return answer
    const known = found.ok ? found.value : { agent_id: agent.id, agent_name: agent.id }
    const value = { asked: { agent: known, method, url }, explanation: answer.value }
    return { ok: true, value, etag: null }
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
      {explained !== null && <Answer {...explained} />}
    </>
  )
}

function Answer({ asked, explanation }: Explained) {
  const { answer, error, details, integration, scope, rule } = explanation
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
      {answer === 'allowed' ? (
        <p class="muted">
          Rate limit, tools, body scan and the address of a host name are checked during the call.
        </p>
      ) : (
        <Refused entry={entryOf(asked, explanation)} />
      )}
      {Object.keys(details).length > 0 && <Json value={details} />}
    </div>
  )
}

/** The same as the drawer of an entry: why, the nearest rule, and what to do. */
function Refused({ entry }: { entry: FixableEntry }) {
  const of = useJudged(entry)
  return (
    <>
      <Nearest of={of} />
      <Fixes of={of} />
    </>
  )
}

/** The entry that the call would make. */
function entryOf({ agent, method, url }: Asked, explained: Explanation): FixableEntry {
  const { error, details, integration, scope } = explained
  return {
    event: error === 'permission_denied' ? error : 'request_rejected',
    reason: error,
    status: null,
    data: details,
    agent_id: agent.agent_id,
    agent_name: agent.agent_name,
    integration_id: integration?.integration_id ?? null,
    scope_id: scope?.scope_id ?? null,
    method,
    endpoint: URL.canParse(url) ? new URL(url).pathname : null,
    bytes_in: null,
  }
}
