import type { ControlTarget } from '../../core/control/control-message.ts'
import type { HeldCalls } from './held-calls.ts'
import type { KillBoard, KillState } from './kill-board.ts'
import type { PolicyStore } from './policy-store.ts'

interface Parts {
  readonly policy: PolicyStore
  readonly killBoard: KillBoard
  readonly held: HeldCalls
}

/**
 * Puts a kill or a reactivation in force. A message is a hint: a kill cuts at once, and a read of the store then
 * confirms or lifts it, so that a forged one does not stick (threats.md 20). Answers the calls that were ended.
 */
export async function enforceKill(
  { policy, killBoard, held }: Parts,
  target: Extract<ControlTarget, { what: 'kill' | 'reactivate' }>,
): Promise<{ readonly terminated: number; readonly unconfirmed: number }> {
  const { organization_id, agent_id, revision } = target
  policy.drop(target)
  const before = killBoard.known(organization_id, agent_id)
  if (target.what === 'reactivate') {
    // Learnt from the store alone: a forged message must not bring an agent back.
    await policy.agent(organization_id, agent_id)
    return { terminated: 0, unconfirmed: 0 }
  }
  const state: KillState = { revision, killed_at: target.killed_at }
  const isNews = killBoard.learn(organization_id, agent_id, state)
  const cut = held.cutAgent(organization_id, agent_id, {
    reason: 'agent_killed',
    killed_at: target.killed_at,
  })
  if (isNews) confirm({ policy, killBoard, held }, target, before)
  return cut
}

/** In the background: the acknowledgement does not wait for it, since until then the kill holds. */
function confirm(
  { policy, killBoard }: Parts,
  { organization_id, agent_id, revision }: Extract<ControlTarget, { what: 'kill' | 'reactivate' }>,
  before: KillState | undefined,
): void {
  Promise.resolve(policy.agent(organization_id, agent_id)).then(
    ({ agent }) => {
      const known = killBoard.known(organization_id, agent_id)
      const isForged =
        agent !== null &&
        known?.revision === revision &&
        agent.revision < revision &&
        agent.revision >= (before?.revision ?? 0)
      if (isForged) {
        const killed_at = agent.status === 'killed' ? agent.killed_at : null
        killBoard.lift(organization_id, agent_id, { revision: agent.revision, killed_at })
      }
    },
    () => undefined,
  )
}
