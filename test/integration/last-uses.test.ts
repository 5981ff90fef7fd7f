import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LastUses } from '../../admin/context/last-uses.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { AgentUses } from '../../ext-proc/record/agent-uses.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const NOW_MS = 1_767_225_600_000
let valkey: KitValkey
let redis: RedisClient

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'commands' })
  await until('the store is connected', async () => redis.status === 'ready')
})
after(async () => {
  redis.disconnect()
  await valkey.stop()
})

test('uses of a token are noted, and not those of one that was deleted meanwhile', async () => {
  await redis.hset(REDIS_KEYS.adminTokens('org_here'), 'tok_here', '{}')
  const uses = new LastUses(redis, () => new Date(NOW_MS))
  uses.note('org_here', 'tok_here')
  uses.note('org_here', 'tok_deleted')
  uses.note('org_deleted', 'tok_deleted')
  await uses.stop()
  assert.deepEqual(await redis.hgetall(REDIS_KEYS.adminTokenLastUsed('org_here')), {
    tok_here: String(NOW_MS),
  })
  assert.deepEqual(await keysOf('org_deleted'), [])
})

test('uses of an agent and its keys are noted, and not those of deleted ones', async () => {
  const org = 'org_agents'
  await redis.hset(REDIS_KEYS.agents(org), 'agt_here', '{}')
  await redis.hset(REDIS_KEYS.apiKeys(org), { key_own: '{}', key_shared: '{}' })
  const uses = new AgentUses(redis, () => NOW_MS)
  const note = (organization_id: string, agent_id: string, key_id: string, is_own: boolean): void =>
    uses.note(agent_id, { organization_id, key_id, agent_id: is_own ? agent_id : null }, '/v1/path')
  note(org, 'agt_here', 'key_own', true)
  note(org, 'agt_here', 'key_shared', false)
  note(org, 'agt_here', 'key_deleted', false)
  note(org, 'agt_deleted', 'key_shared', false)
  note('org_deleted', 'agt_deleted', 'key_deleted', true)
  await uses.stop()
  const at = String(NOW_MS)
  const hashes = {
    seen: await redis.hgetall(REDIS_KEYS.agentLastSeen(org)),
    paths: await redis.hgetall(REDIS_KEYS.agentLastPath(org)),
    keys: await redis.hgetall(REDIS_KEYS.apiKeyLastUsed(org)),
    shared: await redis.hgetall(REDIS_KEYS.agentOrganizationKeys(org, 'agt_here')),
    calls: await redis.hgetall(REDIS_KEYS.agentCalls(org, 'agt_here')),
  }
  assert.deepEqual(hashes, {
    seen: { agt_here: at },
    paths: { agt_here: '/v1/path' },
    keys: { key_own: at, key_shared: at },
    shared: { key_shared: at },
    calls: { [Math.floor(NOW_MS / 60_000)]: '3' },
  })
  assert.deepEqual(await keysOf('agt_deleted'), [])
  assert.deepEqual(await keysOf('org_deleted'), [])
})

const keysOf = async (id: string): Promise<string[]> =>
  (await redis.keys('*')).filter((key) => key.includes(id))
