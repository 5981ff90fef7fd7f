import type { Header } from '../../core/request/header.ts'
import { BODY_MODE, type ModeOverride, writeChunk, writePass } from '../envoy/write-response.ts'
import { headerChanges } from '../response/header-changes.ts'
import type { Denial } from '../verdict/denial.ts'
import {
  headerOf,
  type HeadersVerdict,
  type ResponseInspector,
} from '../verdict/response-inspector.ts'
import { openFlow, type SocketFlow } from './socket-flow.ts'
import type { SocketPlan, SocketSide } from '../verdict/socket-plan.ts'

export interface SocketIo {
  /** Sends an answer to Envoy, unless the call has been ended. */
  write(bytes: Buffer): void
  /** Ends the call in place of the handshake's response. */
  refuse(denial: Denial): Promise<void>
  /** Logs why the socket is closed; resolves when the entry is in the log. What is written from then on says so. */
  closing(denial: Denial): Promise<void>
  /** Ends a call that `closing` has logged. */
  end(): void
  fail(error: unknown): void
  /** Counts bytes that are held for a message; null if the owner has too many already. */
  hold(bytes: number): (() => void) | null
}

/** While the handshake of a WebSocket is sent, and once it is open. */
export const CLIENT_STREAMED: ModeOverride = {
  request_body: BODY_MODE.streamed,
  response_body: BODY_MODE.none,
}
/**
 * Only where messages of the API are scanned: an API that closes its connection right behind its last frame ends the call in Envoy,
 * and what waits for an answer is lost.
 */
const BOTH_STREAMED: ModeOverride = { ...CLIENT_STREAMED, response_body: BODY_MODE.streamed }

/** How long both ends have to close after a close frame. */
const CLOSE_WAIT_MS = 1_000
const NOTHING = Buffer.alloc(0)

const KIND = { client: 'request_body', api: 'response_body' } as const

/**
 * One WebSocket: Envoy sends each part of it and lets it out when it is answered. Every part is answered, or the call is ended:
 * a stream that ends normally with a part outstanding would let it through.
 */
export class SocketPhase {
  readonly #plan: SocketPlan
  readonly #io: SocketIo
  readonly #flows: Readonly<Record<SocketSide, SocketFlow>>
  /** Parts may come before the one before is answered; they are looked at one after the other. */
  readonly #last: Record<SocketSide, Promise<void>> = {
    client: Promise.resolve(),
    api: Promise.resolve(),
  }
  readonly #held: Record<SocketSide, (() => void) | null> = { client: null, api: null }
  #state: 'handshake' | 'open' | 'declined' | 'refused' | 'closing' = 'handshake'
  #bytes_in = 0
  #timer: NodeJS.Timeout | null = null

  constructor(plan: SocketPlan, io: SocketIo) {
    this.#plan = plan
    this.#io = io
    this.#flows = { client: this.#open('client'), api: this.#open('api') }
  }

  #open(side: SocketSide): SocketFlow {
    return openFlow(side, this.#plan, (bytes) => {
      this.#held[side]?.()
      this.#held[side] = bytes === 0 ? null : this.#io.hold(bytes)
      return bytes === 0 || this.#held[side] !== null
    })
  }

  get is_open(): boolean {
    return this.#state === 'open' || this.#state === 'closing'
  }

  /** Of the client, and of the API if its messages are scanned. */
  get frames(): readonly [number] | readonly [number, number] {
    const { client, api } = this.#flows
    return this.#plan.judge.api === null ? [client.frames] : [client.frames, api.frames]
  }

  get bytes_in(): number {
    return this.#bytes_in
  }

  /** @returns false for a response like any other: the API does not follow the handshake */
  headers(headers: readonly Header[], inspector: ResponseInspector): boolean {
    // It was refused, and its entry is being written.
    if (this.#state === 'refused') return true
    if (headerOf(headers, ':status') !== '101') {
      this.#state = 'declined'
      return false
    }
    const judged = inspector.headers(headers, false)
    if (judged instanceof Promise)
      judged
        .then((verdict) => this.#answer(headers, verdict))
        .catch((error: unknown) => this.#io.fail(error))
    else this.#answer(headers, judged)
    return true
  }

  #answer(headers: readonly Header[], judged: HeadersVerdict): void {
    const denial = judged.kind === 'deny' ? judged.denial : this.#misfit(headers)
    if (judged.kind === 'deny' || denial !== null) {
      if (denial !== null) this.#refuse(denial)
      return
    }
    this.#state = 'open'
    const changes = headerChanges(headers, judged.headers)
    this.#io.write(
      writePass(
        'response_headers',
        changes === null ? null : { ...changes, body: null },
        this.#plan.judge.api === null ? null : BOTH_STREAMED,
      ),
    )
  }

  /** It must be a WebSocket, and without an extension that was not offered: it would change what the bytes mean. */
  #misfit(headers: readonly Header[]): Denial | null {
    const isSocket = headerOf(headers, 'upgrade')?.toLowerCase() === 'websocket'
    const isScanned = this.#plan.judge.client !== null || this.#plan.judge.api !== null
    const isExtended = isScanned && headerOf(headers, 'sec-websocket-extensions') !== null
    if (isSocket && !isExtended) return null
    return { reason: 'upstream_reset', details: { base_url: this.#plan.base_url } }
  }

  part(side: SocketSide, bytes: Buffer): void {
    this.#last[side] = this.#last[side]
      .then(() => this.#part(side, bytes))
      .catch((error: unknown) => this.#io.fail(error))
  }

  async #part(side: SocketSide, bytes: Buffer): Promise<void> {
    // A client waits for the response; an API that reads HTTP could take what comes before for another request.
    if (this.#state === 'handshake') return this.#refuse(EARLY)
    // Never answered: the call is being ended.
    if (this.#state === 'refused') return
    if (this.#state === 'declined') return this.#io.write(writeChunk(KIND[side], NOTHING))
    const pushed = this.#flows[side].push(bytes)
    const { bytes: out, denial } = pushed instanceof Promise ? await pushed : pushed
    const isLast = denial !== null && this.#state === 'closing'
    if (side === 'client') this.#bytes_in += bytes.length
    if (denial !== null) await this.#io.closing(denial)
    if (isLast || this.#plan.isKilled()) return this.#io.end()
    this.#io.write(writeChunk(KIND[side], out))
    if (denial === null) return
    this.#state = 'closing'
    this.#timer = setTimeout(() => this.#io.end(), CLOSE_WAIT_MS)
  }

  #refuse(denial: Denial): void {
    this.#state = 'refused'
    this.#io.refuse(denial).catch((error: unknown) => this.#io.fail(error))
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#held.client?.()
    this.#held.api?.()
  }
}

const EARLY: Denial = { reason: 'bad_request', details: { reason: 'data_before_handshake' } }
