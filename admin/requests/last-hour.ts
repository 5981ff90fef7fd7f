import type { RedisClient } from '../../core/redis/run-script.ts'
import { MINUTE_S } from '../activity/count-buckets.ts'
import { countRange, OTHER, readCounts, wholeSince } from '../activity/read-counts.ts'

/** What an agent did in the last hour. */
export interface LastHour {
  readonly calls: number
  readonly refusals: number
  readonly kills: number
}

const HOUR_MS = 3_600_000
const NOTHING: LastHour = { calls: 0, refusals: 0, kills: 0 }

/** Of each agent; null if there were too many agents to count each, so that it is not known of any. */
export async function readLastHours(
  redis: RedisClient,
  organization_id: string,
  now_ms: number,
): Promise<(agent_id: string) => LastHour | null> {
  const since_s = await wholeSince(redis, organization_id)
  const asked = { from_ms: now_ms - HOUR_MS, to_ms: now_ms }
  const range = countRange(asked, { step_s: MINUTE_S, since_s, now_ms })
  const found = new Map<string, LastHour>()
  await readCounts(redis, organization_id, range, (_, counted, __, count) => {
    const { agent_id, decision, event } = counted
    if (agent_id === null) return
    const { calls, refusals, kills } = found.get(agent_id) ?? NOTHING
    found.set(agent_id, {
      calls: calls + (decision === null ? 0 : count),
      refusals: refusals + (decision === 'blocked' ? count : 0),
      kills: kills + (event === 'agent_killed' ? count : 0),
    })
  })
  return (agent_id) => (found.has(OTHER) ? null : (found.get(agent_id) ?? NOTHING))
}
