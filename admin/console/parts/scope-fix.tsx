import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { Scope, ScopeSettings, Trial } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { liveEdges } from '../live-edges.ts'
import { linkTo } from '../place.ts'
import { settingsOf } from '../scope-settings.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { InForce } from './in-force.tsx'
import { ProblemNotice } from './notices.tsx'

/** One way to change scopes so that a call passes. */
export interface ScopeOption {
  readonly words: string
  /** False while something is missing that has to be supplied. */
  readonly isReady?: boolean
  /** What changes; null if the scope needs no change. */
  readonly patch: (scope: ScopeSettings) => Partial<ScopeSettings> | null
}

export interface FixedCall {
  readonly agent_id: string
  readonly agent_name: string
  readonly integration_id: string
  readonly integration_name: string
  readonly method: string
  /** Below the base URL. */
  readonly path: string
  readonly endpoint: string
}

interface Stored {
  readonly scope: Scope
  readonly etag: string | null
}

/**
 * Changes every scope that has to allow a call, after the change has been tried on the stored calls of the agent. The first option is the
 * narrowest, and is chosen.
 */
export function ScopeFix({
  title,
  call,
  scopes,
  options,
  isTried = true,
  chosenAbout,
  onClose,
  children,
}: {
  title: string
  call: FixedCall
  /** All that must allow it; none: a new scope is made with the rules of the option. */
  scopes: readonly Scope[]
  options: readonly ScopeOption[]
  /** Whether the service can tell which stored calls would pass. */
  isTried?: boolean
  /** What else there is to say of an option. */
  chosenAbout?: (option: ScopeOption) => ComponentChildren
  onClose: () => void
  children?: ComponentChildren
}) {
  const [chosen, setChosen] = useState(0)
  const [edges, setEdges] = useState<number | null>(null)
  const stored = useStored(scopes)
  const option = options[chosen] ?? options[0]
  const all = stored?.ok === true ? stored.value : []
  const changes = option === undefined ? [] : changesOf(all, option)
  const isNew = scopes.length === 0
  const save = useAction(
    () => saveAll(call, option, isNew, changes),
    (live) => setEdges(live),
  )
  if (edges !== null)
    return (
      <InForce edges={edges} onClose={onClose}>
        <a href={linkTo(['agents', call.agent_id])}>View the scopes of {call.agent_name}</a>
      </InForce>
    )
  const isLoaded = stored?.ok === true
  const isOpen = option !== undefined && (isNew || changes.length > 0)
  return (
    <DialogForm
      title={title}
      submit={isNew ? 'Save the scope' : changes.length > 1 ? 'Save the scopes' : 'Save the scope'}
      {...save}
      isReady={isLoaded && isOpen}
      onSubmit={save.run}
      onClose={onClose}
    >
      <Where call={call} scopes={changes.length === 0 ? scopes : changes.map((one) => one.scope)} />
      {children}
      <fieldset>
        <legend>It allows</legend>
        {options.map(({ words }, at) => (
          <label key={words} class="choice">
            <input type="radio" name="fix" checked={at === chosen} onChange={() => setChosen(at)} />{' '}
            {words}
          </label>
        ))}
      </fieldset>
      {option !== undefined && chosenAbout?.(option)}
      {isLoaded && !isOpen && option?.isReady !== false && (
        <p role="status">The scope allows this already.</p>
      )}
      {isTried && isLoaded && isOpen && option !== undefined && (
        <OnHistory key={chosen} call={call} changes={changes} option={option} />
      )}
      <ProblemNotice problem={stored?.ok === false ? stored.problem : null} />
    </DialogForm>
  )
}

const Where = ({ call, scopes }: { call: FixedCall; scopes: readonly Scope[] }) => {
  const selects = scopes.filter(({ agent_id }) => agent_id === null)
  return (
    <p>
      {scopes.length === 0 ? (
        <>
          A new scope lets <strong>{call.agent_name}</strong> call{' '}
          <strong>{call.integration_name}</strong>.
        </>
      ) : (
        <>
          Changed: {scopes.length === 1 ? 'the scope' : 'all scopes that apply,'}{' '}
          <strong>{scopes.map(({ name }) => name).join(', ')}</strong>, for{' '}
          <strong>{call.integration_name}</strong>.
        </>
      )}
      {selects.length > 0 && ' It applies to all agents that its labels select.'}
    </p>
  )
}

