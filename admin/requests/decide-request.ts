import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import {
  type AccessRequestFields,
  type Approval,
  KEPT_MS,
} from '../../core/approval/access-request.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { runOfStore } from '../../core/redis/run-of-store.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { answer, conflict, notFound, type Plan, type Refusal } from '../http/outcome.ts'
import { readLastHours } from './last-hour.ts'
import { type GrantPlan, makeGrant, readGrantEnd, removal } from './make-grant.ts'
import { approvalsOf, callOf, type KnownRequest, readRequests, viewOf } from './read-requests.ts'
import { refuseSecond } from './refuse-second.ts'

export type Decide = 'approve' | 'deny' | 'cancel'

type DecideCall = AdminCall<
  { readonly request_id: string },
  unknown,
  { readonly comment?: string | null; readonly expires_at?: string | null } | null
>

/** What changes with If-Match: everything that a decision depends on. */
export const tagOf = ({ fields: { status, approvals, deadline_ms } }: KnownRequest): string =>
  JSON.stringify([status, approvals, deadline_ms])

/** An approval or its withdrawal, written only if the request and its agent are as they were read: a kill in between wins. */
export async function decideRequest(call: DecideCall, what: Decide): Promise<Plan | Refusal> {
  const { context, actor, params, body } = call
  const [known] = await readRequests(context, actor.organization_id, [params.request_id])
  if (known == null) return notFound('No such request. It is kept for an hour after its end.')
  const refused =
    checkPrecondition(call.headers, tagOf(known)) ??
    checkState(known, what) ??
    mayDecide(call, known, what)
  if (refused !== null) return refused
  const now_ms = Math.floor(context.clock.now().ms)
  const { fields, agent } = known
  const made = await decided(call, known, what, now_ms)
  if ('kind' in made) return made
  const { changed, grant } = made
  const guards: Guard[] = [
    ...(['status', 'approvals', 'deadline_ms'] as const).map(
      (name): Guard => ['HGET', keyOf(actor.organization_id, fields), name, fields[name]],
    ),
    ['HGET', keyOf(actor.organization_id, fields), 'consumed_ms', false],
    ...(agent === null
      ? []
      : [['HGET', REDIS_KEYS.agents(actor.organization_id), fields.agent_id, agent.text] as const]),
    ...(grant?.guards ?? []),
  ]
  const shown: KnownRequest = {
    ...known,
    fields: { ...fields, ...changed },
    status: (changed.status ?? fields.status) as KnownRequest['status'],
  }
  const { agent_name, scope_id, integration_id } = callOf(fields)
  const hours = await readLastHours(context.redis, actor.organization_id, now_ms)
  return {
    kind: 'plan',
    guards,
    writes: [...writesOf(actor.organization_id, fields, changed, now_ms), ...(grant?.writes ?? [])],
    needs: grant?.needs ?? [],
    targets: [
      {
        what: 'access_request',
        organization_id: actor.organization_id,
        request_id: fields.request_id,
      },
      ...(grant?.targets ?? []),
    ],
    events: [decidedEntry(call, shown, now_ms)],
    audits: [
      {
        action: `access_request.${what}`,
        target: fields.request_id,
        before: { status: fields.status },
        after: {
          status: shown.status,
          comment: body?.comment ?? null,
          digest: fields.digest,
          expires_at: body?.expires_at ?? null,
        },
        agent_id: fields.agent_id,
        agent_name,
        scope_id,
        integration_id,
      },
      ...(grant?.audits ?? []),
    ],
    answer: answer(200, viewOf(context, actor, shown, hours)),
  }
}

const keyOf = (organization_id: string, { request_id }: AccessRequestFields): string =>
  REDIS_KEYS.accessRequest(organization_id, request_id)

function checkState({ status, fields }: KnownRequest, what: Decide): Refusal | null {
  if (fields.consumed_ms !== undefined)
    return conflict('not_pending', 'The approval was used.', { status })
  const isOpen = status === 'pending' || (what !== 'approve' && status === 'approved')
  return isOpen ? null : conflict('not_pending', `The request is ${status}.`, { status })
}

function mayDecide(call: DecideCall, known: KnownRequest, what: Decide): Refusal | null {
  const { actor } = call
  if (known.fields.approvers === 'admin' && actor.role !== 'admin')
    return {
      kind: 'refusal',
      error: 'forbidden',
      message: 'Only an administrator decides this request.',
      details: { role: 'admin' },
    }
  return what === 'approve' ? refuseSecond(call.context, actor, known) : null
}

type Changed = Partial<AccessRequestFields>

interface Decided {
  readonly changed: Changed
  /** What an approval for a time makes; null for any other decision. */
  readonly grant: GrantPlan | null
}

