import type { Agent } from '../../core/model.ts'

/** What this edge knows of an agent's last kill or reactivation. */
export interface KillState {
  readonly revision: number
  /** Null: the agent was reactivated. */
  readonly killed_at: string | null
}

/** Agents that were ever killed or reactivated; far more than one installation has. */
const STATES_MAX = 200_000

/**
 * The live kill flags. Revisions only rise: neither a fill that races a kill, nor a store that lost it, brings an
 * agent back; only a reactivation, whose revision is higher, does (invariant 4).
 */
export class KillBoard {
  readonly #states = new Map<string, KillState>()
  readonly #onStale: (agent: Agent, known: KillState) => void

  /** `onStale` is told of an agent that the store holds with a lower revision than this edge has seen. */
  constructor(onStale: (agent: Agent, known: KillState) => void) {
    this.#onStale = onStale
  }

  /** When the agent was killed; null when it may act. */
  killedAt(organization_id: string, agent_id: string): string | null {
    return this.#states.get(keyOf(organization_id, agent_id))?.killed_at ?? null
  }

  /** A message or a read says so; a lower revision than the known one changes nothing. Answers whether it was taken. */
  learn(organization_id: string, agent_id: string, state: KillState): boolean {
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known !== undefined && known.revision >= state.revision) return false
    if (known === undefined) this.#makeRoom()
    this.#states.set(key, state)
    return true
  }

  /** Compares what the store holds with what is known, and learns from it when it is newer. */
  learnStored(agent: Agent): void {
    const known = this.#states.get(keyOf(agent.organization_id, agent.agent_id))
    if (known !== undefined && known.revision > agent.revision) {
      this.#onStale(agent, known)
      return
    }
    if (agent.revision > 0 || agent.status === 'killed') {
      const killed_at = agent.status === 'killed' ? (agent.killed_at ?? agent.created_at) : null
      this.#states.set(keyOf(agent.organization_id, agent.agent_id), {
        revision: agent.revision,
        killed_at,
      })
    }
  }

  /** Takes back a kill that the store does not confirm: the message was forged or overtaken. */
  lift(organization_id: string, agent_id: string, stored: KillState): void {
    this.#states.set(keyOf(organization_id, agent_id), stored)
  }

  known(organization_id: string, agent_id: string): KillState | undefined {
    return this.#states.get(keyOf(organization_id, agent_id))
  }

  /** Only reactivated agents are forgotten: to forget one that is killed would be to switch it on. */
  #makeRoom(): void {
    if (this.#states.size < STATES_MAX) return
    for (const [key, state] of this.#states) {
      if (state.killed_at === null) {
        this.#states.delete(key)
        return
      }
    }
  }
}

const keyOf = (organization_id: string, agent_id: string): string =>
  `${organization_id} ${agent_id}`
