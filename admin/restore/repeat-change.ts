import { isDeepStrictEqual } from 'node:util'
import type { TObject } from 'typebox'
import { activityWrite } from '../../core/change/activity-write.ts'
import { commit } from '../../core/change/commit.ts'
import { restoreLock } from '../../core/kill/restore-lock.ts'
import type { Connection, Lock, Scope, Selector } from '../../core/catalogue/model.ts'
import { bothSelectors } from '../../core/decision/selector.ts'
import { endOfLock } from '../../core/decision/locks.ts'
import { mergeSettings } from '../../core/decision/merge-settings.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { LoggedChange } from '../../core/restore/logged-change.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { AdminCall, Route } from '../http/define-route.ts'
import type { Issue, Outcome, Refusal } from '../http/outcome.ts'

export type Repeated =
  | { readonly kind: 'repeated' | 'not_needed' }
  /** It has to be made again by hand. */
  | { readonly kind: 'impossible'; readonly why: string; readonly holds: boolean }

/** Where the records of a kind are; the others are changed with kill states, or by hand. */
const PATHS: Readonly<Record<string, string>> = {
  agent: '/admin/agents/:agent_id',
  integration: '/admin/integrations/:integration_id',
  connection: '/admin/integrations/:integration_id/connections/:connection_id',
  scope: '/admin/scopes/:scope_id',
  organization: '/admin/organizations/:organization_id',
  token: '/admin/tokens/:token_id',
  webhook: '/webhooks/:webhook_id',
  lock: '/admin/locks/:lock_id',
}
const AGENT_KEY = '/admin/agents/:agent_id/keys/:key_id'
const ORGANIZATION_KEY = '/admin/keys/:key_id'

/** Changes of these decide what an agent may do. */
const HOLDING = new Set(['agent', 'integration', 'connection', 'scope', 'organization', 'key'])
/** The log masks these members, or only says that they were replaced, so they cannot be repeated. */
const MASKED: Readonly<Record<string, readonly string[]>> = {
  integration: ['auth', 'auth_replaced', 'upstream', 'client_key_replaced'],
  connection: ['auth', 'auth_replaced'],
  webhook: ['url', 'secret', 'has_secret'],
}
const CA_CHANGES: ReadonlySet<string> = new Set(['ca.activate', 'ca.finish', 'ca.replace'])
const TRIES_MAX = 20

/**
 * Makes a change of the log again, by the code of the route that has made it: a deletion, a revocation, or an edit. An edit that is not
 * proven narrows, and does nothing else.
 */
export async function repeatChange(
  context: AdminContext,
  routes: readonly Route[],
  change: LoggedChange,
): Promise<Repeated> {
  const { action, organization_id, target } = change
  const [record = '', verb = ''] = action.split('.')
  const name = `${action} of ${target}`
  const byHand = (why: string): Repeated => ({ kind: 'impossible', why, holds: false })
  if (CA_CHANGES.has(action)) return byHand(name)
  if (action === 'webhook.rotate_secret') {
    const webhooks = REDIS_KEYS.webhooks(organization_id)
    const isThere = (await context.redis.hexists(webhooks, target)) === 1
    return isThere ? byHand(name) : { kind: 'not_needed' }
  }
  if (action === 'lock.create') return await repeatLock(context, change)
  // Unlike any other removal it allows something.
  if (action === 'lock.delete' && !change.is_proven) return { kind: 'not_needed' }
  const isRemoval = verb === 'delete' || verb === 'revoke'
  const isEdit = verb === 'update' || action === 'connection.end'
  if (!isRemoval && !isEdit) return { kind: 'not_needed' }
  const impossible = (why: string): Repeated => ({
    kind: 'impossible',
    why: `${name}: ${why}`,
    holds: HOLDING.has(record),
  })
  const params = await paramsOf(context, change)
  if (params === null) return { kind: 'not_needed' }
  const route = routeOf(routes, change, isRemoval ? ['DELETE'] : ['PUT', 'PATCH'])
  if (route === undefined) return impossible('this version does not know it')
  const masked = isRemoval ? [] : maskedMembers(record, change)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const body = isRemoval ? null : await patchOf(context, route, change)
    if (body === 'left_out') return impossible('it is too large for the log')
    if (!isRemoval && body === null) return { kind: 'not_needed' }
    const outcome = await route.handle(callOf(context, change, params, body))
    const done = await carryOut(context, change, outcome)
    if (done === 'again') continue
    if (typeof done !== 'string') return impossible(done.why)
    const isMissing = masked.length > 0 && outcome.kind !== 'refusal'
    return isMissing
      ? byHand(`${name}: the log does not have ${masked.join(', ')}`)
      : { kind: done }
  }
  return impossible('the record changes all the time')
}

