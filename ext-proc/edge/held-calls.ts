/** A call whose stream this process holds, from the moment its agent is known until Envoy ends it. */
export interface HeldCall {
  readonly organization_id: string
  readonly agent_id: string
  /** Ends the call with an answer, or by cutting its response; false when it had its end already. */
  cut(why: Cut): boolean
  /** Resolves when Envoy has ended the stream. */
  readonly ended: Promise<void>
}

export type Cut =
  | { readonly reason: 'agent_killed'; readonly killed_at: string }
  | { readonly reason: 'gateway_unavailable' }

/** What became of the calls of one agent. */
export interface CutCounts {
  /** Calls that this cut has ended, as Envoy has confirmed. */
  readonly terminated: number
  readonly unconfirmed: number
}

export const NONE_CUT: CutCounts = { terminated: 0, unconfirmed: 0 }

/** Envoy ends a cut stream within a millisecond or so; one that takes longer is reported as unconfirmed. */
const END_WAIT_MS = 400

/** All calls in flight in this process, by agent. Bounded by Envoy's circuit breaker for ext_proc streams. */
export class HeldCalls {
  readonly #byAgent = new Map<string, Set<HeldCall>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(call: HeldCall): void {
    const key = keyOf(call.organization_id, call.agent_id)
    const calls = this.#byAgent.get(key)
    if (calls === undefined) this.#byAgent.set(key, new Set([call]))
    else calls.add(call)
    this.#size++
  }

  remove(call: HeldCall): void {
    const key = keyOf(call.organization_id, call.agent_id)
    const calls = this.#byAgent.get(key)
    if (calls === undefined || !calls.delete(call)) return
    if (calls.size === 0) this.#byAgent.delete(key)
    this.#size--
  }

  /** Agents with calls in flight, as pairs of organization and agent. */
  agents(): readonly (readonly [organization_id: string, agent_id: string])[] {
    return [...this.#byAgent.values()].flatMap((calls) => {
      const [first] = calls
      return first === undefined ? [] : [[first.organization_id, first.agent_id] as const]
    })
  }

  /**
   * Tells every call of an agent to end, at once; then counts those that Envoy has ended in time. A call that was told
   * before is waited for as well, and counted by whoever told it.
   */
  async cutAgent(organization_id: string, agent_id: string, why: Cut): Promise<CutCounts> {
    const calls = [...(this.#byAgent.get(keyOf(organization_id, agent_id)) ?? [])]
    if (calls.length === 0) return NONE_CUT
    let terminated = 0
    let ended = 0
    const ends = calls.map((call) => {
      const isOurs = call.cut(why)
      return call.ended.then(() => {
        ended++
        if (isOurs) terminated++
      })
    })
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_WAIT_MS)
    })
    await Promise.race([Promise.all(ends), limit])
    clearTimeout(timer)
    return { terminated, unconfirmed: calls.length - ended }
  }

  /** Cuts everything: this edge can vouch for nobody. */
  cutAll(why: Cut): void {
    for (const calls of this.#byAgent.values()) for (const call of calls) call.cut(why)
  }
}

const keyOf = (organization_id: string, agent_id: string): string =>
  `${organization_id} ${agent_id}`
