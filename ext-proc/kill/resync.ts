import { chunksOf } from '../../core/system/chunks-of.ts'
import type { KillRecord } from '../../core/kill/kill-record.ts'
import type { LockRecord } from '../../core/kill/lock-record.ts'
import { EVERYWHERE, type Lock } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readLocks } from '../policy/read-locks.ts'
import type { CallInFlight, Cut, CutCounts } from './calls-in-flight.ts'
import { cutLocked, lockOn } from './cut-locked.ts'
import type { EnforceParts } from './enforce-kill.ts'
import { verifyStates } from './verify-states.ts'

/** Organizations whose locks are read at a time. */
const READS_AT_ONCE = 100

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
  await resyncLocks(parts, acknowledge)
  for (const [epoch, { organization_id, agent_id }] of waited)
    void cuts.get(`${organization_id} ${agent_id}`)?.then((counts) => acknowledge(epoch, counts))
}

/** The same for locks, of the organizations that have calls in flight or a lock that awaits acknowledgement. */
async function resyncLocks(
  { policy, killBoard, inFlight, commands, nowMs }: Omit<EnforceParts, 'confirmSoon'>,
  acknowledge: (epoch: number, counts: CutCounts) => void,
): Promise<void> {
  const texts = Object.entries(await commands.hgetall(REDIS_KEYS.lockings))
  const waited = texts.map(
    ([epoch, text]) => [Number(epoch), (JSON.parse(text) as LockRecord).lock] as const,
  )
  const organizations = new Set([
    EVERYWHERE,
    ...waited.map(([, { organization_id }]) => organization_id),
    ...inFlight.agents().map(([organization_id]) => organization_id),
  ])
  for (const some of chunksOf([...organizations], READS_AT_ONCE))
    await Promise.all(
      some.map((organization_id) => readLocks(commands, killBoard, organization_id)),
    )
  // It may have been lifted since.
  for (const [epoch, lock] of waited)
    if (killBoard.hasLock(lock))
      void cutLocked({ policy, inFlight, nowMs }, lock).then(
        (counts) => acknowledge(epoch, counts),
        // The lock is published again until it is acknowledged.
        () => undefined,
      )
  const at_ms = nowMs()
  const byLock = new Map<Lock, CallInFlight[]>()
  for (const call of inFlight.find(() => true)) {
    const lock = lockOn(killBoard.locksOf(call.organization_id), call, at_ms)
    if (lock === null) continue
    const known = byLock.get(lock)
    if (known === undefined) byLock.set(lock, [call])
    else known.push(call)
  }
  for (const [lock, calls] of byLock)
    void inFlight.cut(calls, { reason: 'locked', lock, at_ms }, () => 0)
}
