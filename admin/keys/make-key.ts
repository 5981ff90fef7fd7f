import { chunksOf } from '../../core/system/chunks-of.ts'
import type { Agent, ApiKey, KeyUse } from '../../core/catalogue/model.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readRecord, readRecords, type Stored } from '../resources/records.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Issue, type Refusal, conflict, invalid, notFound } from '../http/outcome.ts'
import type { Made, Params } from '../resources/resource.ts'
import { readFutureTime } from '../http/read-future-time.ts'
import { AGENT_KEYS_LIMIT, ORGANIZATION_KEYS_LIMIT } from './key-schemas.ts'
import { planKeyNotice } from './key-ends.ts'
import { ORGANIZATION_OWNER, newKey } from './new-key.ts'

interface Wanted {
  readonly name?: string
  readonly expires_at?: string | null
  readonly uses?: readonly KeyUse[]
  readonly agent_ids?: readonly string[] | null
}

/** A killed agent gets no new key: only a reactivation ends a kill. */
export async function makeAgentKey(
  call: AdminCall<Params, unknown, Wanted>,
): Promise<Made<ApiKey> | Refusal> {
  const { redis } = call.context
  const agents = REDIS_KEYS.agents(call.actor.organization_id)
  const stored = await readRecord<Agent>(redis, agents, call.params['agent_id'] ?? '')
  if (stored === null) return notFound()
  if (stored.record.status === 'killed')
    return conflict(
      'agent_killed',
      'The agent is killed and cannot get a new key. Reactivate it first, with rotate_keys if needed.',
    )
  return await makeKey(call, stored)
}

/** An organization key works for every agent, or for the listed ones. */
export async function makeOrganizationKey(
  call: AdminCall<Params, unknown, Wanted>,
): Promise<Made<ApiKey> | Refusal> {
  const { redis } = call.context
  const { agent_ids } = call.body
  if (agent_ids) {
    const agents = REDIS_KEYS.agents(call.actor.organization_id)
    const found = await redis.hmget(agents, ...agent_ids)
    const issues = found.flatMap((agent, i): Issue[] =>
      agent === null ? [{ path: `/agent_ids/${i}`, message: 'no agent has this id' }] : [],
    )
    if (issues.length > 0) return invalid(issues)
  }
  return await makeKey(call, null)
}

async function makeKey(
  { context, actor, body }: AdminCall<unknown, unknown, Wanted>,
  agent: Stored<Agent> | null,
): Promise<Made<ApiKey> | Refusal> {
  const org = actor.organization_id
  const now = context.now()
  const expiry = body.expires_at ? readFutureTime(body.expires_at, now, '/expires_at') : null
  if (expiry !== null && !expiry.ok) return invalid([expiry.issue])
  const agent_id = agent?.record.agent_id ?? null
  const room = await makeRoom(context.redis, org, agent_id)
  if (room === null) return conflict('too_many_keys', 'Too many keys. Revoke one of them first.')
  const made = newKey({
    organization_id: org,
    agent_id,
    name: body.name ?? 'key',
    created_at: now.toISOString(),
    agent_ids: body.agent_ids ?? null,
    uses: body.uses ?? ['proxy'],
    expires_at: expiry?.time ?? null,
  })
  const guards: Guard[] = agent
    ? [['HGET', REDIS_KEYS.agents(org), agent.record.agent_id, agent.text]]
    : []
  return {
    kind: 'made',
    record: made.record,
    guards,
    writes: [...room, made.link, ...planKeyNotice(made.record.key_id, made.record)],
    about: { agent_name: agent?.record.agent_name ?? null },
    shown_once: { key: made.key },
  }
}

/** A key may list a thousand agents, in 130 kB. */
const KEYS_AT_ONCE = 50

/** The oldest revoked key, which makes room for a new one; null if every key is valid. */
async function makeRoom(
  redis: RedisClient,
  org: string,
  agent_id: string | null,
): Promise<Write[] | null> {
  const limit = agent_id === null ? ORGANIZATION_KEYS_LIMIT : AGENT_KEYS_LIMIT
  const index = REDIS_KEYS.apiKeyIndex(org, agent_id ?? ORGANIZATION_OWNER)
  if ((await redis.zcard(index)) < limit) return []
  const ids = await redis.zrange(index, '0', '-1')
  for (const some of chunksOf(ids, KEYS_AT_ONCE)) {
    const keys = await readRecords<ApiKey>(redis, REDIS_KEYS.apiKeys(org), some)
    const oldest = keys.find((key) => key !== null && key.revoked_by === 'operator')
    if (oldest)
      return [
        ['ZREM', index, oldest.key_id],
        ['HDEL', REDIS_KEYS.apiKeys(org), oldest.key_id],
        ['HDEL', REDIS_KEYS.apiKeyLastUsed(org), oldest.key_id],
        ['HDEL', REDIS_KEYS.apiKeyHashes, oldest.hash],
      ]
  }
  return null
}
