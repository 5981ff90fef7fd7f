import type { KillRecord } from '../../core/kill/kill-record.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Cut, CutCounts } from './calls-in-flight.ts'
import type { EnforceParts } from './enforce-kill.ts'
import { verifyStates } from './verify-states.ts'

/**
 * Clears the caches, reads the record of every agent again that has calls in flight or an unconfirmed kill, and cuts the calls
 * that are no longer allowed, or whose agent this version cannot read. `acknowledge` is called for kills that still await
 * acknowledgement, because their messages may have been lost.
 * @throws (rejects) if the store cannot be read
 */
export async function resync(
  parts: Omit<EnforceParts, 'confirmSoon'>,
  acknowledge: (epoch: number, counts: CutCounts) => void,
): Promise<void> {
  const { policy, killBoard, inFlight, commands } = parts
  policy.clear()
  const texts = Object.entries(await commands.hgetall(REDIS_KEYS.kills))
  const waited = texts.map(
    ([epoch, text]) => [Number(epoch), JSON.parse(text) as KillRecord] as const,
  )
  const pairs = new Map<string, readonly [string, string]>()
  for (const [, { organization_id, agent_id }] of waited)
    pairs.set(`${organization_id} ${agent_id}`, [organization_id, agent_id])
  for (const pair of [...killBoard.toConfirm(), ...inFlight.agents()])
    pairs.set(pair.join(' '), pair)
  const cuts = new Map<string, Promise<CutCounts>>()
  await verifyStates(parts, [...pairs.values()], ([organization_id, agent_id], state) => {
    const killed_at = killBoard.killedAt(organization_id, agent_id)
    if (killed_at === null && state !== 'unreadable' && state !== 'held') return
    const why: Cut =
      killed_at === null ? { reason: 'gateway_unavailable' } : { reason: 'agent_killed', killed_at }
    const cut = inFlight.cutAgent(organization_id, agent_id, why)
    cuts.set(`${organization_id} ${agent_id}`, cut)
  })
  for (const [epoch, { organization_id, agent_id }] of waited)
    void cuts.get(`${organization_id} ${agent_id}`)?.then((counts) => acknowledge(epoch, counts))
}
