/** A call whose stream this process holds, from the moment its agent is known until Envoy ends it. */
export interface HeldCall {
  readonly organization_id: string
  readonly agent_id: string
  /** Ends the call with an answer, or by cutting its response. */
  cut(why: Cut): void
  /** Resolves when Envoy has ended the stream. */
  readonly ended: Promise<void>
}

export type Cut =
  | { readonly reason: 'agent_killed'; readonly killed_at: string }
  | { readonly reason: 'gateway_unavailable' }

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

  /** Tells every call of an agent to end, at once; then counts those that Envoy has ended in time. */
  async cutAgent(
    organization_id: string,
    agent_id: string,
    why: Cut,
  ): Promise<{ readonly terminated: number; readonly unconfirmed: number }> {
    const calls = [...(this.#byAgent.get(keyOf(organization_id, agent_id)) ?? [])]
    if (calls.length === 0) return { terminated: 0, unconfirmed: 0 }
    for (const call of calls) call.cut(why)
    let terminated = 0
    const all = Promise.all(calls.map((call) => call.ended.then(() => terminated++)))
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_WAIT_MS)
    })
    await Promise.race([all, limit])
    clearTimeout(timer)
    return { terminated, unconfirmed: calls.length - terminated }
  }

  /** Cuts everything: this edge can vouch for nobody. */
  cutAll(why: Cut): void {
    for (const calls of [...this.#byAgent.values()]) for (const call of [...calls]) call.cut(why)
  }
}

const keyOf = (organization_id: string, agent_id: string): string =>
  `${organization_id} ${agent_id}`
