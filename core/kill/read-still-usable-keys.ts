import { chunksOf } from '../system/chunks-of.ts'
import type { ApiKey } from '../catalogue/model.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { readableRecord } from '../store/stored-record.ts'

const DAY_MS = 24 * 3600 * 1000
/** A key may list a thousand agents, in 130 kB, so few are read and parsed at a time: other kills go on between them. */
const KEYS_AT_ONCE = 20

/** Organization keys that calls of the agent used in the last day. A kill does not revoke them. */
export async function readStillUsableKeys(
  redis: RedisClient,
  organization_id: string,
  agent_id: string,
  now_ms: number,
): Promise<readonly string[]> {
  const uses = await redis.hgetall(REDIS_KEYS.agentOrganizationKeys(organization_id, agent_id))
  const recent = Object.keys(uses).filter((key_id) => Number(uses[key_id]) > now_ms - DAY_MS)
  const usable: string[] = []
  for (const some of chunksOf(recent, KEYS_AT_ONCE)) {
    const texts = await redis.hmget(REDIS_KEYS.apiKeys(organization_id), ...some)
    usable.push(...some.filter((_key_id, i) => isUsable(texts[i] ?? null, now_ms)))
  }
  return usable
}

function isUsable(text: string | null, now_ms: number): boolean {
  if (text === null) return false
  const key = readableRecord<ApiKey>(text)
  // What a newer version has stored may be usable.
  if (key === null) return true
  const { revoked_at, expires_at } = key
  return revoked_at === null && (expires_at === null || Date.parse(expires_at) > now_ms)
}
