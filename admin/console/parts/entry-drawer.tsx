import { useState } from 'preact/hooks'
import type { ActivityEntry, Agent, Integration, Page, Receipt, Scope } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { curlOf } from '../curl-of.ts'
import { eventTitle } from '../event-title.ts'
import { type NearestRule, nearestRule } from '../nearest-rule.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useLoad } from '../use-load.ts'
import { whyOf } from '../why-of.ts'
import { AllowThis, type Refused } from './allow-this.tsx'
import { AgentLink, Tag } from './bits.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { EntryCall } from './entry-call.tsx'
import { EntryFacts } from './entry-facts.tsx'
import { KillDialog, KillReceipt } from './kill.tsx'
import { Neighbours } from './neighbours.tsx'
import { Loaded } from './notices.tsx'
import { RoleNote } from './role-note.tsx'
import { Trace } from './trace.tsx'

type Query = Readonly<Record<string, string>>

/** One entry beside the list: why it is what it is, and what to do about it. */
export function EntryDrawer({
  id,
  query,
  onClose,
}: {
  id: string
  query: Query
  onClose: () => void
}) {
  const entry = useLoad<ActivityEntry>(`/admin/activity/${encodeURIComponent(id)}`)
  const title = entry.value === null ? 'Entry' : eventTitle(entry.value.event)
  return (
    <Dialog title={title} kind="drawer" onClose={onClose}>
      <Loaded from={entry}>
        {(value) => <EntryDetail key={value.id} entry={value} query={query} />}
      </Loaded>
    </Dialog>
  )
}

function EntryDetail({ entry, query }: { entry: ActivityEntry; query: Query }) {
  const { agent_id, integration_id, decision } = entry
  const integration = useLoad<Integration>(
    integration_id === null ? null : `/admin/integrations/${encodeURIComponent(integration_id)}`,
  ).value
  const scopes = useLoad<Page<Scope>>(
    agent_id === null || integration_id === null
      ? null
      : withQuery('/admin/scopes', { agent_id, integration_id, limit: '200' }),
  ).value
  const api = integration?.name ?? integration_id ?? 'the API'
  const refused = refusedCall(entry, integration, scopes?.data ?? null)
  return (
    <>
      <p>
        {decision !== null && <Tag text={decision} />}{' '}
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
      {refused !== null && <Nearest refused={refused} />}
      <Actions entry={entry} integration={integration} refused={refused} />
      {entry.steps.length > 0 && (
        <section>
          <h3>Steps</h3>
          <Trace steps={entry.steps} />
        </section>
      )}
      {agent_id !== null && <Neighbours entry={entry} query={query} />}
      <EntryFacts
        entry={entry}
        integration={integration?.name ?? null}
        scope={scopes?.data.find(({ scope_id }) => scope_id === entry.scope_id)?.name ?? null}
      />
    </>
  )
}

/** A call that was refused because no rule allows it; null for any other entry, and until it is loaded. */
function refusedCall(
  { event, agent_id, agent_name, method, endpoint, data }: ActivityEntry,
  integration: Integration | null,
  scopes: readonly Scope[] | null,
): Refused | null {
  const attempted = data['attempted_action']
  if (event !== 'permission_denied' || typeof attempted !== 'string') return null
  if (agent_id === null || method === null || endpoint === null) return null
  if (integration === null || scopes === null) return null
  const path = attempted.slice(attempted.indexOf(' ') + 1)
  const name = agent_name ?? agent_id
  return { agent_id, agent_name: name, integration, scopes, method, path, endpoint }
}

function Nearest({ refused: { scopes, method, path } }: { refused: Refused }) {
  const nearest = nearestRule(scopes, method, path)
  if (nearest === null) return <p>The agent has no rule for this API.</p>
  const { scope, rule, pattern } = nearest
  const { methods = [] } = scope.rules[rule] ?? {}
  return (
    <p>
      Nearest rule: {rule + 1} of <a href={linkTo(['scopes', scope.scope_id])}>{scope.name}</a>,{' '}
      <code>
        {methods.join(', ')} {pattern}
      </code>
      . {MISSING[nearest.missing]({ method, path })}
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

function Actions({
  entry: { agent_id, method, endpoint },
  integration,
  refused,
}: {
  entry: ActivityEntry
  integration: Integration | null
  refused: Refused | null
}) {
  const [open, setOpen] = useState<'allow' | 'stop' | null>(null)
  const [receipt, setReceipt] = useState<Receipt | null>(null)
  const path = `/admin/agents/${encodeURIComponent(agent_id ?? '')}`
  const agent = useLoad<Agent>(agent_id === null ? null : path).value
  const mayKill = useMay('operator')
  const mayChange = useMay('admin')
  const origin = integration === null ? null : new URL(integration.base_url).origin
  return (
    <>
      <p class="buttons">
        {mayChange && refused !== null && (
          <button type="button" class="main" onClick={() => setOpen('allow')}>
            Allow this …
          </button>
        )}
        {mayKill && agent !== null && (
          <button type="button" class="danger quiet" onClick={() => setOpen('stop')}>
            {agent.status === 'active' ? 'Stop this agent …' : 'Kill again …'}
          </button>
        )}
        {method !== null && endpoint !== null && origin !== null && (
          <CopyButton label="Copy as curl" text={curlOf(method, origin, endpoint)} />
        )}
        {refused !== null && <RoleNote role="admin" to="allow this call" />}
        {agent !== null && <RoleNote role="operator" to="stop this agent" />}
      </p>
      {receipt !== null && <KillReceipt receipt={receipt} />}
      {open === 'allow' && refused !== null && (
        <AllowThis refused={refused} onClose={() => setOpen(null)} />
      )}
      {open === 'stop' && agent !== null && (
        <KillDialog
          agent={agent}
          path={path}
          onClose={() => setOpen(null)}
          onDone={(done) => {
            setOpen(null)
            setReceipt(done)
          }}
        />
      )}
    </>
  )
}
