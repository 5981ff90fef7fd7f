import { type LostState, restoreState } from '../../core/kill/restore-state.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanHash } from '../../core/redis/scan-store.ts'
import type { Settings } from '../../core/settings/settings.ts'

type KillState = readonly [Pick<Agent, 'organization_id' | 'agent_id'>, LostState]

/** Returns those that the backup does not have; a revision follows the clock. */
export async function restoreStates(
  redis: RedisClient,
  { killLease_ms: lease_ms }: Pick<Settings, 'killLease_ms'>,
  backup_ms: number,
): Promise<string[]> {
  const states: string[] = []
  const now = (): Date => new Date()
  const parts = { redis, lease_ms, now }
  // An edge may be faster.
  for await (const [who, state] of scanHash(redis, REDIS_KEYS.restoringKills)) {
    const [organization_id = '', agent_id = ''] = who.split('/')
    const lost = JSON.parse(state) as LostState
    const outcome = await restoreState(parts, { organization_id, agent_id }, lost, 'agw restore')
    const what = lost.killed_at === null ? 'reactivated' : `killed at ${lost.killed_at}`
    const isNew = outcome === 'restored' || (outcome === 'not_lost' && lost.revision > backup_ms)
    if (isNew) states.push(`${agent_id} ${what}`)
  }
  return states
}

/** Every kill and reactivation that the store knows. */
export async function* killStates(redis: RedisClient): AsyncGenerator<KillState> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations))
    for await (const [agent_id, text] of scanHash(redis, REDIS_KEYS.agents(organization_id))) {
      const { revision, killed_at, kill_reason, keys_replaced, status } = JSON.parse(text) as Agent
      if (revision === 0 && status !== 'killed') continue
      const state = {
        revision,
        killed_at: status === 'killed' ? killed_at : null,
        kill_reason,
        keys_replaced: keys_replaced === true,
      }
      yield [{ organization_id, agent_id }, state]
    }
}

/** A restore that was interrupted may have left an older state in the store than it has kept. */
export async function keepNewest(
  redis: RedisClient,
  { organization_id, agent_id }: KillState[0],
  state: LostState,
): Promise<void> {
  const field = `${organization_id}/${agent_id}`
  const kept = await redis.hget(REDIS_KEYS.restoringKills, field)
  if (kept !== null && (JSON.parse(kept) as LostState).revision >= state.revision) return
  await redis.hset(REDIS_KEYS.restoringKills, field, JSON.stringify(state))
}
