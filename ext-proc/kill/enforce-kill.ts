import type { ControlTarget } from '../../core/control/control-message.ts'
import { type CutCounts, type CallsInFlight, NONE_CUT } from './calls-in-flight.ts'
import type { KillBoard } from './kill-board.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { verifyStates } from './verify-states.ts'

export interface EnforceParts {
  readonly policy: PolicyStore
  readonly killBoard: KillBoard
  readonly inFlight: CallsInFlight
  readonly commands: RedisClient
  /** Schedules a comparison of received kills with the store. */
  readonly confirmSoon: () => void
}

export type KillTarget = Extract<ControlTarget, { what: 'kill' | 'reactivate' }>

/**
 * Enforces a kill or a reactivation. A message is only a hint: a kill cuts immediately, and a read of the store then confirms
 * or lifts it, so that a forged message has no lasting effect (threat model, rule 20).
 * @returns what was ended
 * @throws (rejects) if the store cannot be read for a reactivation
 */
export async function enforceKill(parts: EnforceParts, target: KillTarget): Promise<CutCounts> {
  const { policy, killBoard, inFlight, confirmSoon } = parts
  const { organization_id, agent_id } = target
  policy.drop(target)
  if (target.what === 'reactivate') {
    // A reactivation is only accepted from the store: a forged message must not reactivate an agent.
    await verifyStates(parts, [[organization_id, agent_id]], (_pair, state) => {
      if (state === 'unreadable')
        throw new Error(`the record of agent ${agent_id} cannot be read by this version`)
    })
    return NONE_CUT
  }
  const { revision, killed_at } = target
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
