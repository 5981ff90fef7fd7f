import type { AccessRequestFields } from '../../core/approval/access-request.ts'
import { accessGrantDigest } from '../../core/approval/call-digest.ts'
import type { AdminToken, Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import { coveringIntegration } from './covering-integration.ts'
import { approvalsOf, callOf } from './read-requests.ts'

/**
 * Scopes of access that does not stand any more: the request has ended, the integration has changed, or one who approved may not approve
 * now. An edge asks the store the same with each call (core/lua/take-approval.lua).
 */
export async function lapsedGrants(
  redis: RedisClient,
  organization_id: string,
  scopes: readonly Scope[],
  integrations: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const made = scopes.filter(({ grant }) => grant?.kind === 'access')
  const lapsed = await Promise.all(
    made.map(async ({ scope_id, agent_id, origin = '', grant }) => {
      const request = REDIS_KEYS.accessRequest(organization_id, origin)
      const fields = (await redis.hgetall(request)) as unknown as AccessRequestFields
      if (fields.status !== 'approved' || Number(fields.deadline_ms) <= now.getTime())
        return scope_id
      const covering = coveringIntegration(integrations, callOf(fields).url)
      if (covering === null) return scope_id
      const { integration, origin: host } = covering
      if (accessGrantDigest(origin, agent_id, integration, host) !== grant?.digest) return scope_id
      const approvals = approvalsOf(fields)
      const ids = approvals.map(({ token_id }) => token_id)
      const tokens =
        ids.length === 0 ? [] : await redis.hmget(REDIS_KEYS.adminTokens(organization_id), ...ids)
      const may = tokens.map((text) => mayApprove(text, fields.approvers, now))
      return may.length >= Number(fields.needed) && !may.includes(false) ? [] : scope_id
    }),
  )
  return new Set(lapsed.flat())
}

function mayApprove(text: string | null, approvers: string, now: Date): boolean {
  const token = text === null ? null : readableRecord<AdminToken>(text)
  if (token === null) return false
  const { role, expires_at } = token
  const isHigh = role === 'admin' || (role === 'operator' && approvers !== 'admin')
  return isHigh && (expires_at === null || expires_at > now.toISOString())
}
