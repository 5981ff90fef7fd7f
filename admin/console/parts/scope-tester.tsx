import { useEffect, useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Explanation, Integration, ScopeSettings, Trial } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { linkTo } from '../place.ts'
import { resolvePair } from '../resolve-pair.ts'
import { useAction } from '../use-action.ts'
import { useSettled } from '../use-settled.ts'
import { TextField } from './fields.tsx'
import { ProblemNotice } from './notices.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

/** A scope as it would be saved, and whose it is; agent and API may be given by name. */
export interface Tried {
  readonly agent_id: string
  readonly integration_id: string
  readonly scope_id: string | undefined
  readonly settings: ScopeSettings
}

/** Tries an unsaved scope: on a call that is typed, while one types, and on what the agent did in the last seven days. */
export const ScopeTester = ({ tried }: { tried: Tried }) => (
  <section aria-label="Tester">
    <h2>Test before saving</h2>
    <OneCall tried={tried} />
    <History tried={tried} />
  </section>
)

function OneCall({ tried }: { tried: Tried }) {
  const [method, setMethod] = useState('GET')
  const [path, setPath] = useState('')
  const [answer, setAnswer] = useState<ApiAnswer<Explanation> | null>(null)
  const question = JSON.stringify({ ...tried, method, path: path.trim() })
  const settled = useSettled(question)
  useEffect(() => {
    let isOver = false
    setAnswer(null)
    // While a rule is being written, an error would only repeat what is missing.
    const isWritten = tried.settings.rules.every(({ paths }) => paths.length > 0)
    if (path.trim() === '' || method === '' || !isWritten) return
    void explain(tried, method, path.trim()).then((explained) => {
      if (!isOver) setAnswer(explained)
    })
    return () => {
      isOver = true
    }
  }, [settled])
  return (
    <>
      <div class="filter call">
        <TextField label="Method" value={method} onValue={setMethod} maxLength={32} />
        <TextField
          label="Path or URL"
          placeholder="/models"
          value={path}
          onValue={setPath}
          maxLength={2048}
        />
      </div>
      <div role="status">
        {answer?.ok === true && (
          <p class={`notice ${answer.value.answer === 'allowed' ? 'good' : 'bad'}`}>
            {decided(answer.value, tried)}
          </p>
        )}
      </div>
      {answer?.ok === false && <ProblemNotice problem={answer.problem} />}
    </>
  )
}

async function explain(
  tried: Tried,
  method: string,
  path: string,
): Promise<ApiAnswer<Explanation>> {
  const pair = await resolvePair(ownerOf(tried))
  if (!pair.ok) return pair
  const { agent_id, integration_id } = pair.ids
  let url = path
  if (path.startsWith('/')) {
    const id = encodeURIComponent(integration_id)
    const integration = await ask<Integration>('GET', `/admin/integrations/${id}`)
    if (!integration.ok) return integration
    url = integration.value.base_url + path
  }
  const body = { agent_id, method, url, scope: unsaved(tried, integration_id) }
  return await ask<Explanation>('POST', '/admin/explain', { body })
}

const ownerOf = ({ agent_id, integration_id }: Tried) => ({ agent_id, integration_id })

const unsaved = ({ settings, scope_id }: Tried, integration_id: string): object => ({
  ...settings,
  integration_id,
  ...(scope_id === undefined ? {} : { scope_id }),
})

function decided({ answer, error, details, scope, rule }: Explanation, tried: Tried): string {
  if (answer === 'allowed') {
    const isThis = scope?.scope_id === (tried.scope_id ?? 'scp_unsaved')
    return `Allowed by rule ${(rule ?? 0) + 1} of ${isThis ? 'this scope' : `another scope, ${scope?.name}`}.`
  }
  switch (details['reason']) {
    case 'path_not_allowed':
      return 'Refused: no rule has this path.'
    case 'method_not_allowed':
      return 'Refused: a rule has this path, but not this method.'
    case 'scope_expired':
      return `Refused: the scope ${String(details['scope'])} has ended.`
    case 'scope_not_yet':
      return `Refused: the scope ${String(details['scope'])} is not in force yet.`
    default:
      return `Refused: ${error}.`
  }
}

function History({ tried }: { tried: Tried }) {
  const [done, setDone] = useState<{ readonly of: string; readonly trial: Trial } | null>(null)
  const now = JSON.stringify(tried)
  const run = useAction(
    async () => {
      const pair = await resolvePair(ownerOf(tried))
      if (!pair.ok) return pair
      const { agent_id, integration_id } = pair.ids
      const scope = unsaved(tried, integration_id)
      return await ask<Trial>('POST', '/admin/explain/history', { body: { agent_id, scope } })
    },
    (trial) => setDone({ of: now, trial }),
  )
  return (
    <>
      <p>
        <button type="button" disabled={run.isBusy} onClick={() => run.run()}>
          {run.isBusy ? 'Trying …' : 'Try on the last 7 days'}
        </button>
      </p>
      <ProblemNotice problem={run.problem} />
      <div role="status">
        {done !== null && (
          <>
            <p>{trialWords(done.trial)}</p>
            {done.of !== now && <p class="muted">The scope has changed since this was tried.</p>}
          </>
        )}
      </div>
      {done !== null && done.trial.changes.length > 0 && <Changes trial={done.trial} />}
    </>
  )
}

function trialWords({ calls, would_pass, would_be_refused, complete, since }: Trial): string {
  const range = complete ? 'of the last 7 days' : `since ${since ?? 'the limit of a trial'}`
  return `Of ${countOf(calls, 'call')} ${range}, ${countOf(would_pass, 'refused one')} would pass and ${countOf(would_be_refused, 'allowed one')} would be refused.`
}

const Changes = ({ trial }: { trial: Trial }) => (
  <Table
    caption="Calls that would be decided differently"
    rows={trial.changes}
    keyOf={({ method, endpoint, integration_id }) => `${method} ${endpoint} ${integration_id}`}
    empty=""
    columns={[
      { head: 'Then', cell: ({ after }) => (after === 'allowed' ? 'pass' : 'refused') },
      {
        head: 'Call',
        cell: ({ method, endpoint, last_id }) => (
          <a href={linkTo(['activity', last_id])}>
            {method} {endpoint}
          </a>
        ),
      },
      { head: 'Calls', isNumber: true, cell: ({ count }) => count },
      { head: 'Last', cell: ({ last_at }) => <Time at={last_at} /> },
    ]}
  />
)
