/** What is known of one restriction: of an agent's kill, or of a lock. */
export interface State {
  /** Increases with every change. */
  readonly revision: number
  /** Seen in the store. A state known only from a message is in force too, until a read of the store confirms or lifts it. */
  readonly is_confirmed: boolean
}

interface Entry<S> {
  readonly state: S
  /** When the message was received or the state was read from the store, on the logical clock. */
  readonly received: number
  /** The state in the store before the message. */
  readonly before: S | null
}

/** Restrictions that ever were; far more than a deployment has. */
const STATES_MAX = 200_000
/** How many entries are examined to find one that can be evicted. */
const FORGET_SEARCH_MAX = 100

interface Rules<S> {
  /** Whether it restricts. */
  readonly isOn: (state: S) => boolean
  /** Whether the store is read again before a call needs it, so that it can be evicted while it restricts. */
  readonly mayForget: boolean
  /** Whether the store is right where it has an older state. */
  readonly yields?: (state: S) => boolean
  /** Called when a state changes; undefined: it was forgotten. */
  readonly onChange?: (key: string, state: S | undefined) => void
  /** Called for each read that finds an older state in the store than this edge has seen there before, or none. */
  readonly onLost: (key: string, lost: S) => void
}

/**
 * States by their names. Revisions only increase: neither a read that races with a change nor a store that has lost it lifts a
 * restriction; only a state with a higher revision does (invariant 4).
 */
export class StateLedger<S extends State> {
  readonly #states = new Map<string, Entry<S>>()
  readonly #rules: Rules<S>
  #moment = 0

  constructor(rules: Rules<S>) {
    this.#rules = rules
  }

  get(key: string): S | undefined {
    return this.#states.get(key)?.state
  }

  /** Take this before reading the store, and pass it on with the result of the read. */
  moment(): number {
    return this.#moment
  }

  /**
   * A message reports a restriction. It counts until a read that starts later shows otherwise. `outdated`: its end is known from the
   * store.
   */
  receive(key: string, said: S): 'news' | 'known' | 'outdated' {
    const known = this.#states.get(key)
    if (known !== undefined && known.state.revision >= said.revision)
      return this.#rules.isOn(known.state) ? 'known' : 'outdated'
    const before = known === undefined || known.state.is_confirmed ? known?.state : known.before
    this.#set(key, { state: said, received: ++this.#moment, before: before ?? null })
    return 'news'
  }

  /** Applies the result of a read of the store that started at `since`. @param isKept whether there is anything to remember */
  learn(key: string, found: S, since: number, isKept = true): void {
    const known = this.#states.get(key)
    if (known === undefined || found.revision >= known.state.revision) {
      const isNews =
        known === undefined || !known.state.is_confirmed || found.revision > known.state.revision
      if (isNews && isKept) this.#confirm(key, found)
      return
    }
    // A read that started before this was received or confirmed cannot contain it.
    if (since < known.received) return
    const { before, state } = known
    if (this.#rules.yields?.(state)) return this.#confirm(key, found)
    if (!state.is_confirmed && (before === null || before.revision <= found.revision)) {
      this.#confirm(key, found)
      return
    }
    const lost = state.is_confirmed || before === null ? state : before
    if (!state.is_confirmed) this.#confirm(key, lost)
    this.#rules.onLost(key, lost)
  }

  /** A read that started at `since` did not find it. */
  learnAbsent(key: string, since: number): void {
    const known = this.#states.get(key)
    if (known === undefined || since < known.received) return
    if (!known.state.is_confirmed) this.forget(key)
    else if (this.#rules.isOn(known.state)) this.#rules.onLost(key, known.state)
  }

  keys(matches: (state: S) => boolean): readonly string[] {
    const keys: string[] = []
    for (const [key, { state }] of this.#states) if (matches(state)) keys.push(key)
    return keys
  }

  forget(key: string): void {
    if (this.#states.delete(key)) this.#rules.onChange?.(key, undefined)
  }

  #confirm(key: string, state: S): void {
    this.#set(key, { state, received: ++this.#moment, before: null })
  }

  #set(key: string, entry: Entry<S>): void {
    if (!this.#states.has(key)) this.#makeRoom()
    this.#states.set(key, entry)
    this.#rules.onChange?.(key, entry.state)
  }

  /**
   * Confirmed states are in the store, so evicting one only forgets that the store had it. Those that do not restrict are evicted
   * first; states known only from a message are kept, and those that are not read again.
   */
  #makeRoom(): void {
    if (this.#states.size < STATES_MAX) return
    const { isOn, mayForget } = this.#rules
    let seen = 0
    let fallback: string | null = null
    for (const [key, { state }] of this.#states) {
      if (state.is_confirmed && !isOn(state)) return this.forget(key)
      if (state.is_confirmed) fallback ??= key
      if (++seen >= FORGET_SEARCH_MAX && mayForget) break
    }
    if (!mayForget) return
    const [oldest] = this.#states.keys()
    const forgotten = fallback ?? oldest
    if (forgotten !== undefined) this.forget(forgotten)
  }
}
