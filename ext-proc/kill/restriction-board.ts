import { storedKilledAt } from '../../core/decision/stored-killed-at.ts'
import { type Agent, EVERYWHERE, type Lock } from '../../core/catalogue/model.ts'
import { compileLocks, type LockTable } from '../../core/decision/locks.ts'
import { type State, StateLedger } from './state-ledger.ts'

/** What this edge knows about an agent's last kill or reactivation. */
export interface KillState extends State {
  /** Null: the agent was reactivated. */
  readonly killed_at: string | null
  readonly kill_reason: string | null
  /** The reactivation left the old keys revoked. */
  readonly keys_replaced: boolean
}

/** A confirmed state that the store no longer has. */
export interface AgentKillState extends KillState {
  readonly organization_id: string
  readonly agent_id: string
}

/** A lock, or that it was lifted: then it is null. An id is never given again. */
interface LockState extends State {
  readonly lock: Lock | null
}

const CREATED = 1
const LIFTED = 2

type AgentPair = readonly [organization_id: string, agent_id: string]
type LockPair = readonly [organization_id: string, lock_id: string]

interface Lost {
  readonly kill: (lost: AgentKillState) => void
  readonly lock: (lost: Lock) => void
}

/**
 * What may not be done, live: killed agents and locks. Both follow the rules of `StateLedger`. The kill of an agent is read with the
 * agent; locks are read with the integrations of their organization, and are kept until they are lifted.
 */
export class RestrictionBoard {
  readonly #kills: StateLedger<KillState>
  readonly #locks: StateLedger<LockState>
  /** By the organization that they concern, in force or not yet over. */
  readonly #byOrganization = new Map<string, Map<string, Lock>>()
  readonly #tables = new Map<string, LockTable>()

