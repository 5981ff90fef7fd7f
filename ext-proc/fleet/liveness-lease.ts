type Proof = 'beacon' | 'ping' | 'beat'

/**
 * Whether this edge may serve: only while it can prove that it receives kills (invariant 3; threat model, rules 18 and 20).
 * Three proofs renew the lease, and the oldest of them counts: (1) a beacon of the elected process was received on the
 * subscription (messages still arrive); (2) a ping sent on the subscription was answered (nothing older than the ping is in
 * transit); (3) a heartbeat was written to the store (a kill waits for this edge). Ping and heartbeat count from the time they
 * were sent, so the publisher of a kill can determine from its own clock when an edge that has not acknowledged has stopped.
 */
export class LivenessLease {
  readonly #lease_ms: number
  readonly #nowMs: () => number
  #regaining: { readonly over: Promise<void>; readonly end: () => void } | null = null
  readonly #proofs: Record<Proof, number> = {
    beacon: Number.NEGATIVE_INFINITY,
    ping: Number.NEGATIVE_INFINITY,
    beat: Number.NEGATIVE_INFINITY,
  }

  /** `nowMs` is monotonic. */
  constructor(lease_ms: number, nowMs: () => number) {
    this.#lease_ms = lease_ms
    this.#nowMs = nowMs
  }

  prove(proof: Proof, at_ms: number): void {
    this.#proofs[proof] = Math.max(this.#proofs[proof], at_ms)
    if (this.#regaining !== null && this.isHeld) this.#regaining.end()
  }

  /** Until the next proofs arrive, this edge refuses all calls. */
  revoke(): void {
    this.#proofs.beacon = this.#proofs.ping = this.#proofs.beat = Number.NEGATIVE_INFINITY
  }

  /** Revokes it after a pause of this process. The next proofs are on their way, and calls may wait for them, for so long at most. */
  doubt(limit_ms: number): void {
    this.revoke()
    if (this.#regaining !== null) return
    let end: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), limit_ms)
      end = () => {
        clearTimeout(timer)
        this.#regaining = null
        resolve()
      }
    })
    this.#regaining = { over, end }
  }

  /** While it is in doubt: resolves when it is held again, or was waited for long enough. */
  get regained(): Promise<void> | null {
    return this.#regaining?.over ?? null
  }

  get left_ms(): number {
    const { beacon, ping, beat } = this.#proofs
    return Math.min(beacon, ping, beat) + this.#lease_ms - this.#nowMs()
  }

  get isHeld(): boolean {
    return this.left_ms > 0
  }

  /** What is missing while it is not held: a beacon or ping on the subscription, or a heartbeat. */
  get missing(): readonly string[] {
    const since_ms = this.#nowMs() - this.#lease_ms
    return Object.entries(this.#proofs).flatMap(([proof, at_ms]) =>
      at_ms <= since_ms ? [proof] : [],
    )
  }
}
