import {
  type AccessRequestFields,
  GRANT_MAX_MS,
  KEPT_MS,
} from '../../core/approval/access-request.ts'
import { accessGrantDigest, policyHash, recordHash } from '../../core/approval/call-digest.ts'
import {
  type Agent,
  type Integration,
  type ScopeRule,
  SCOPE_DEFAULTS,
  type Scope,
} from '../../core/catalogue/model.ts'
import { EPOCH, type Guard, type Write } from '../../core/change/commit.ts'
import { mintId } from '../../core/keys/api-key.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { parseRecord, recordText } from '../../core/store/stored-record.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { conflict, invalid, type Audit, type Plan, type Refusal } from '../http/outcome.ts'
import { readFutureTime } from '../http/read-future-time.ts'
import { readRecord } from '../resources/records.ts'
import { checkAgentTotal } from '../scopes/check-agent-total.ts'
import { planEndNotice } from '../scopes/scope-ends.ts'
import { scopeOf } from '../scopes/scope-store.ts'
import { scopeTarget } from '../scopes/scope-target.ts'
import { scopeView } from '../scopes/scope-view.ts'
import { coveringIntegration } from './covering-integration.ts'
import { callOf, type KnownRequest } from './read-requests.ts'

/** What an approval for a time adds to the change. */
export interface GrantPlan extends Pick<Plan, 'guards' | 'writes' | 'targets' | 'needs'> {
  readonly kind: 'grant'
  readonly scope_id: string
  readonly audits: readonly Audit[]
}

/** The end of a grant in UTC, or why there cannot be one. */
export function readGrantEnd(
  { grant_digest, kind }: AccessRequestFields,
  text: string | undefined,
  now: Date,
): string | Refusal | null {
  if (text === undefined)
    return kind === 'access'
      ? invalid([
          { path: '/expires_at', message: 'is required: access that an agent has asked for ends' },
        ])
      : null
  if (grant_digest === '' && kind === 'call')
    return conflict(
      'approved_once',
      'Calls of this rule are approved one by one. Leave out expires_at, or set approval.reuse of the rule to "rule".',
      { kind },
    )
  const read = readFutureTime(text, now, '/expires_at')
  if (!read.ok) return invalid([read.issue])
  if (Date.parse(read.time) - now.getTime() > GRANT_MAX_MS)
    return invalid([{ path: '/expires_at', message: 'must be within 30 days' }])
  return read.time
}

/**
 * The scope that lets the agent make all calls of the rule for a time, or the call that it has asked access for: void once the rule, its
 * scope or the integration changes. Ended grants of the agent make room.
 */
export async function makeGrant(
  { redis, now }: Pick<AdminContext, 'redis' | 'now'>,
  organization_id: string,
  { fields, agent }: KnownRequest,
  expires_at: string,
): Promise<GrantPlan | Refusal> {
  const { request_id, agent_id, kind } = fields
  const found =
    kind === 'call'
      ? await ruleOf(redis, organization_id, fields)
      : await accessOf(redis, organization_id, fields)
  if (found === null || agent === null) return kind === 'call' ? CHANGED : NOT_COVERED
  const { rule, integration_id, digest } = found
  const { agent_name } = callOf(fields)
  const scope: Scope = {
    ...SCOPE_DEFAULTS,
    scope_id: mintId('scp'),
    organization_id,
    name: `Approval ${request_id}`,
    agent_id,
    integration_id,
    // Any other scope governs before it.
    priority: kind === 'call' ? SCOPE_DEFAULTS.priority : LAST_PRIORITY,
    rules: [{ methods: rule.methods, paths: rule.paths }],
    expires_at,
    end_streams: true,
    created_at: now().toISOString(),
    origin: request_id,
    grant: { kind, digest, agent_revision: agent.record.revision },
  }
  const ended = await endedGrants(redis, agent.record, now())
  const excess = await checkAgentTotal(redis, scope, [scope], null)
  if (excess !== null) return excess
  const { scope_id } = scope
  return {
    kind: 'grant',
    scope_id,
    needs: ['scope_grant'],
    guards: found.guards,
    targets: [scopeTarget(scope)],
    writes: [
      ...ended.flatMap((one) => removal(one)),
      ['HSET', REDIS_KEYS.agentScopes(organization_id, agent_id), scope_id, recordText(scope)],
      ['HSET', REDIS_KEYS.scopeOwners(organization_id), scope_id, agent_id],
      ['HSET', REDIS_KEYS.integrationScopes(organization_id, integration_id), scope_id, agent_id],
      ['ZADD', REDIS_KEYS.scopeIndex(organization_id), EPOCH, scope_id],
      ...planEndNotice(scope, null, now()),
      [
        'SET',
        REDIS_KEYS.accessDigest(organization_id, digest),
        request_id,
        'PXAT',
        Date.parse(expires_at) + KEPT_MS,
      ],
    ],
    audits: [
      {
        action: 'scope.create',
        target: scope_id,
        before: null,
        after: scopeView(scope),
        agent_id,
        agent_name,
        scope_id,
        integration_id,
      },
    ],
  }
}

