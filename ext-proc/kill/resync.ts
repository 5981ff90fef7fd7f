import type { KillRecord } from '../../core/kill/kill-record.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { EnforceParts } from './enforce-kill.ts'
import type { Cut, CutCounts } from './calls-in-flight.ts'

/** Number of agents read concurrently. The first response arrives before the last request is sent. */
const READS_AT_ONCE = 200

/**
 * Clears the caches, reads every agent again that has calls in flight or an unconfirmed kill, and cuts the calls that are no
 * longer allowed, or whose agent this version cannot read. `acknowledge` is called for kills that still await acknowledgement,
 * because their messages may have been lost.
 * @throws (rejects) if the store cannot be read
 */
export async function resync(
  parts: Omit<EnforceParts, 'confirmSoon'> & { readonly commands: RedisClient },
  acknowledge: (epoch: number, counts: CutCounts) => void,
): Promise<void> {
  const { policy, killBoard, inFlight, commands } = parts
  policy.clear()
  const texts = Object.entries(await commands.hgetall(REDIS_KEYS.kills))
  const waited = texts.map(
    ([epoch, text]) => [Number(epoch), JSON.parse(text) as KillRecord] as const,
  )
  const pairs = new Map<string, readonly [string, string]>()
  for (const pair of [...inFlight.agents(), ...killBoard.toConfirm()])
    pairs.set(pair.join(' '), pair)
  for (const [, { organization_id, agent_id }] of waited)
    pairs.set(`${organization_id} ${agent_id}`, [organization_id, agent_id])
  const cuts = new Map<string, Promise<CutCounts>>()
  const all = [...pairs]
  for (let i = 0; i < all.length; i += READS_AT_ONCE)
    await Promise.all(
      all.slice(i, i + READS_AT_ONCE).map(async ([key, [organization_id, agent_id]]) => {
        const read = await policy.readableAgent(organization_id, agent_id)
        const killed_at = killBoard.killedAt(organization_id, agent_id)
        if (killed_at === null && read !== null) return
        const why: Cut =
          killed_at === null
            ? { reason: 'gateway_unavailable' }
            : { reason: 'agent_killed', killed_at }
        cuts.set(key, inFlight.cutAgent(organization_id, agent_id, why))
      }),
    )
  for (const [epoch, { organization_id, agent_id }] of waited)
    void cuts.get(`${organization_id} ${agent_id}`)?.then((counts) => acknowledge(epoch, counts))
}
