import { ACTIVITY_MAX_ENTRIES } from '../../core/activity/activity-entry.ts'
import { floodEntry } from '../../core/activity/flood-entry.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** Minutes and organizations that one call checks. */
const FLOODS_MAX = 50
/** Entries per script. */
const BATCH = 100
const TOLD_TTL_S = 24 * 3600

/** Writes log entries for the refusals counted in past minutes. Returns the number of entries. */
export async function tellFloods(redis: RedisClient, now: Date): Promise<number> {
  const now_ms = now.getTime()
  const bounds = ['LIMIT', 0, FLOODS_MAX] as const
  const due = await redis.zrangebyscore(REDIS_KEYS.refusalFloods, '-inf', now_ms, ...bounds)
  let written = 0
  for (const name of due) written += await tellMinute(redis, name, now_ms)
  return written
}

async function tellMinute(redis: RedisClient, name: string, now_ms: number): Promise<number> {
  const [organization_id = '', minute = ''] = name.split(' ')
  const keys = [
    REDIS_KEYS.refusalFloods,
    REDIS_KEYS.refusalCounts(organization_id, Number(minute)),
    REDIS_KEYS.refusalCountsTold(organization_id, Number(minute)),
    REDIS_KEYS.activity(organization_id),
    REDIS_KEYS.organizations,
  ] as const
  const [counts, told] = await Promise.all([redis.hgetall(keys[1]), redis.hgetall(keys[2])])
  const untold = Object.entries(counts).filter(([field, count]) => told[field] !== count)
  let written = 0
  // Runs once even with nothing left to report, so that the minute is removed.
  for (let at = 0; at === 0 || at < untold.length; at += BATCH) {
    const batch = untold.slice(at, at + BATCH)
    const names = await namesOf(redis, organization_id, batch)
    const rows = batch.flatMap(([field, count]) => {
      const [agent = '-', reason = ''] = field.split(' ')
      const before = told[field] ?? '0'
      const flood = {
        organization_id,
        agent_id: agent === '-' ? null : agent,
        agent_name: names.get(agent) ?? null,
        reason,
        minute: Number(minute),
        suppressed: Number(count) - Number(before),
      }
      return [field, before, count, JSON.stringify(floodEntry(flood, now_ms))]
    })
    const isLast = at + BATCH >= untold.length
    const bounds = [ACTIVITY_MAX_ENTRIES, TOLD_TTL_S]
    const args = [name, organization_id, ...bounds, isLast ? 1 : 0, ...rows]
    written += Number(await runScript(redis, 'tell-counts', keys, args))
  }
  return written
}

async function namesOf(
  redis: RedisClient,
  organization_id: string,
  counts: readonly (readonly [field: string, count: string])[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(counts.map(([field]) => field.split(' ')[0] ?? ''))]
  if (ids.length === 0) return new Map()
  const agents = await redis.hmget(REDIS_KEYS.agents(organization_id), ...ids)
  return new Map(
    agents.flatMap((text, i) => {
      const agent = text === null ? null : readableRecord<Agent>(text)
      return agent === null ? [] : [[ids[i] ?? '', agent.agent_name] as const]
    }),
  )
}
