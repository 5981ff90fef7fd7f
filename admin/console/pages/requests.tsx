import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { AccessRequest } from '../api-types.ts'
import { AgentLink, Tag } from '../parts/bits.tsx'
import {
  DecideDialog,
  type Decision,
  DECISIONS,
  type Lasting,
  LASTING,
} from '../parts/decide-dialog.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loaded } from '../parts/notices.tsx'
import { RequestedCall, RequestFacts } from '../parts/request-facts.tsx'
import { RoleNote } from '../parts/role-note.tsx'
import { PagedTable } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { plainText } from '../plain-text.ts'
import { useMay } from '../session.ts'
import { useLoad, usePages } from '../use-load.ts'

/** Agents wait for the answer. */
const EVERY_MS = 3_000
/** Of each agent, so that none buries those of others. */
const PER_AGENT = 5
const PENDING = '100'
const ENDED = '50'
/** Of a URL in a table. */
const URL_CHARACTERS = 120

interface Chosen {
  readonly request: AccessRequest
  readonly decision: Decision
  readonly lasting: Lasting
}
type OnChosen = (chosen: Chosen) => void

/** Calls that wait for a person's yes, those of all agents, of one agent, or one alone. */
export function RequestsPage({
  query: { agent_id },
  request_id,
}: {
  query: Readonly<Record<string, string>>
  request_id: string | undefined
}) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [decided, setDecided] = useState<AccessRequest | null>(null)
  const isPart = request_id !== undefined || agent_id !== undefined
  return (
    <>
      <div class="head">
        <h1>Requests</h1>
        {isPart && <a href={linkTo(['requests'])}>All requests</a>}
      </div>
      {decided !== null && <Outcome decided={decided} />}
      {request_id === undefined ? (
        <Lists agent_id={agent_id} decided={decided} onChosen={setChosen} />
      ) : (
        <One request_id={request_id} decided={decided} onChosen={setChosen} />
      )}
      {chosen !== null && (
        <DecideDialog
          {...chosen}
          onClose={() => setChosen(null)}
          onDone={(request) => {
            setChosen(null)
            setDecided(request)
          }}
        />
      )}
    </>
  )
}

/** What the decision has done. It takes the focus, since the button that had it is gone. */
function Outcome({ decided }: { decided: AccessRequest }) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => element.current?.focus(), [decided])
  const { status, agent_name, approvals, needed, expires_at, result, kind } = decided
  return (
    <div class="notice good" role="status" tabIndex={-1} ref={element}>
      <p>
        {status === 'approved' && (
          <>
            Approved: {agent_name} may make{' '}
            {result.scope_id === null
              ? 'the call once'
              : kind === 'access'
                ? 'the call'
                : 'all calls by the rule'}
            . The approval ends <Time at={expires_at} />.
          </>
        )}
        {status === 'pending' &&
          `${approvals.length} of ${needed} approvals: another person has to approve the call of ${agent_name} too.`}
        {status !== 'approved' && status !== 'pending' && `The call of ${agent_name} is ${status}.`}
      </p>
    </div>
  )
}

function One({
  request_id,
  decided,
  onChosen,
}: {
  request_id: string
  decided: AccessRequest | null
  onChosen: OnChosen
}) {
  const path = `/admin/access-requests/${encodeURIComponent(request_id)}`
  const request = useLoad<AccessRequest>(path, EVERY_MS)
  useLayoutEffect(() => void (decided !== null && request.reload()), [decided])
  return (
    <Loaded from={request}>
      {(value) => <RequestCard request={value} onChosen={onChosen} isAlone />}
    </Loaded>
  )
}

function Lists({
  agent_id,
  decided,
  onChosen,
}: {
  agent_id: string | undefined
  decided: AccessRequest | null
  onChosen: OnChosen
}) {
  const path = (more: Readonly<Record<string, string | undefined>>): string =>
    withQuery('/admin/access-requests', { agent_id, ...more })
  const per_agent = agent_id === undefined ? String(PER_AGENT) : undefined
  const pending = usePages<AccessRequest>(
    path({ status: 'pending', per_agent, limit: PENDING }),
    EVERY_MS,
  )
  const all = usePages<AccessRequest>(path({ limit: ENDED }))
  useLayoutEffect(() => {
    if (decided === null) return
    pending.reload()
    all.reload()
  }, [decided])
  const value = all.value?.filter(({ status }) => status !== 'pending') ?? null
  return (
    <>
      <p class="muted">
        Calls that a rule with <code>approval</code> refuses until a person has allowed exactly this
        call, and access that agents ask for. <RoleNote role="operator" to="decide" />
      </p>
      <Loaded from={pending}>
        {(requests) => (
          <>
            {requests.length === 0 && (
              <p class="empty">No request is pending. A rule with approval makes them.</p>
            )}
            {groupsOf(requests).map((group) => (
              <AgentRequests
                key={group[0]?.agent_id}
                requests={group}
                mayBeCut={agent_id === undefined}
                onChosen={onChosen}
              />
            ))}
            <LoadMore of={pending.more} />
          </>
        )}
      </Loaded>
      <section>
        <h2>Decided or ended</h2>
        <PagedTable
          pages={{ ...all, value }}
          caption="Decided requests"
          keyOf={({ request_id }) => request_id}
          empty={all.more === null ? 'None in the last hour.' : 'None of those that were read.'}
          columns={COLUMNS}
        />
      </section>
    </>
  )
}

