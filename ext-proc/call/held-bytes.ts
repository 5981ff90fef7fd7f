export interface HeldBytesLimits {
  readonly per_agent: number
  readonly per_organization: number
  /** How long a body may take to arrive. */
  readonly timeout_ms: number
}

/**
 * The bytes of request bodies that Envoy holds for decisions of this process, by agent and by organization, so that none of them
 * can fill Envoy's memory with slow uploads. A body counts from the moment it is asked for until the call is decided.
 */
export class HeldBytes {
  readonly #limits: HeldBytesLimits
  readonly #held = new Map<string, number>()

  constructor(limits: HeldBytesLimits) {
    this.#limits = limits
  }

  /**
   * Null if the owner has too much already. One body is always allowed, or the largest could never be sent.
   * @param agent_id empty while it is not known; then only the organization counts
   * @param bytes the declared length, or the limit if there is none
   * @returns releases the bytes, once
   */
  take(organization_id: string, agent_id: string, bytes: number): (() => void) | null {
    const { per_agent, per_organization } = this.#limits
    const agent = `${organization_id} ${agent_id}`
    if (!this.#hasRoom(organization_id, bytes, per_organization)) return null
    if (agent_id !== '' && !this.#hasRoom(agent, bytes, per_agent)) return null
    const owners = agent_id === '' ? [organization_id] : [organization_id, agent]
    for (const owner of owners) this.#add(owner, bytes)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      for (const owner of owners) this.#add(owner, -bytes)
    }
  }

  get timeout_ms(): number {
    return this.#limits.timeout_ms
  }

  /** Owners with bytes. */
  get size(): number {
    return this.#held.size
  }

  #hasRoom(owner: string, bytes: number, limit: number): boolean {
    const held = this.#held.get(owner) ?? 0
    return held === 0 || held + bytes <= limit
  }

  #add(owner: string, bytes: number): void {
    const held = (this.#held.get(owner) ?? 0) + bytes
    if (held > 0) this.#held.set(owner, held)
    else this.#held.delete(owner)
  }
}
