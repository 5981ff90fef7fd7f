import type { Static } from 'typebox'
import {
  type AccessRequestFields,
  type Approval,
  type RequestedCall,
  type RequestStatus,
  SENDING_MAX_MS,
  type TakenBy,
} from '../../core/approval/access-request.ts'
import { coveringIntegration } from './covering-integration.ts'
import { type Excerpt, sealedExcerpt } from '../../core/approval/sealed-excerpt.ts'
import type { Agent, Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { parseRecord } from '../../core/store/stored-record.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import { wordsOfCall } from '../../core/approval/words-of-call.ts'
import type { LastHour } from './last-hour.ts'
import type { AccessRequestView } from './access-request-schemas.ts'

/** A request with what its state depends on. */
export interface KnownRequest {
  readonly fields: AccessRequestFields
  readonly status: RequestStatus
  /** The agent as it is stored; null if it was deleted. */
  readonly agent: { readonly text: string; readonly record: Agent } | null
  /** Of a request for access: the integration that has its URL now; null if there is none. */
  readonly covering: Pick<Integration, 'integration_id' | 'name'> | null
}

/** In the order of the ids; null for a request that has expired since. */
export async function readRequests(
  { redis, clock }: Pick<AdminContext, 'redis' | 'clock'>,
  organization_id: string,
  request_ids: readonly string[],
): Promise<readonly (KnownRequest | null)[]> {
  if (request_ids.length === 0) return []
  const found = await Promise.all(
    request_ids.map((id) => redis.hgetall(REDIS_KEYS.accessRequest(organization_id, id))),
  )
  const agent_ids = found.map(({ agent_id = '' }) => agent_id)
  const agents = await redis.hmget(REDIS_KEYS.agents(organization_id), ...agent_ids)
  const now_ms = clock.now().ms
  const scope_ids = found.map(({ scope_id = '' }) => scope_id)
  const owners = await redis.hmget(REDIS_KEYS.scopeOwners(organization_id), ...scope_ids)
  const asksAccess = found.some(({ kind }) => kind === 'access')
  const integrations = asksAccess ? await redis.hvals(REDIS_KEYS.integrations(organization_id)) : []
  return found.map((fields, i) => {
    if (fields['request_id'] === undefined) return null
    const text = agents[i] ?? null
    const agent = text === null ? null : { text, record: parseRecord<Agent>(text) }
    const stored = fields as unknown as AccessRequestFields
    const isVoid = stored.scope_id !== undefined && owners[i] === null
    const status = statusOf(stored, agent?.record ?? null, now_ms)
    const covering =
      stored.kind === 'access'
        ? (coveringIntegration(integrations, callOf(stored).url)?.integration ?? null)
        : null
    return {
      fields: stored,
      agent,
      covering,
      status: isVoid && status === 'approved' ? 'cancelled' : status,
    }
  })
}

/** As it counts now, whatever the store says: time passes and kills happen without a write. */
function statusOf(
  {
    status,
    deadline_ms,
    agent_revision,
    consumed_ms,
    forwarded_ms,
    unsent_ms,
  }: AccessRequestFields,
  agent: Agent | null,
  now_ms: number,
): RequestStatus {
  if (consumed_ms !== undefined)
    return unsent_ms !== undefined ||
      (forwarded_ms === undefined && now_ms - Number(consumed_ms) > SENDING_MAX_MS)
      ? 'failed'
      : status
  if (status !== 'pending' && status !== 'approved') return status
  if (agent?.status !== 'active' || String(agent.revision) !== agent_revision) return 'cancelled'
  return Number(deadline_ms) <= now_ms ? 'expired' : status
}

export const callOf = ({ call }: AccessRequestFields): RequestedCall =>
  JSON.parse(call) as RequestedCall

export const approvalsOf = ({ approvals }: AccessRequestFields): readonly Approval[] =>
  JSON.parse(approvals) as Approval[]

type View = Static<typeof AccessRequestView>

function callView(fields: AccessRequestFields, covering: KnownRequest['covering']) {
  const {
    agent_name: _,
    evaluation_id: __,
    source_ip: ___,
    asked_by: ____,
    names_others = false,
    tool,
    ...call
  } = callOf(fields)
  const words = tool === undefined ? wordsOfCall(call.method, call.url) : `Call the tool ${tool}`
  const integration_id = covering?.integration_id ?? null
  const integration_name = covering?.name ?? null
  return {
    ...call,
    ...(fields.kind === 'access'
      ? { integration_id, integration_name, scope_id: null, scope_name: null }
      : {}),
    digest: fields.digest,
    action: names_others ? null : words,
    names_others,
  }
}

const excerptView = (shown: Excerpt | null) => ({
  excerpt: shown?.body ?? null,
  excerpt_is_cut: shown?.is_cut ?? false,
  headers: pairsOf(shown?.headers),
  fields: pairsOf(shown?.matters?.fields),
  fields_more: shown?.matters?.more ?? 0,
})

const pairsOf = (pairs: readonly (readonly [string, string])[] = []) =>
  pairs.map(([name, value]) => ({ name, value }))

/** The excerpt is for those who may decide. */
export function viewOf(
  { ring }: Pick<AdminContext, 'ring'>,
  { organization_id, role }: Pick<Actor, 'organization_id' | 'role'>,
  { fields, status, covering }: KnownRequest,
  lastHourOf: (agent_id: string) => LastHour | null,
): View {
  const { request_id, kind, agent_id, approvers, reuse } = fields
  const { agent_name, evaluation_id } = callOf(fields)
  const shown =
    role === 'viewer'
      ? null
      : sealedExcerpt.open(ring, { organization_id, request_id }, fields.excerpt)
  return {
    request_id,
    kind,
    status,
    agent_id,
    agent_name,
    call: { ...callView(fields, covering), ...excerptView(shown) },
    justification: fields.justification ?? null,
    justification_findings: JSON.parse(
      fields.justification_findings ?? 'null',
    ) as View['justification_findings'],
    requested_until: fields.requested_until ?? null,
    last_hour: lastHourOf(agent_id),
    approvers,
    needed: Number(fields.needed),
    reuse,
    approvals: approvalsOf(fields).map(({ email, approved_at, expires_at = null }) => ({
      email,
      approved_at,
      expires_at,
    })),
    created_at: timeOf(fields.created_ms),
    expires_at: timeOf(fields.deadline_ms),
    decided_by: fields.decided_by ?? null,
    decided_at: maybeTime(fields.decided_ms),
    comment: fields.comment ?? null,
    consumed_at: maybeTime(fields.consumed_ms),
    consumed_by:
      fields.consumed_by === undefined ? null : (JSON.parse(fields.consumed_by) as TakenBy),
    forwarded_at: maybeTime(fields.forwarded_ms),
    used_before: usedBefore(fields),
    result: { scope_id: fields.scope_id ?? null },
    evaluation_id,
  }
}

/** Null if the same call was not approved and used before. */
const usedBefore = ({ used = '', used_count = '1', used_ms }: AccessRequestFields) =>
  used === ''
    ? null
    : { count: Number(used_count), last_used_at: maybeTime(used_ms), request_id: used }

const timeOf = (ms: string): string => new Date(Number(ms)).toISOString()
const maybeTime = (ms: string | undefined): string | null => (ms === undefined ? null : timeOf(ms))