/** The highest of the API. */
const LAST_PRIORITY = 1_000_000

const CHANGED = conflict(
  'changed',
  'The scope, the rule or the integration has changed since. The agent has to ask again.',
)

const NOT_COVERED = conflict(
  'no_integration',
  'No integration has this URL. Create one first, or deny the request.',
)

interface Granted {
  readonly rule: Pick<ScopeRule, 'methods' | 'paths'>
  readonly integration_id: string
  readonly digest: string
  readonly guards: readonly Guard[]
}

/** The rule that asks, if all that the approval depends on is as it was when the agent asked. */
async function ruleOf(
  redis: AdminContext['redis'],
  organization_id: string,
  fields: AccessRequestFields,
): Promise<Granted | null> {
  const call = callOf(fields)
  const [asking] = call.asked_by ?? []
  if (asking === undefined) return null
  const integrations = REDIS_KEYS.integrations(organization_id)
  const [governing, scope, integration] = await Promise.all([
    scopeOf(redis, organization_id, call.scope_id),
    scopeOf(redis, organization_id, asking.scope_id),
    readRecord<Integration>(redis, integrations, call.integration_id),
  ])
  if (governing === null || scope === null || integration === null) return null
  const by = [{ scope, rule: asking.rule }]
  const rule = scope.rules[asking.rule]
  const isSame =
    policyHash(governing, by) === call.policy_sha256 &&
    // As edges read it, with the format that it is stored in.
    recordHash(JSON.parse(integration.text) as Integration) === call.integration_sha256
  return isSame && rule !== undefined
    ? {
        rule,
        integration_id: call.integration_id,
        digest: fields.grant_digest,
        guards: [['HGET', integrations, call.integration_id, integration.text]],
      }
    : null
}

/** The call that access was asked for, and no other. */
async function accessOf(
  redis: AdminContext['redis'],
  organization_id: string,
  fields: AccessRequestFields,
): Promise<Granted | null> {
  const { request_id, agent_id } = fields
  const { method, url } = callOf(fields)
  const integrations = REDIS_KEYS.integrations(organization_id)
  const covering = coveringIntegration(await redis.hvals(integrations), url)
  if (covering === null) return null
  const { integration, text, path, origin } = covering
  const { integration_id } = integration
  return {
    rule: { methods: [method], paths: [path] },
    integration_id,
    digest: accessGrantDigest(request_id, agent_id, integration, origin),
    guards: [['HGET', integrations, integration_id, text]],
  }
}

/** Scopes of the agent that approvals have made and that allow nothing any more. */
async function endedGrants(
  redis: AdminContext['redis'],
  { organization_id, agent_id }: Agent,
  now: Date,
): Promise<readonly Scope[]> {
  const texts = await redis.hvals(REDIS_KEYS.agentScopes(organization_id, agent_id))
  return texts
    .map((text) => parseRecord<Scope>(text))
    .filter(
      ({ origin, expires_at = null }) =>
        origin !== undefined && expires_at !== null && Date.parse(expires_at) <= now.getTime(),
    )
}

/** Removes the scope of a grant. */
export const removal = ({
  organization_id: org,
  agent_id,
  integration_id,
  scope_id,
}: Pick<Scope, 'organization_id' | 'agent_id' | 'integration_id' | 'scope_id'>): Write[] => [
  ['HDEL', REDIS_KEYS.agentScopes(org, agent_id), scope_id],
  ['HDEL', REDIS_KEYS.scopeOwners(org), scope_id],
  ['HDEL', REDIS_KEYS.integrationScopes(org, integration_id), scope_id],
  ['ZREM', REDIS_KEYS.scopeIndex(org), scope_id],
]