async function decided(
  call: DecideCall,
  known: KnownRequest,
  what: Decide,
  now_ms: number,
): Promise<Decided | Refusal> {
  const { context, actor, body } = call
  const { fields } = known
  const end =
    what === 'approve'
      ? readGrantEnd(fields, body?.expires_at ?? undefined, new Date(now_ms))
      : null
  if (end !== null && typeof end !== 'string') return end
  const changed = changedFields(call, fields, what, now_ms, end)
  const approvals = approvalsOf({ ...fields, ...changed })
  const ends = approvals.flatMap(({ expires_at = [] }) => expires_at)
  // One of several who allows the call once has not allowed more.
  const [first] = ends.toSorted((a, b) => Date.parse(a) - Date.parse(b))
  if (changed.status !== 'approved' || first === undefined || ends.length < approvals.length)
    return { changed: await withRun(context, changed), grant: null }
  const grant = await makeGrant(context, actor.organization_id, known, first)
  if (grant.kind === 'refusal') return grant
  const deadline_ms = String(Date.parse(first))
  return { changed: { ...changed, deadline_ms, scope_id: grant.scope_id }, grant }
}

const withRun = async ({ redis }: DecideCall['context'], changed: Changed): Promise<Changed> =>
  changed.status === 'approved' ? { ...changed, approved_run: await runOfStore(redis) } : changed

function changedFields(
  { actor, body }: DecideCall,
  fields: AccessRequestFields,
  what: Decide,
  now_ms: number,
  expires_at: string | null,
): Changed {
  const comment = body?.comment ?? null
  const decided = {
    decided_by: actor.email,
    decided_ms: String(now_ms),
    ...(comment === null ? {} : { comment }),
  }
  const deadline_ms = String(now_ms + Number(fields.valid_ms))
  switch (what) {
    case 'cancel':
      return { ...decided, status: 'cancelled', ended_ms: String(now_ms) }
    case 'deny':
      return { ...decided, status: 'denied', deadline_ms }
    case 'approve': {
      const approval: Approval = {
        email: actor.email,
        token_id: actor.token_id,
        approved_at: new Date(now_ms).toISOString(),
        ...(expires_at === null ? {} : { expires_at }),
      }
      const approvals = [...approvalsOf(fields), approval]
      const isEnough = approvals.length >= Number(fields.needed)
      const emails = approvals.map(({ email }) => email).join(', ')
      return {
        approvals: JSON.stringify(approvals),
        ...(isEnough ? { ...decided, decided_by: emails, status: 'approved', deadline_ms } : {}),
      }
    }
  }
}

function writesOf(
  organization_id: string,
  fields: AccessRequestFields,
  changed: Changed,
  now_ms: number,
): readonly Write[] {
  const { request_id, agent_id, digest } = fields
  const key = keyOf(organization_id, fields)
  const open = [
    REDIS_KEYS.accessRequestsOpen(organization_id),
    REDIS_KEYS.accessRequestsOf(organization_id, agent_id),
  ]
  const set = Object.entries(changed).flatMap(([name, value]) => [name, value ?? ''])
  const writes: Write[] = [['HSET', key, ...set]]
  const { deadline_ms, scope_id } = changed
  // A grant is open no more: nothing is to be decided, and calls do not use it up.
  const ends_ms = changed.status === 'cancelled' ? now_ms : Number(deadline_ms)
  if (changed.status === 'cancelled' || scope_id !== undefined)
    writes.push(
      ...open.map((index): Write => ['ZREM', index, request_id]),
      ['ZADD', REDIS_KEYS.accessRequestsEnded(organization_id), ends_ms, request_id],
      ['PEXPIREAT', key, ends_ms + KEPT_MS],
      ...(fields.scope_id === undefined
        ? []
        : removal({
            organization_id,
            agent_id,
            integration_id: callOf(fields).integration_id,
            scope_id: fields.scope_id,
          })),
    )
  else if (deadline_ms !== undefined)
    writes.push(
      ...open.map((index): Write => ['ZADD', index, deadline_ms, request_id]),
      ...[key, REDIS_KEYS.accessDigest(organization_id, digest)].map(
        (name): Write => ['PEXPIREAT', name, Number(deadline_ms) + KEPT_MS],
      ),
    )
  return writes
}

function decidedEntry(
  { actor, body, request_id }: DecideCall,
  shown: KnownRequest,
  now_ms: number,
) {
  const { fields, status } = shown
  const { agent_name, method, url, integration_name } = callOf(fields)
  return entryOfNoCall({
    event: 'access_decided',
    organization_id: actor.organization_id,
    agent_id: fields.agent_id,
    agent_name,
    timestamp: new Date(now_ms).toISOString(),
    actor: { source_ip: actor.source_ip, request_id, edge_id: null },
    data: {
      request_id: fields.request_id,
      method,
      url,
      service: integration_name,
      digest: fields.digest,
      status,
      decided_by: actor.email,
      comment: body?.comment ?? null,
      ...(fields.scope_id === undefined
        ? { scope_id: null, expires_at: null }
        : {
            scope_id: fields.scope_id,
            expires_at: new Date(Number(fields.deadline_ms)).toISOString(),
          }),
    },
  })
}
