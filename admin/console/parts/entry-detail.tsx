import { useState } from 'preact/hooks'
import type { ActivityEntry, Agent, Receipt } from '../api-types.ts'
import { curlOf } from '../curl-of.ts'
import { fixesOf } from '../fixes-of.ts'
import { hostOfEntry } from '../host-of-entry.ts'
import { type NearestRule, nearestRule } from '../nearest-rule.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { type Judged, judgedCall, useJudged } from '../use-judged.ts'
import { useLoad } from '../use-load.ts'
import { whyOf } from '../why-of.ts'
import { wordOf } from '../word-of.ts'
import { AgentLink, Tag } from './bits.tsx'
import { CopyButton } from './copy-button.tsx'
import { EntryCall } from './entry-call.tsx'
import { EntryFacts } from './entry-facts.tsx'
import { Fixes } from './fixes.tsx'
import { KillDialog, KillReceipt } from './kill.tsx'
import { Neighbours } from './neighbours.tsx'
import { RoleNote } from './role-note.tsx'
import { Trace } from './trace.tsx'

type Query = Readonly<Record<string, string>>

/** Why an entry is what it is, and what to do about it. */
export function EntryDetail({ entry, query }: { entry: ActivityEntry; query: Query }) {
  const { agent_id, integration_id, decision } = entry
  const of = useJudged(entry)
  const api = of.integration?.name ?? integration_id ?? hostOfEntry(entry) ?? 'the API'
  return (
    <>
      <p>
        {decision !== null && <Tag text={wordOf(entry)} />}{' '}
        <AgentLink id={agent_id} name={entry.agent_name} />
        {integration_id !== null && (
          <>
            {' → '}
            <a href={linkTo(['integrations'], { q: integration_id })}>{api}</a>
          </>
        )}
      </p>
      <p class="why">{whyOf(entry, api)}</p>
      <EntryCall entry={entry} />
      <Nearest of={of} />
      <Actions entry={entry} of={of} />
      {entry.steps.length > 0 && (
        <section>
          <h3>Steps</h3>
          <Trace entry={entry} />
        </section>
      )}
      {agent_id !== null && <Neighbours entry={entry} query={query} />}
      <EntryFacts
        entry={entry}
        integration={of.integration?.name ?? null}
        scope={of.scopes?.find(({ scope_id }) => scope_id === entry.scope_id)?.name ?? null}
      />
    </>
  )
}

/** The rule that comes closest to a call that no rule allows. */
export function Nearest({ of }: { of: Judged }) {
  const call = judgedCall(of)
  if (of.scopes === null || call === null || !fixesOf(of.entry).includes('rule')) return null
  const nearest = nearestRule(of.scopes, call.method, call.path)
  if (nearest === null) return <p>The agent has no rule for this API.</p>
  const { scope, rule, pattern } = nearest
  const { methods = [] } = scope.rules[rule] ?? {}
  return (
    <p>
      Nearest rule: {rule + 1} of <a href={linkTo(['scopes', scope.scope_id])}>{scope.name}</a>,{' '}
      <code>
        {methods.join(', ')} {pattern}
      </code>
      . {MISSING[nearest.missing](call)}
    </p>
  )
}

const MISSING: Readonly<
  Record<NearestRule['missing'], (call: { method: string; path: string }) => string>
> = {
  method: ({ method }) => `It lacks the method ${method}.`,
  path: ({ path }) => `It does not match the path ${path}.`,
  nothing: () => 'It allows such a call now.',
}

function Actions({ entry, of }: { entry: ActivityEntry; of: Judged }) {
  const { agent_id, method, endpoint } = entry
  const [isStopping, setStopping] = useState(false)
  const [receipt, setReceipt] = useState<Receipt | null>(null)
  const path = `/admin/agents/${encodeURIComponent(agent_id ?? '')}`
  const agent = useLoad<Agent>(agent_id === null ? null : path).value
  const mayKill = useMay('operator')
  const origin = of.integration === null ? null : new URL(of.integration.base_url).origin
  return (
    <>
      <Fixes of={of}>
        {mayKill && agent !== null && (
          <button
            type="button"
            class={agent.status === 'active' ? 'danger quiet' : 'quiet'}
            onClick={() => setStopping(true)}
          >
            {agent.status === 'active' ? 'Stop this agent …' : 'Kill again …'}
          </button>
        )}
        {method !== null && endpoint !== null && origin !== null && (
          <CopyButton label="Copy as curl" text={curlOf(method, origin, endpoint)} />
        )}
        {agent !== null && <RoleNote role="operator" to="stop this agent" />}
      </Fixes>
      {receipt !== null && <KillReceipt receipt={receipt} />}
      {isStopping && agent !== null && (
        <KillDialog
          agent={agent}
          onClose={() => setStopping(false)}
          onDone={(done) => {
            setStopping(false)
            setReceipt(done)
          }}
        />
      )}
    </>
  )
}