/** By agent, first who has waited for longest: what is new comes last, and moves nothing. */
function groupsOf(requests: readonly AccessRequest[]): readonly (readonly AccessRequest[])[] {
  const oldestFirst = requests.toSorted((a, b) => a.created_at.localeCompare(b.created_at))
  const groups = new Map<string, AccessRequest[]>()
  for (const request of oldestFirst)
    groups.set(request.agent_id, [...(groups.get(request.agent_id) ?? []), request])
  return [...groups.values()]
}

function AgentRequests({
  requests,
  mayBeCut,
  onChosen,
}: {
  requests: readonly AccessRequest[]
  mayBeCut: boolean
  onChosen: OnChosen
}) {
  const [first] = requests
  if (first === undefined) return null
  const { agent_id, agent_name } = first
  return (
    <section aria-label={agent_name}>
      <h2>
        <AgentLink id={agent_id} name={agent_name} />
      </h2>
      {requests.map((request) => (
        <RequestCard key={request.request_id} request={request} onChosen={onChosen} />
      ))}
      {mayBeCut && requests.length >= PER_AGENT && (
        <p>
          The newest {requests.length} are shown.{' '}
          <a href={linkTo(['requests'], { agent_id })}>All of this agent</a>
        </p>
      )}
    </section>
  )
}

function RequestCard({
  request,
  onChosen,
  isAlone = false,
}: {
  request: AccessRequest
  onChosen: OnChosen
  isAlone?: boolean
}) {
  const { request_id, agent_id, agent_name, status, expires_at, approvers } = request
  const mayDecide = useMay(approvers)
  const title = titleOf(request)
  return (
    <article class="notice" aria-label={title}>
      <p class="buttons">
        <strong>{isAlone ? title : <a href={linkTo(['requests', request_id])}>{title}</a>}</strong>
        {isAlone && <AgentLink id={agent_id} name={agent_name} />}
        <Tag text={status} />
        {OPEN.has(status) && (
          <span>
            ends <Time at={expires_at} />
          </span>
        )}
      </p>
      <RequestedCall request={request} />
      <RequestFacts request={request} />
      <p class="buttons">
        {mayDecide ? (
          decisionsOf(request).map(({ decision, lasting }) => (
            <button
              key={`${decision} ${lasting}`}
              type="button"
              class={CLASSES[decision === 'approve' ? lasting : decision] ?? ''}
              onClick={() => onChosen({ request, decision, lasting })}
            >
              {DECISIONS[decision]}
              {decision === 'approve' && request.reuse === 'rule' && ` ${LASTING[lasting]}`}
            </button>
          ))
        ) : (
          <RoleNote role={approvers} to="decide it" />
        )}
      </p>
    </article>
  )
}

const OPEN: ReadonlySet<string> = new Set(['pending', 'approved'])

/** An agent may ask for access to what no integration has yet. */
const titleOf = ({ kind, call: { method, integration_name } }: AccessRequest): string =>
  kind === 'call'
    ? `${method} to ${integration_name}`
    : `Access: ${method} to ${integration_name ?? 'no integration'}`

const CLASSES: Readonly<Record<string, string>> = {
  once: 'main',
  deny: 'danger quiet',
  cancel: 'danger quiet',
}

function decisionsOf({
  status,
  consumed_at,
  reuse,
  kind,
  call,
}: AccessRequest): readonly Omit<Chosen, 'request'>[] {
  const only = (decision: Decision) => ({ decision, lasting: 'once' }) as const
  if (status === 'approved') return consumed_at === null ? [only('cancel')] : []
  if (status !== 'pending') return []
  // Without an integration nothing can be allowed.
  const lastings: readonly Lasting[] =
    kind === 'access'
      ? call.integration_id === null
        ? []
        : ['15m', '1h', 'until']
      : reuse === 'rule'
        ? ['once', '15m', '1h', 'until']
        : ['once']
  return [...lastings.map((lasting) => ({ decision: 'approve', lasting }) as const), only('deny')]
}

const COLUMNS: Parameters<typeof PagedTable<AccessRequest>>[0]['columns'] = [
  {
    head: 'Asked',
    cell: ({ request_id, created_at }) => (
      <a href={linkTo(['requests', request_id])}>
        <Time at={created_at} />
      </a>
    ),
  },
  {
    head: 'Agent',
    cell: ({ agent_id, agent_name }) => <AgentLink id={agent_id} name={agent_name} />,
  },
  { head: 'Call', cell: ({ call }) => <code>{shortCall(call)}</code> },
  { head: 'Status', cell: ({ status }) => <Tag text={status} /> },
  { head: 'By', cell: ({ decided_by }) => decided_by },
  { head: 'Comment', cell: ({ comment }) => comment },
  { head: 'Used', cell: ({ consumed_at }) => <Time at={consumed_at} none="no" /> },
]

function shortCall({ method, url }: AccessRequest['call']): string {
  const text = plainText(`${method} ${url}`)
  return text.length <= URL_CHARACTERS ? text : `${text.slice(0, URL_CHARACTERS)} …`
}
