import type { ControlTarget } from '../../core/control/control-message.ts'
import { type CutCounts, type HeldCalls, NONE_CUT } from './held-calls.ts'
import type { KillBoard } from './kill-board.ts'
import type { PolicyStore } from '../policy/policy-store.ts'

export interface EnforceParts {
  readonly policy: PolicyStore
  readonly killBoard: KillBoard
  readonly held: HeldCalls
  /** Has kills that were heard compared with the store, soon. */
  readonly confirmSoon: () => void
}

export type KillTarget = Extract<ControlTarget, { what: 'kill' | 'reactivate' }>

/**
 * Puts a kill or a reactivation in force. A message is a hint: a kill cuts at once, and a read of the store then
 * confirms or lifts it, so that a forged one does not stick (threat model, rule 20). Answers the calls that were ended.
 * @throws (rejects) when the store cannot be read for a reactivation
 */
export async function enforceKill(parts: EnforceParts, target: KillTarget): Promise<CutCounts> {
  const { policy, killBoard, held, confirmSoon } = parts
  const { organization_id, agent_id } = target
  policy.drop(target)
  if (target.what === 'reactivate') {
    // Learnt from the store alone: a forged message must not bring an agent back.
    await policy.agent(organization_id, agent_id)
    return NONE_CUT
  }
  const { revision, killed_at } = target
  const heard = killBoard.hear(organization_id, agent_id, { revision, killed_at })
  // Calls that came after a reactivation are not what an older kill is about.
  const cut =
    heard === 'outdated'
      ? NONE_CUT
      : held.cutAgent(organization_id, agent_id, { reason: 'agent_killed', killed_at })
  // The acknowledgement does not wait for it, since until then the kill holds.
  if (heard === 'news') confirmSoon()
  return cut
}
