import { useEffect, useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Integration, Scope, Trial } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { liveEdges } from '../live-edges.ts'
import { nearestRule } from '../nearest-rule.ts'
import { linkTo } from '../place.ts'
import { type RuleOption, ruleOptions } from '../rule-options.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { Dialog, DialogForm } from './dialog.tsx'
import { ProblemNotice } from './notices.tsx'

export interface Refused {
  readonly agent_id: string
  readonly agent_name: string
  readonly integration: Integration
  readonly scopes: readonly Scope[]
  readonly method: string
  /** Below the base URL. */
  readonly path: string
  readonly endpoint: string
}

/** Adds a rule that allows a refused call, after it has been tried on the agent's stored calls. */
export function AllowThis({ refused, onClose }: { refused: Refused; onClose: () => void }) {
  const { agent_name, integration, method, path } = refused
  const options = ruleOptions(method, path)
  const [chosen, setChosen] = useState(0)
  const [edges, setEdges] = useState<number | null>(null)
  const option = options[chosen] ?? options[0]
  const target = nearestRule(refused.scopes, method, path)?.scope ?? refused.scopes[0] ?? null
  const stored = useLoad<Scope>(target === null ? null : `/admin/scopes/${target.scope_id}`)
  const base = target === null ? null : stored.value
  const save = useAction(
    () => saveRule(refused, base, stored.etag, option),
    (live) => setEdges(live),
  )
  if (edges !== null) return <Saved refused={refused} edges={edges} onClose={onClose} />
  return (
    <DialogForm
      title="Allow this call"
      submit="Save the scope"
      {...save}
      isReady={target === null || base !== null}
      onSubmit={save.run}
      onClose={onClose}
    >
      <p>
        {target === null ? (
          <>
            A new scope lets <strong>{agent_name}</strong> call <strong>{integration.name}</strong>:
          </>
        ) : (
          <>
            A rule is added to the scope <strong>{target.name}</strong> of{' '}
            <strong>{agent_name}</strong> for <strong>{integration.name}</strong>:
          </>
        )}
      </p>
      <fieldset>
        <legend>It allows</legend>
        {options.map(({ words }, at) => (
          <label key={words} class="choice">
            <input
              type="radio"
              name="rule"
              checked={at === chosen}
              onChange={() => setChosen(at)}
            />{' '}
            {words}
          </label>
        ))}
      </fieldset>
      {option !== undefined && (target === null || base !== null) && (
        <OnHistory key={chosen} refused={refused} base={base} option={option} />
      )}
      <ProblemNotice problem={stored.problem} />
    </DialogForm>
  )
}

const Saved = ({
  refused,
  edges,
  onClose,
}: {
  refused: Refused
  edges: number
  onClose: () => void
}) => (
  <Dialog title="Saved" onClose={onClose}>
    <p role="status">
      In force on {edges} of {countOf(edges, 'edge')}. {refused.agent_name} can make the call now.{' '}
      <a href={linkTo(['agents', refused.agent_id])}>View its scopes</a>
    </p>
    <button type="button" onClick={onClose}>
      Close
    </button>
  </Dialog>
)

/** The scope as it would be saved. */
const changed = (
  { integration, agent_name }: Refused,
  base: Scope | null,
  { rule }: RuleOption,
): object => {
  if (base === null)
    return {
      integration_id: integration.integration_id,
      name: `${agent_name} on ${integration.name}`.slice(0, 200),
      rules: [rule],
    }
  const { agent_id: _, created_at: __, ...rest } = base
  return { ...rest, rules: [...base.rules, rule] }
}

async function saveRule(
  refused: Refused,
  base: Scope | null,
  etag: string | null,
  option: RuleOption | undefined,
): Promise<ApiAnswer<number>> {
  if (option === undefined) throw new Error('there is always a first option')
  const { agent_id } = refused
  const answer =
    base === null
      ? await ask('POST', '/admin/scopes', {
          body: { agent_id, ...changed(refused, null, option) },
        })
      : await ask('PUT', `/admin/scopes/${base.scope_id}`, {
          body: { rules: [...base.rules, option.rule] },
          headers: etag === null ? {} : { 'if-match': etag },
        })
  return answer.ok ? await liveEdges() : answer
}

function OnHistory({
  refused,
  base,
  option,
}: {
  refused: Refused
  base: Scope | null
  option: RuleOption
}) {
  const [answer, setAnswer] = useState<ApiAnswer<Trial> | null>(null)
  useEffect(() => {
    let isOver = false
    const body = { agent_id: refused.agent_id, scope: changed(refused, base, option) }
    void ask<Trial>('POST', '/admin/explain/history', { body }).then((trial) => {
      if (!isOver) setAnswer(trial)
    })
    return () => {
      isOver = true
    }
  }, [])
  if (answer === null) return <p role="status">Trying it on the stored calls of the agent …</p>
  if (!answer.ok) return <ProblemNotice problem={answer.problem} />
  return <p role="status">{trialWords(answer.value, refused)}</p>
}

/** "Tried on 38 calls in the last 7 days. Refused calls that would pass: 6 (1 like this one, 5 others)." */
function trialWords(trial: Trial, { method, endpoint }: Refused): string {
  const like = trial.changes.find((one) => one.method === method && one.endpoint === endpoint)
  const same = like?.after === 'allowed' ? like.count : 0
  const others = trial.would_pass - same
  const range = trial.complete ? 'in the last 7 days' : `since ${trial.since ?? 'then'}`
  const lost =
    trial.would_be_refused === 0 ? '' : ` Calls that would be refused: ${trial.would_be_refused}.`
  return `Tried on ${countOf(trial.calls, 'call')} ${range}. Refused calls that would pass: ${trial.would_pass} (${same} like this one, ${countOf(others, 'other')}).${lost}`
}
