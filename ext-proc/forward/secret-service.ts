import { setImmediate as turn } from 'node:timers/promises'
import type { Authority } from '../../core/certificate/open-authority.ts'
import type { DeltaRequest } from '../envoy/delta-discovery.ts'
import { deltaSecrets, type ServerSecret } from '../envoy/delta-secrets.ts'
import { type DeltaStream, DeltaStreams } from '../envoy/delta-streams.ts'
import type { EnvoyStream } from '../envoy/start-server.ts'

export interface SecretServiceParts {
  /** @throws (rejects) while there is no CA that can be used */
  readonly authority: () => Promise<Authority>
  /** Wall clock. */
  readonly nowMs: () => number
  readonly log: Record<'warn' | 'error', (data: object, message: string) => void>
  /** Certificates that Envoy may hold from this process. */
  readonly names_max?: number
}

/** A stream of Envoy, on which it asks for one name, or several. */
interface OpenStream extends DeltaStream {
  readonly names: Map<string, HeldName>
  /** Of the last answer, and of the last one that Envoy has taken or refused. */
  nonce: number
  taken: number
  readonly waiting: Set<() => void>
}

interface HeldName {
  readonly at: OpenStream
  readonly name: string
  readonly since_ms: number
}

/** Envoy keeps about 47 kB for each name, and the same again in each of its threads' statistics. */
const NAMES_MAX = 1_000
/** Envoy asks for one name per stream. */
const NAMES_PER_STREAM_MAX = 16
const NAME_LENGTH_MAX = 254
/** A certificate is valid for seven days; a client may hold a connection and a clock that is behind. */
const RENEW_MS = 5 * 86_400_000
/** Envoy takes a certificate within milliseconds. */
const TAKEN_MAX_MS = 1_000

/**
 * Delta SDS: the certificates that Envoy presents inside tunnels, one for each host that a tunnel is opened to. Envoy 1.40 keeps
 * a name for ever once it has a certificate, so this end bounds them: beyond the limit the oldest name is withdrawn, and Envoy asks
 * again when it is needed.
 */
export class SecretService {
  readonly #parts: SecretServiceParts
  readonly #streams: DeltaStreams<DeltaRequest, OpenStream>
  /** Where each certificate is held, the oldest first; with more than one Envoy a name may be held more than once. */
  readonly #held = new Set<HeldName>()
  #minted = 0
  /** How often all certificates were issued again. */
  #generation = 0

