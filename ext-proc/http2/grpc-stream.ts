import { EventEmitter } from 'node:events'
import type { Http2Connection, Http2Stream, StreamHead, StreamReceiver } from './connection.ts'
import { literalHeader, RESPONSE_HEADERS, STATUS_OK } from './response-blocks.ts'

/** Numbers of gRPC. */
const RESOURCE_EXHAUSTED = 8
const UNIMPLEMENTED = 12
const INTERNAL = 13

/** Flag and length, in front of each message. */
const PREFIX_BYTES = 5
/** Of the message that is sent. */
const prefix = Buffer.alloc(PREFIX_BYTES)
/** Of what is said of a status; it goes into one frame with the rest of the block. */
const DETAILS_LIMIT = 1_000

export interface GrpcStatus {
  readonly code: number
  readonly details: string
}

/**
 * One call of gRPC, seen from the server. It emits `data` for each message, `end` when the caller has sent all,
 * `cancelled` when the call is over before its end, and `error` when it has failed here. Whoever emits `error` with a
 * status ends the call with it.
 */
export class GrpcStream extends EventEmitter implements StreamReceiver {
  readonly #connection: Http2Connection
  readonly #stream: Http2Stream
  readonly #authority: string
  /** W3C Trace Context of whoever called; empty if it traces nothing. */
  readonly traceparent: string
  readonly #limit_bytes: number
  /** A prefix that has not come whole. */
  #prefix: Buffer | null = null
  #prefixBytes = 0
  /** A message that has not come whole, and how much of it has. */
  #message: Buffer | null = null
  #messageBytes = 0
  #hasAnswered = false
  #isOver = false

  /** @param limit_bytes of one message */
  constructor(
    connection: Http2Connection,
    stream: Http2Stream,
    { authority, traceparent }: Pick<StreamHead, 'authority' | 'traceparent'>,
    limit_bytes: number,
  ) {
    super()
    this.#connection = connection
    this.#stream = stream
    this.#authority = authority
    this.traceparent = traceparent
    this.#limit_bytes = limit_bytes
    this.on('error', (status: Partial<GrpcStatus>) => this.#fail(status))
  }

  /** The authority of the request. */
  getHost(): string {
    return this.#authority
  }

  /** The same object for all calls of one connection. */
  get connection(): object {
    return this.#connection
  }

  /** Its connection was closed. */
  get isLost(): boolean {
    return this.#connection.isClosed
  }

  write(message: Buffer): void {
    if (this.#isOver) return
    if (!this.#hasAnswered) this.#connection.sendHeaders(this.#stream, RESPONSE_HEADERS)
    this.#hasAnswered = true
    prefix.writeUInt32BE(message.length, 1)
    this.#connection.sendData(this.#stream, message, prefix)
  }

  /** Calls back when the caller has read what was written, unless the call is over before. Not while it waits for a window. */
  whenRead(callback: () => void): void {
    if (this.#stream.waiting.length === 0) this.#connection.whenRead(callback)
  }

  /** Ends the call with OK. */
  end(): void {
    this.#finish(STATUS_OK)
  }

  /**
   * Ends the response with OK. What the caller sends before it has received the end is still emitted; `end` or `cancelled` follows.
   */
  endResponse(): void {
    if (this.#isOver) return
    this.#stream.reads_on = true
    this.#sendStatus(STATUS_OK)
  }

  onData(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && !this.#isOver)
      at = this.#message === null ? this.#begin(bytes, at) : this.#fill(this.#message, bytes, at)
  }

  onEnd(): void {
    if (this.#isOver) return
    const isWhole = this.#message === null && this.#prefixBytes === 0
    if (isWhole) this.#tell('end')
    else this.emit('error', { code: INTERNAL, details: 'a message is cut short' })
  }

  onCancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#tell('cancelled')
  }

  /** A throw of the handler ends this call and no other. */
  begin(handle: (stream: GrpcStream) => void): void {
    try {
      handle(this)
    } catch (error) {
      this.#thrown(error)
    }
  }

  /** Reads a prefix, and the message if it has arrived; returns where reading continues. */
  #begin(bytes: Buffer, at: number): number {
    const isThere = this.#prefixBytes === 0 && bytes.length - at >= PREFIX_BYTES
    const start = isThere ? at + PREFIX_BYTES : this.#gatherPrefix(bytes, at)
    if (start < 0) return bytes.length
    const flag = isThere ? bytes[at] : this.#prefix?.[0]
    const length = isThere ? bytes.readUInt32BE(at + 1) : (this.#prefix?.readUInt32BE(1) ?? 0)
    this.#prefixBytes = 0
    const end = start + length
    if (flag !== 0) this.emit('error', { code: UNIMPLEMENTED, details: 'compressed message' })
    else if (length > this.#limit_bytes)
      this.emit('error', { code: RESOURCE_EXHAUSTED, details: 'the message is too large' })
    else if (end <= bytes.length) this.#tell('data', bytes.subarray(start, end))
    else {
      // Memory of its own, which can be given back on its own.
      this.#message = Buffer.allocUnsafeSlow(length)
      this.#messageBytes = bytes.copy(this.#message, 0, start)
    }
    return end
  }

  /** -1 while the prefix is not whole. */
  #gatherPrefix(bytes: Buffer, at: number): number {
    this.#prefix ??= Buffer.alloc(PREFIX_BYTES)
    const copied = bytes.copy(this.#prefix, this.#prefixBytes, at)
    this.#prefixBytes += copied
    return this.#prefixBytes < PREFIX_BYTES ? -1 : at + copied
  }

  #fill(message: Buffer, bytes: Buffer, at: number): number {
    const copied = bytes.copy(message, this.#messageBytes, at)
    this.#messageBytes += copied
    if (this.#messageBytes === message.length) {
      this.#message = null
      this.#tell('data', message)
    }
    return at + copied
  }

  /** A throw of a listener ends this call and no other. */
  #tell(event: 'data' | 'end' | 'cancelled', message?: Buffer): void {
    try {
      this.emit(event, message)
    } catch (error) {
      this.#thrown(error)
    }
  }

  #thrown(error: unknown): void {
    try {
      this.emit('error', { code: INTERNAL, details: String(error) })
    } catch (second) {
      process.emitWarning(`a call failed, and so did its end: ${String(second)}`)
    }
  }

  #fail({ code = INTERNAL, details = '' }: Partial<GrpcStatus>): void {
    const shown = percentEncoded(details.slice(0, DETAILS_LIMIT))
    this.#finish(
      Buffer.concat([
        literalHeader('grpc-status', String(code)),
        literalHeader('grpc-message', shown),
      ]),
    )
  }

  #finish(status: Buffer): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sendStatus(status)
  }

  #sendStatus(status: Buffer): void {
    const block = this.#hasAnswered ? status : Buffer.concat([RESPONSE_HEADERS, status])
    this.#connection.sendTrailers(this.#stream, block)
  }
}

/** As gRPC has it: what is not printable ASCII, and the sign itself, byte by byte. */
const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text, 'utf8'), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('')
