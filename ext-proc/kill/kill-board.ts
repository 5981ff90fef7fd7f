import { storedKilledAt } from '../../core/decision/stored-killed-at.ts'
import type { Agent } from '../../core/model.ts'

/** What this edge knows about an agent's last kill or reactivation. */
export interface KillState {
  readonly revision: number
  /** Null: the agent was reactivated. */
  readonly killed_at: string | null
  readonly kill_reason: string | null
  /** The reactivation left the old keys revoked. */
  readonly keys_replaced: boolean
  /** Seen in the store. A state known only from a message is in force too, until a read of the store confirms or lifts it. */
  readonly is_confirmed: boolean
}

/** A confirmed state that the store no longer has. */
export interface AgentKillState extends KillState {
  readonly organization_id: string
  readonly agent_id: string
}

interface Entry extends KillState {
  /** When the message was received or the state was read from the store, on this board's logical clock. */
  readonly received: number
  /** The state in the store before the message. */
  readonly before: KillState | null
}

/** Agents that were ever killed or reactivated; far more than a deployment has. */
const STATES_MAX = 200_000
/** How many entries are examined to find one that can be evicted. */
const FORGET_SEARCH_MAX = 100

/**
 * The live kill flags. Revisions only increase: neither a fill that races with a kill nor a store that lost it reactivates an
 * agent; only a reactivation, which has a higher revision, does (invariant 4).
 */
export class KillBoard {
  readonly #states = new Map<string, Entry>()
  readonly #onLost: (lost: AgentKillState) => void
  #moment = 0

  /**
   * `onLost` is called for each read that finds an older state in the store than this edge has seen there before. This also
   * happens for a killed agent that was deleted.
   */
  constructor(onLost: (lost: AgentKillState) => void) {
    this.#onLost = onLost
  }

  /** When the agent was killed; null if it is active. */
  killedAt(organization_id: string, agent_id: string): string | null {
    return this.#states.get(keyOf(organization_id, agent_id))?.killed_at ?? null
  }

  known(organization_id: string, agent_id: string): KillState | undefined {
    return this.#states.get(keyOf(organization_id, agent_id))
  }

  /** Take this before reading the store, and pass it on with the result of the read. */
  moment(): number {
    return this.#moment
  }

  /**
   * A message reports a kill. The agent counts as killed until a read that starts later shows otherwise. `outdated`: a later
   * reactivation is known from the store.
   */
  receive(
    organization_id: string,
    agent_id: string,
    { revision, killed_at }: { readonly revision: number; readonly killed_at: string },
  ): 'news' | 'known' | 'outdated' {
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known !== undefined && known.revision >= revision)
      return known.killed_at === null ? 'outdated' : 'known'
    const before = known === undefined || known.is_confirmed ? (known ?? null) : known.before
    const received = ++this.#moment
    const said = { revision, killed_at, kill_reason: null, keys_replaced: false }
    this.#set(key, { ...said, is_confirmed: false, received, before })
    return 'news'
  }

  /** Applies the result of a read of the store that started at `since`. */
  learnStored(agent: Agent, since: number): void {
    const { organization_id, agent_id, revision } = agent
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known === undefined || revision >= known.revision) {
      const isNews = known === undefined || !known.is_confirmed || revision > known.revision
      if (isNews && (revision > 0 || agent.status === 'killed')) this.#confirm(key, stateOf(agent))
      return
    }
    // A read that started before this was received or confirmed cannot contain it.
    if (since < known.received) return
    const { before } = known
    if (!known.is_confirmed && (before === null || before.revision <= revision)) {
      this.#confirm(key, stateOf(agent))
      return
    }
    const lost = known.is_confirmed || before === null ? known : before
    if (!known.is_confirmed) this.#confirm(key, lost)
    this.#onLost({ ...lost, organization_id, agent_id })
  }

  /** A read that started at `since` did not find the agent: it was deleted, or the store has lost it. */
  learnAbsent(organization_id: string, agent_id: string, since: number): void {
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known === undefined || since < known.received) return
    if (!known.is_confirmed) this.#states.delete(key)
    else if (known.killed_at !== null) this.#onLost({ ...known, organization_id, agent_id })
  }

  /** Agents whose kill is known only from messages, as pairs of organization and agent. */
  toConfirm(): readonly (readonly [organization_id: string, agent_id: string])[] {
    return this.#pairs((state) => !state.is_confirmed)
  }

  /** Agents that were ever killed or reactivated, as far as this edge knows. */
  all(): readonly (readonly [organization_id: string, agent_id: string])[] {
    return this.#pairs(() => true)
  }

  #pairs(matches: (state: KillState) => boolean): (readonly [string, string])[] {
    const pairs: (readonly [string, string])[] = []
    for (const [key, state] of this.#states) {
      if (!matches(state)) continue
      const space = key.indexOf(' ')
      pairs.push([key.slice(0, space), key.slice(space + 1)])
    }
    return pairs
  }

  #confirm(key: string, state: KillState): void {
    this.#set(key, { ...state, received: ++this.#moment, before: null })
  }

  #set(key: string, state: Entry): void {
    if (!this.#states.has(key)) this.#makeRoom()
    this.#states.set(key, state)
  }

  /**
   * Confirmed states are in the store, which is read again when the agent calls, so evicting one only forgets that the store
   * had it. Active agents are evicted first; states known only from a message are kept.
   */
  #makeRoom(): void {
    if (this.#states.size < STATES_MAX) return
    let seen = 0
    let fallback: string | null = null
    for (const [key, state] of this.#states) {
      if (state.is_confirmed && state.killed_at === null) {
        this.#states.delete(key)
        return
      }
      if (state.is_confirmed) fallback ??= key
      if (++seen >= FORGET_SEARCH_MAX) break
    }
    const [oldest] = this.#states.keys()
    const forgotten = fallback ?? oldest
    if (forgotten !== undefined) this.#states.delete(forgotten)
  }
}

const stateOf = (agent: Agent): KillState => ({
  revision: agent.revision,
  killed_at: storedKilledAt(agent),
  kill_reason: agent.kill_reason,
  keys_replaced: agent.keys_replaced === true,
  is_confirmed: true,
})

const keyOf = (organization_id: string, agent_id: string): string =>
  `${organization_id} ${agent_id}`
