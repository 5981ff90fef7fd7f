import { storedKilledAt } from '../../core/decision/stored-killed-at.ts'
import type { Agent } from '../../core/model.ts'

/** What this edge knows of an agent's last kill or reactivation. */
export interface KillState {
  readonly revision: number
  /** Null: the agent was reactivated. */
  readonly killed_at: string | null
  readonly kill_reason: string | null
  /** The reactivation left the old keys revoked. */
  readonly keys_replaced: boolean
  /** Seen in the store. What only a message has said is in force too, until a read of the store confirms or lifts it. */
  readonly is_confirmed: boolean
}

/** A confirmed state that the store no longer has. */
export interface AgentKillState extends KillState {
  readonly organization_id: string
  readonly agent_id: string
}

interface Entry extends KillState {
  /** When the message was heard, or the store was seen to have it, in the order of this board's moments. */
  readonly heard: number
  /** What the store said before the message. */
  readonly before: KillState | null
}

/** Agents that were ever killed or reactivated; far more than one installation has. */
const STATES_MAX = 200_000
/** How many entries are looked at for one that may be forgotten. */
const FORGET_SEARCH_MAX = 100

/**
 * The live kill flags. Revisions only rise: neither a fill that races a kill, nor a store that lost it, brings an
 * agent back; only a reactivation, whose revision is higher, does (invariant 4).
 */
export class KillBoard {
  readonly #states = new Map<string, Entry>()
  readonly #onLost: (lost: AgentKillState) => void
  #moment = 0

  /**
   * `onLost` is told of each read in which the store had less than this edge has seen there before, which it has of a
   * killed agent that was deleted, too.
   */
  constructor(onLost: (lost: AgentKillState) => void) {
    this.#onLost = onLost
  }

  /** When the agent was killed; null when it may act. */
  killedAt(organization_id: string, agent_id: string): string | null {
    return this.#states.get(keyOf(organization_id, agent_id))?.killed_at ?? null
  }

  known(organization_id: string, agent_id: string): KillState | undefined {
    return this.#states.get(keyOf(organization_id, agent_id))
  }

  /** To be taken before a read of the store, and given to what learns from the read. */
  moment(): number {
    return this.#moment
  }

  /**
   * A message says that the agent was killed; it is killed from now on, until a read that begins later says otherwise.
   * `outdated`: a later reactivation is known from the store.
   */
  hear(
    organization_id: string,
    agent_id: string,
    { revision, killed_at }: { readonly revision: number; readonly killed_at: string },
  ): 'news' | 'known' | 'outdated' {
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known !== undefined && known.revision >= revision)
      return known.killed_at === null ? 'outdated' : 'known'
    const before = known === undefined || known.is_confirmed ? (known ?? null) : known.before
    const heard = ++this.#moment
    const said = { revision, killed_at, kill_reason: null, keys_replaced: false }
    this.#set(key, { ...said, is_confirmed: false, heard, before })
    return 'news'
  }

  /** What a read of the store says that began at `since`. */
  learnStored(agent: Agent, since: number): void {
    const { organization_id, agent_id, revision } = agent
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known === undefined || revision >= known.revision) {
      const isNews = known === undefined || !known.is_confirmed || revision > known.revision
      if (isNews && (revision > 0 || agent.status === 'killed')) this.#confirm(key, stateOf(agent))
      return
    }
    // A read that began before this was heard or confirmed cannot know of it.
    if (since < known.heard) return
    const { before } = known
    if (!known.is_confirmed && (before === null || before.revision <= revision)) {
      this.#confirm(key, stateOf(agent))
      return
    }
    const lost = known.is_confirmed || before === null ? known : before
    if (!known.is_confirmed) this.#confirm(key, lost)
    this.#onLost({ ...lost, organization_id, agent_id })
  }

  /** A read that began at `since` found no such agent: it was deleted, or the store has lost it. */
  learnAbsent(organization_id: string, agent_id: string, since: number): void {
    const key = keyOf(organization_id, agent_id)
    const known = this.#states.get(key)
    if (known === undefined || since < known.heard) return
    if (!known.is_confirmed) this.#states.delete(key)
    else if (known.killed_at !== null) this.#onLost({ ...known, organization_id, agent_id })
  }

  /** Agents whose kill is known from messages alone, as pairs of organization and agent. */
  unconfirmed(): readonly (readonly [organization_id: string, agent_id: string])[] {
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
    this.#set(key, { ...state, heard: ++this.#moment, before: null })
  }

  #set(key: string, state: Entry): void {
    if (!this.#states.has(key)) this.#makeRoom()
    this.#states.set(key, state)
  }

  /**
   * The store has what is confirmed, and is asked again when the agent calls; forgotten is only that the store had it.
   * Active agents go first, and what only a message has said stays.
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