  /** `onLost` also happens for a killed agent that was deleted. */
  constructor(onLost: ((lost: AgentKillState) => void) | Lost) {
    const lost = typeof onLost === 'function' ? { kill: onLost, lock: () => undefined } : onLost
    this.#kills = new StateLedger<KillState>({
      isOn: ({ killed_at }) => killed_at !== null,
      mayForget: true,
      onLost: (key, state) => {
        const [organization_id, agent_id] = pairOf(key)
        lost.kill({ ...state, organization_id, agent_id })
      },
    })
    this.#locks = new StateLedger<LockState>({
      isOn: ({ lock }) => lock !== null,
      mayForget: false,
      onChange: (key, state) => this.#index(key, state?.lock ?? null),
      // Where the store has lost that a lock was lifted, it is in force until it is lifted again.
      yields: ({ lock }) => lock === null,
      onLost: (_key, { lock }) => {
        if (lock !== null) lost.lock(lock)
      },
    })
  }

  /** When the agent was killed; null if it is active. */
  killedAt(organization_id: string, agent_id: string): string | null {
    return this.#kills.get(keyOf(organization_id, agent_id))?.killed_at ?? null
  }

  known(organization_id: string, agent_id: string): KillState | undefined {
    return this.#kills.get(keyOf(organization_id, agent_id))
  }

  /** All locks that may concern calls of an organization; null if there are none. */
  locksOf(organization_id: string): LockTable | null {
    if (this.#byOrganization.size === 0) return null
    const own = this.#byOrganization.get(organization_id)
    const everywhere = this.#byOrganization.get(EVERYWHERE)
    if (own === undefined && everywhere === undefined) return null
    const name = own === undefined ? EVERYWHERE : organization_id
    let table = this.#tables.get(name)
    if (table === undefined) {
      table = compileLocks([...(own?.values() ?? []), ...(everywhere?.values() ?? [])])
      this.#tables.set(name, table)
    }
    return table
  }

  hasLock({ organization_id, lock_id }: Lock): boolean {
    return this.#byOrganization.get(organization_id)?.has(lock_id) === true
  }

  /** Take this before reading the store, and pass it on with the result of the read. */
  moment(): number {
    return this.#kills.moment()
  }

  lockMoment(): number {
    return this.#locks.moment()
  }

  /** A message reports a kill. `outdated`: a later reactivation is known from the store. */
  receive(
    organization_id: string,
    agent_id: string,
    { revision, killed_at }: { readonly revision: number; readonly killed_at: string },
  ): 'news' | 'known' | 'outdated' {
    return this.#kills.receive(keyOf(organization_id, agent_id), {
      revision,
      killed_at,
      kill_reason: null,
      keys_replaced: false,
      is_confirmed: false,
    })
  }

  /** A message reports a lock. `outdated`: it was lifted. */
  receiveLock(lock: Lock): 'news' | 'known' | 'outdated' {
    const state = { revision: CREATED, lock, is_confirmed: false }
    return this.#locks.receive(keyOf(lock.organization_id, lock.lock_id), state)
  }

  /** Applies the result of a read of the store that started at `since`. */
  learnStored(agent: Agent, since: number): void {
    const { organization_id, agent_id, revision } = agent
    const isKept = revision > 0 || agent.status === 'killed'
    this.#kills.learn(keyOf(organization_id, agent_id), stateOf(agent), since, isKept)
  }

  /** A read that started at `since` did not find the agent: it was deleted, or the store has lost it. */
  learnAbsent(organization_id: string, agent_id: string, since: number): void {
    this.#kills.learnAbsent(keyOf(organization_id, agent_id), since)
  }

  /** A read that started at `since`, a `lockMoment`, has found a lock, or that it was lifted. */
  learnLock(organization_id: string, lock_id: string, lock: Lock | 'lifted', since: number): void {
    const state = lock === 'lifted' ? { revision: LIFTED, lock: null } : { revision: CREATED, lock }
    this.#locks.learn(keyOf(organization_id, lock_id), { ...state, is_confirmed: true }, since)
  }

  /** It did not find a lock of which it knows no end. */
  learnNoLock(organization_id: string, lock_id: string, since: number): void {
    this.#locks.learnAbsent(keyOf(organization_id, lock_id), since)
  }

  /** The store has lost it and must not get it back, since it was over, or with its organization. */
  forgetLock({ organization_id, lock_id }: Pick<Lock, 'organization_id' | 'lock_id'>): void {
    this.#locks.forget(keyOf(organization_id, lock_id))
  }

  /** Agents whose kill is known only from messages, as pairs of organization and agent. */
  toConfirm(): readonly AgentPair[] {
    return this.#kills.keys(({ is_confirmed }) => !is_confirmed).map(pairOf)
  }

  locksToConfirm(): readonly LockPair[] {
    return this.#locks.keys(({ is_confirmed }) => !is_confirmed).map(pairOf)
  }

  /** Agents that were ever killed or reactivated, as far as this edge knows. */
  all(): readonly AgentPair[] {
    return this.#kills.keys(() => true).map(pairOf)
  }

  allLocks(): readonly LockPair[] {
    return this.#locks.keys(() => true).map(pairOf)
  }

  #index(key: string, lock: Lock | null): void {
    const [organization_id, lock_id] = pairOf(key)
    const own = this.#byOrganization.get(organization_id) ?? new Map<string, Lock>()
    if (lock === null) own.delete(lock_id)
    else own.set(lock_id, lock)
    if (own.size === 0) this.#byOrganization.delete(organization_id)
    else this.#byOrganization.set(organization_id, own)
    if (organization_id === EVERYWHERE) this.#tables.clear()
    else this.#tables.delete(organization_id)
  }
}

const stateOf = (agent: Agent): KillState => ({
  revision: agent.revision,
  killed_at: storedKilledAt(agent),
  kill_reason: agent.kill_reason,
  keys_replaced: agent.keys_replaced === true,
  is_confirmed: true,
})

const keyOf = (organization_id: string, id: string): string => `${organization_id} ${id}`

function pairOf(key: string): readonly [string, string] {
  const space = key.indexOf(' ')
  return [key.slice(0, space), key.slice(space + 1)]
}
