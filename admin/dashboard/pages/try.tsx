import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Explanation, ScanReport } from '../api-types.ts'
import { Facts, Json, Tag } from '../parts/bits.tsx'
import { SelectField, TextArea, TextField } from '../parts/fields.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { Picker } from '../parts/picker.tsx'
import { Table } from '../parts/table.tsx'
import { linkTo } from '../place.ts'
import { resolveId } from '../resolve-id.ts'
import { useAction } from '../use-action.ts'

type Query = Readonly<Record<string, string>>

export const TryPage = ({ query }: { query: Query }) => (
  <>
    <h1>Try</h1>
    <Explain query={query} />
    <Scan />
  </>
)

/** Shows which integration, scope and rule would decide a call, without making it. */
function Explain({ query }: { query: Query }) {
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
    <section>
      <h2>Policy tester</h2>
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
    </section>
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
        <p class="muted">Rate limit, tools and body scan are decided during the call.</p>
      )}
    </div>
  )
}

/** Shows what the scanner finds in a text. */
function Scan() {
  const [body, setBody] = useState('')
  const [sensitivity, setSensitivity] = useState('medium')
  const [content_type, setType] = useState('text/plain')
  const [result, setResult] = useState<ScanReport | null>(null)
  const scan = useAction(
    () =>
      ask<ScanReport>('POST', '/admin/scan', {
        body: { body, content_type, injection_detection: { sensitivity } },
      }),
    setResult,
  )
  return (
    <section>
      <h2>Injection scanner</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setResult(null)
          scan.run()
        }}
      >
        <TextArea label="Body" rows={6} value={body} onValue={setBody} required />
        <SelectField
          label="Content type"
          value={content_type}
          onValue={setType}
          options={[
            ['text/plain', 'plain text'],
            ['application/json', 'JSON'],
            ['application/x-www-form-urlencoded', 'a form'],
          ]}
        />
        <SelectField
          label="Sensitivity"
          value={sensitivity}
          onValue={setSensitivity}
          options={[
            ['low', 'low'],
            ['medium', 'medium'],
            ['high', 'high'],
          ]}
        />
        <ProblemNotice problem={scan.problem} />
        <button type="submit" class="main" disabled={scan.isBusy}>
          {scan.isBusy ? 'Scanning …' : 'Scan'}
        </button>
      </form>
      {result !== null && <Findings result={result} />}
    </section>
  )
}

const Findings = ({ result: { blocked, detections } }: { result: ScanReport }) => (
  <div class={`notice ${blocked ? 'bad' : 'good'}`} role="status">
    <p>
      <strong>{blocked ? 'It would be blocked.' : 'It would be allowed.'}</strong>
    </p>
    <Table
      caption="Findings"
      rows={detections}
      keyOf={({ pattern_name, location, matched_text }) =>
        `${pattern_name} ${location} ${matched_text}`
      }
      empty="No findings."
      columns={[
        { head: 'Pattern', cell: ({ pattern_name, category }) => `${pattern_name} (${category})` },
        { head: 'Severity', cell: ({ severity }) => <Tag text={severity} /> },
        { head: 'Where', cell: ({ location }) => <code>{location}</code> },
        { head: 'Text', cell: ({ matched_text }) => matched_text },
      ]}
    />
  </div>
)