/** It is put back as it was; a restore lifts no lock. */
async function repeatLock(
  { redis, settings, now }: AdminContext,
  { after, target }: LoggedChange,
): Promise<Repeated> {
  const lock = after as Lock | null
  if (typeof lock?.organization_id !== 'string' || lock.lock_id !== target)
    return {
      kind: 'impossible',
      why: `lock.create of ${target}: the log does not have it`,
      holds: true,
    }
  if (endOfLock(lock) <= now().getTime()) return { kind: 'not_needed' }
  const parts = { redis, lease_ms: settings.killLease_ms, now }
  const done = await restoreLock(parts, lock, 'agw restore')
  return { kind: done === 'restored' ? 'repeated' : 'not_needed' }
}

function routeOf(
  routes: readonly Route[],
  { action, agent_id }: LoggedChange,
  methods: readonly string[],
): Route | undefined {
  const [record = ''] = action.split('.')
  const ofKey = agent_id === null ? ORGANIZATION_KEY : AGENT_KEY
  const path = record === 'key' ? ofKey : PATHS[record]
  return routes.find((route) => route.path === path && methods.includes(route.method))
}

/** Null if the record that it lies within is gone. */
async function paramsOf(
  { redis }: AdminContext,
  { action, organization_id, target, agent_id }: LoggedChange,
): Promise<Readonly<Record<string, string>> | null> {
  const [record = ''] = action.split('.')
  const own = { [`${record}_id`]: target }
  if (record === 'key' && agent_id !== null) return { ...own, agent_id }
  if (record !== 'connection') return own
  const text = await redis.hget(REDIS_KEYS.connections(organization_id), target)
  if (text === null) return null
  return { ...own, integration_id: (JSON.parse(text) as Connection).integration_id }
}

function callOf(
  context: AdminContext,
  { organization_id }: LoggedChange,
  params: Readonly<Record<string, string>>,
  body: unknown,
): AdminCall {
  return {
    context,
    actor: { token_id: '', organization_id, email: 'system', role: 'admin', source_ip: null },
    params,
    query: { cascade: true },
    body,
    headers: {},
    request_id: '',
  }
}

async function carryOut(
  context: AdminContext,
  change: LoggedChange,
  outcome: Outcome,
): Promise<'repeated' | 'not_needed' | 'again' | { readonly why: string }> {
  const { redis, settings } = context
  const { organization_id, target } = change
  if (outcome.kind === 'refusal') {
    if (outcome.error !== 'not_found') return { why: whyRefused(outcome) }
    // The id of a deleted agent is never given again.
    if (change.action === 'agent.delete')
      await redis.hsetnx(REDIS_KEYS.agentTombstones(organization_id), target, 0)
    return 'not_needed'
  }
  if (outcome.kind !== 'plan') return 'not_needed'
  const [audit] = outcome.audits
  const { token_id, ...system } = SYSTEM
  const entry = auditEntry(audit, {
    actor: { ...system, token_id, organization_id },
    request_id: '',
    now: context.now(),
  })
  const { guards, targets } = outcome
  const told = { ...entry, request_id: null, data: { ...entry.data, repeated: change.place } }
  const writes = [...outcome.writes, activityWrite(told)]
  const plan = { guards, writes, targets }
  const committed = await commit(redis, plan, settings.killLease_ms, 'even_when_full')
  if (committed.kind === 'refused') return 'again'
  await outcome.afterwards?.()
  return 'repeated'
}

