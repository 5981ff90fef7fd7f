import type {
  Http2Connection,
  Http2Stream,
  StreamHead,
  StreamReceiver,
} from '../http2/connection.ts'
import { literalHeader, RESPONSE_HEADERS, STATUS_OK } from '../http2/response-blocks.ts'
import { GRPC_STATUS, GrpcCall } from './grpc-call.ts'

/** Flag and length, in front of each message. */
const PREFIX_BYTES = 5
/** Of the message that is sent. */
const prefix = Buffer.alloc(PREFIX_BYTES)
/** Of what is said of a status; it goes into one frame with the rest of the block. */
const DETAILS_LIMIT = 1_000

/** A call on a stream of the built-in HTTP/2 server. */
export class GrpcStream extends GrpcCall implements StreamReceiver {
  readonly #connection: Http2Connection
  readonly #stream: Http2Stream
  readonly #authority: string
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
  }

  getHost(): string {
    return this.#authority
  }

  get connection(): object {
    return this.#connection
  }

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

  whenRead(callback: () => void): void {
    if (this.#stream.waiting.length === 0) this.#connection.whenRead(callback)
  }

  end(): void {
    this.#finish(STATUS_OK)
  }

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
    if (isWhole) this.report('end')
    else this.fail(GRPC_STATUS.internal, 'a message is cut short')
  }

  onCancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.report('cancelled')
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
    if (flag !== 0) this.fail(GRPC_STATUS.unimplemented, 'compressed message')
    else if (length > this.#limit_bytes)
      this.fail(GRPC_STATUS.resource_exhausted, 'the message is too large')
    else if (end <= bytes.length) this.report('data', bytes.subarray(start, end))
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
      this.report('data', message)
    }
    return at + copied
  }

  protected sendFailure(code: number, details: string): void {
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