interface Change extends Stored {
  readonly patch: Partial<ScopeSettings>
}

const changesOf = (stored: readonly Stored[], { patch }: ScopeOption): readonly Change[] =>
  stored.flatMap((one) => {
    const change = patch(one.scope)
    return change === null ? [] : [{ ...one, patch: change }]
  })

/** The scopes as they are now; a change that comes in between is not overwritten. */
function useStored(scopes: readonly Scope[]): ApiAnswer<readonly Stored[]> | null {
  const [stored, setStored] = useState<ApiAnswer<readonly Stored[]> | null>(null)
  useEffect(() => {
    let isOver = false
    const read = scopes.map(({ scope_id }) => ask<Scope>('GET', `/admin/scopes/${scope_id}`))
    void Promise.all(read).then((answers) => {
      if (isOver) return
      const failed = answers.find((answer) => !answer.ok)
      const value = answers.flatMap((answer) =>
        answer.ok ? [{ scope: answer.value, etag: answer.etag }] : [],
      )
      setStored(failed?.ok === false ? failed : { ok: true, value, etag: null })
    })
    return () => {
      isOver = true
    }
  }, [])
  return stored
}

/** What a new scope has apart from what the option says. */
const newScope = (
  { agent_id, agent_name, integration_id, integration_name }: FixedCall,
  { patch }: ScopeOption,
): object => ({
  agent_id,
  integration_id,
  name: `${agent_name} on ${integration_name}`.slice(0, 200),
  ...patch({ rules: [] as readonly unknown[] } as ScopeSettings),
})

async function saveAll(
  call: FixedCall,
  option: ScopeOption | undefined,
  isNew: boolean,
  changes: readonly Change[],
): Promise<ApiAnswer<number>> {
  if (option === undefined) throw new Error('the form is not ready without an option')
  if (isNew) {
    const made = await ask('POST', '/admin/scopes', { body: newScope(call, option) })
    if (!made.ok) return made
  }
  for (const { scope, etag, patch } of changes) {
    const saved = await ask('PUT', `/admin/scopes/${scope.scope_id}`, {
      body: patch,
      headers: etag === null ? {} : { 'if-match': etag },
    })
    if (!saved.ok) return saved
  }
  return await liveEdges()
}

function OnHistory({
  call,
  changes,
  option,
}: {
  call: FixedCall
  changes: readonly Change[]
  option: ScopeOption
}) {
  const [answer, setAnswer] = useState<ApiAnswer<Trial> | null>(null)
  useEffect(() => {
    let isOver = false
    const [base = null, ...others] = changes
    const further_scopes = others.map((change) => triedScope(call, change, option))
    const scope = triedScope(call, base, option)
    const body = { agent_id: call.agent_id, scope, further_scopes }
    void ask<Trial>('POST', '/admin/explain/history', { body }).then((trial) => {
      if (!isOver) setAnswer(trial)
    })
    return () => {
      isOver = true
    }
  }, [])
  if (answer === null) return <p role="status">Trying it on the stored calls of the agent …</p>
  if (!answer.ok) return <ProblemNotice problem={answer.problem} />
  return <p role="status">{trialWords(answer.value, call)}</p>
}

/** The scope as it would be saved. */
function triedScope(call: FixedCall, base: Change | null, option: ScopeOption): object {
  if (base === null) {
    const { agent_id: _, ...made } = newScope(call, option) as { agent_id: string }
    return made
  }
  return {
    ...settingsOf(base.scope),
    scope_id: base.scope.scope_id,
    agent_selector: null,
    integration_selector: null,
    integration_id: call.integration_id,
    ...base.patch,
  }
}

/** "Tried on 38 calls in the last 7 days. Refused calls that would pass: 6 (1 like this one, 5 others)." */
function trialWords(trial: Trial, { method, endpoint }: FixedCall): string {
  const like = trial.changes.find((one) => one.method === method && one.endpoint === endpoint)
  const same = like?.after === 'allowed' ? like.count : 0
  const others = trial.would_pass - same
  const range = trial.complete ? 'in the last 7 days' : `since ${trial.since ?? 'then'}`
  const lost =
    trial.would_be_refused === 0 ? '' : ` Calls that would be refused: ${trial.would_be_refused}.`
  return `Tried on ${countOf(trial.calls, 'call')} ${range}. Refused calls that would pass: ${trial.would_pass} (${same} like this one, ${countOf(others, 'other')}).${lost}`
}