function whyRefused({ message, error, details }: Refusal): string {
  const issues = (details?.['issues'] ?? []) as readonly Issue[]
  const [first] = issues
  return first === undefined ? (message ?? error) : `${first.path} ${first.message}`
}

const SYSTEM = { token_id: '', email: 'system', role: 'admin', source_ip: null } as const

const maskedMembers = (record: string, { after }: LoggedChange): string[] =>
  (MASKED[record] ?? []).filter((member) => after !== null && Object.hasOwn(after, member))

/** The body of the edit; null if there is nothing to change. */
async function patchOf(
  { redis }: AdminContext,
  { body }: Route,
  change: LoggedChange,
): Promise<Readonly<Record<string, unknown>> | null | 'left_out'> {
  const [record = ''] = change.action.split('.')
  const { after, is_proven, organization_id, target } = change
  if (after === null || after['left_out'] === true) return 'left_out'
  const masked = maskedMembers(record, change)
  // The log has notes in addition to the members of the record.
  const members = (body as TObject | undefined)?.properties ?? {}
  const patch = Object.fromEntries(
    Object.entries(after).filter(
      ([name]) => Object.hasOwn(members, name) && !masked.includes(name),
    ),
  )
  // Without the credential of that time it must not become active with the one of the backup.
  const isRevoked = record === 'connection' && patch['status'] === 'revoked'
  if (record === 'connection' && !isRevoked && masked.length > 0) delete patch['status']
  if (is_proven) return patch
  if (isRevoked) return { status: 'revoked' }
  if (record !== 'scope') return null
  const owner = await redis.hget(REDIS_KEYS.scopeOwners(organization_id), target)
  const text = owner && (await redis.hget(REDIS_KEYS.agentScopes(organization_id, owner), target))
  return text ? narrowing(JSON.parse(text) as Scope, patch) : null
}

/** Of two forms of a scope, what both allow, with the strictest settings. */
function narrowing(scope: Scope, patch: Partial<Scope>): Partial<Scope> {
  const other: Scope = { ...scope, ...patch }
  const { max_body_bytes, token_narrowing, injection, anomaly, rate } = mergeSettings([
    scope,
    other,
  ])
  const texts = new Set(other.rules.map((rule) => JSON.stringify(rule)))
  return {
    rules: scope.rules.filter((rule) => texts.has(JSON.stringify(rule))),
    agent_selector: narrower(scope.agent_selector, other.agent_selector),
    integration_selector: narrower(scope.integration_selector, other.integration_selector),
    not_before: latest(scope.not_before, other.not_before),
    expires_at: earliest(scope.expires_at, other.expires_at),
    end_streams: scope.end_streams === true || other.end_streams === true,
    read_tools: (scope.read_tools ?? []).filter((tool) => other.read_tools?.includes(tool)),
    max_body_bytes,
    token_narrowing,
    injection_detection: injection,
    anomaly_detection: anomaly,
    rate_limiting: rate,
    mcp_tools: {
      allow: scope.mcp_tools.allow.filter((tool) => other.mcp_tools.allow.includes(tool)),
      deny: [...new Set([...scope.mcp_tools.deny, ...other.mcp_tools.deny])],
    },
  }
}

/** Times are stored in UTC, all in one form; null is no limit. */
const latest = (one: string | null = null, other: string | null = null): string | null =>
  one === null || (other !== null && other > one) ? other : one
const earliest = (one: string | null = null, other: string | null = null): string | null =>
  one === null || (other !== null && other < one) ? other : one

const narrower = (one: Selector | null = null, other: Selector | null = null): Selector | null =>
  one === null || other === null || isDeepStrictEqual(one, other) ? one : bothSelectors(one, other)