  constructor(parts: SecretServiceParts) {
    this.#parts = parts
    this.#streams = new DeltaStreams({
      what: 'certificate',
      begin: (stream) => ({ stream, names: new Map(), nonce: 0, taken: 0, waiting: new Set() }),
      read: deltaSecrets.read,
      receive: (at, request) => this.#receive(at, request),
      ended: (at) => this.#letGo(at),
      log: parts.log,
    })
  }

  get handler(): (stream: EnvoyStream) => void {
    return this.#streams.handler
  }

  get counters(): { readonly minted: number; readonly names: number } {
    return { minted: this.#minted, names: this.#held.size }
  }

  /** Sends new certificates for those that end soon. */
  async renew(): Promise<void> {
    await this.#sendAgain(this.#parts.nowMs() - RENEW_MS)
  }

  /**
   * Sends new certificates for all, since the CA is another one. Envoy presents them from the next handshake on.
   * @throws (rejects) when there is no CA that can be used
   */
  async reissue(): Promise<void> {
    this.#generation++
    await this.#sendAgain(Number.POSITIVE_INFINITY)
  }

  /** Envoy presents none of them any more, and asks again for those that it needs. */
  withdraw(): void {
    for (const at of this.#streams) {
      const names = [...at.names.keys()]
      for (const name of names) this.#forget(at, name)
      if (names.length > 0) this.#write(at, [], names)
    }
  }

  /** Resolves when Envoy has taken all that was sent to it, or after a second. */
  async taken(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), TAKEN_MAX_MS)
    })
    const all = Promise.all([...this.#streams].map((at) => takenAt(at)))
    const outcome = await Promise.race([all, limit])
    clearTimeout(timer)
    if (outcome === 'late')
      this.#parts.log.warn({}, 'Envoy has not acknowledged all certificates in time')
  }

  /** Of all that were issued until then. Each takes half a millisecond, so calls and kills get their turn in between. */
  async #sendAgain(issued_until_ms: number): Promise<void> {
    for (const at of this.#streams) {
      const old = [...at.names.values()].filter(({ since_ms }) => since_ms <= issued_until_ms)
      if (old.length === 0) continue
      await this.#send(
        at,
        old.map(({ name }) => name),
      )
      await turn()
    }
  }

  stop(): void {
    this.#streams.stop()
  }

  async #receive(at: OpenStream, request: DeltaRequest): Promise<void> {
    const { subscribe, unsubscribe, problem, nonce } = request
    if (nonce !== null) {
      at.taken = Math.max(at.taken, nonce)
      wake(at)
    }
    if (problem !== null)
      this.#parts.log.warn({ problem: problem.slice(0, 200) }, 'Envoy refused a certificate')
    for (const name of unsubscribe) this.#forget(at, name)
    if (subscribe.length > 0) await this.#send(at, subscribe)
  }

  async #send(at: OpenStream, names: readonly string[]): Promise<void> {
    let generation: number
    let authority: Authority
    do {
      generation = this.#generation
      authority = await this.#parts.authority()
      // The CA was replaced meanwhile.
    } while (generation !== this.#generation)
    if (!this.#streams.isOpen(at)) return
    const now_ms = this.#parts.nowMs()
    const secrets: ServerSecret[] = []
    const removed: string[] = []
    for (const name of names) {
      const secret = this.#mint(authority, name, now_ms)
      this.#forget(at, name)
      if (secret === null || at.names.size >= NAMES_PER_STREAM_MAX) {
        removed.push(name)
        continue
      }
      secrets.push(secret)
      const held: HeldName = { at, name, since_ms: now_ms }
      at.names.set(name, held)
      this.#held.add(held)
    }
    this.#write(at, secrets, removed)
    this.#evict()
  }

  /** The name is a caller's; it is answered as it was asked, and the certificate has it in lower case. */
  #mint(authority: Authority, name: string, now_ms: number): ServerSecret | null {
    if (name.length > NAME_LENGTH_MAX) return null
    try {
      const { chain, key } = authority.issue(name.toLowerCase(), now_ms)
      this.#minted++
      return { name, version: String(this.#minted), chain, key }
    } catch {
      return null
    }
  }

  #evict(): void {
    const limit = this.#parts.names_max ?? NAMES_MAX
    for (const { at, name } of this.#held) {
      if (this.#held.size <= limit) return
      this.#forget(at, name)
      this.#write(at, [], [name])
    }
  }

  #write(at: OpenStream, secrets: readonly ServerSecret[], removed: readonly string[]): void {
    at.nonce++
    at.stream.write(deltaSecrets.write({ nonce: at.nonce, resources: secrets, removed }))
  }

  #forget(at: OpenStream, name: string): void {
    const held = at.names.get(name)
    if (held === undefined) return
    at.names.delete(name)
    this.#held.delete(held)
  }

  #letGo(at: OpenStream): void {
    for (const name of at.names.keys()) this.#forget(at, name)
    at.taken = Number.POSITIVE_INFINITY
    wake(at)
  }
}

/** When Envoy has taken, or refused, what was sent on the stream until now, or the stream has ended. */
async function takenAt(at: OpenStream): Promise<void> {
  const { nonce } = at
  while (at.taken < nonce) await new Promise<void>((resolve) => at.waiting.add(resolve))
}

function wake(at: OpenStream): void {
  for (const resolve of at.waiting) resolve()
  at.waiting.clear()
}
