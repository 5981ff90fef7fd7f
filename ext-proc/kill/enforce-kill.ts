import type { ControlTarget } from '../../core/control/control-message.ts'
import { type CutCounts, type CallsInFlight, NONE_CUT } from './calls-in-flight.ts'
import { cutLocked } from './cut-locked.ts'
import type { RestrictionBoard } from './restriction-board.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { verifyLocks } from './verify-locks.ts'
import { verifyStates } from './verify-states.ts'

export interface EnforceParts {
  readonly policy: PolicyStore
  readonly killBoard: RestrictionBoard
  readonly inFlight: CallsInFlight
  readonly commands: RedisClient
  /** By the clock of the store. */
  readonly nowMs: () => number
  /** Schedules a comparison of received kills and locks with the store. */
  readonly confirmSoon: () => void
}

export type RestrictionTarget = Extract<
  ControlTarget,
  { what: 'kill' | 'reactivate' | 'lock' | 'unlock' }
>

export const isRestriction = (target: ControlTarget): target is RestrictionTarget =>
  target.what === 'kill' ||
  target.what === 'reactivate' ||
  target.what === 'lock' ||
  target.what === 'unlock'

/**
 * Enforces or ends a kill or a lock. A message is only a hint: what restricts cuts immediately, and a read of the store then confirms
 * or lifts it, so that a forged message has no lasting effect (threat model, rule 20). What lifts is only accepted from the store.
 * @returns what was ended
 * @throws (rejects) if the store cannot be read for a reactivation, or for the end of a lock
 */
export async function enforceKill(
  parts: EnforceParts,
  target: RestrictionTarget,
): Promise<CutCounts> {
  const { policy, killBoard, inFlight, confirmSoon } = parts
  const { organization_id } = target
  policy.drop(target)
  switch (target.what) {
    case 'kill': {
      const { agent_id, revision, killed_at } = target
      const received = killBoard.receive(organization_id, agent_id, { revision, killed_at })
      // An older kill does not apply to calls that started after a reactivation.
      const cut =
        received === 'outdated'
          ? NONE_CUT
          : inFlight.cutAgent(organization_id, agent_id, { reason: 'agent_killed', killed_at })
      // The acknowledgement does not wait for it, because the kill is in force until then.
      if (received === 'news') confirmSoon()
      return cut
    }
    case 'lock': {
      const received = killBoard.receiveLock(target.lock)
      const cut = received === 'outdated' ? NONE_CUT : cutLocked(parts, target.lock)
      if (received === 'news') confirmSoon()
      return cut
    }
    case 'reactivate':
      await verifyStates(parts, [[organization_id, target.agent_id]], (_pair, state) => {
        if (state === 'unreadable')
          throw new Error(`the record of agent ${target.agent_id} cannot be read by this version`)
      })
      return NONE_CUT
    case 'unlock':
      await verifyLocks(parts, [[organization_id, target.lock_id]])
      return NONE_CUT
  }
}
