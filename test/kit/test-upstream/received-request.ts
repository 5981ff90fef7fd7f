import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** HTTP/2 comes through Node's compatibility interface, which has all that is used of these. */
export type UpstreamRequest = IncomingMessage
export type UpstreamResponse = ServerResponse

/** Returns a request; false leaves it to the next. */
export type UpstreamRoute = (
  received: ReceivedRequest,
  request: UpstreamRequest,
  response: UpstreamResponse,
) => boolean | Promise<boolean>

/** Bodies up to this length are kept, longer ones as length and hash alone. */
const KEPT_BODY_BYTES = 1 << 20

/** One request as it came off the wire; it is in the log from its headers on, its body follows. */
export class ReceivedRequest {
  readonly secure: boolean
  readonly http_version: string
  readonly method: string
  /** As on the wire, with the query. */
  readonly path: string
  /** `Host`, or `:authority`. */
  readonly host: string
  /** As on the wire: order, case and repetition; without the pseudo-headers of HTTP/2. */
  readonly headers: ReadonlyArray<readonly [string, string]>
  /** Settles when the body has ended or the caller has disconnected. */
  readonly ended: Promise<void>
  trailers: ReadonlyArray<readonly [string, string]> = []
  body_bytes = 0
  body_sha256 = ''
  is_complete = false
  /** Fires when the caller or the gateway gave the call up before it was answered. */
  readonly closed: Promise<void>
  #parts: Buffer[] = []
  readonly #hash: Hash = createHash('sha256')

  constructor(request: UpstreamRequest, response: UpstreamResponse, secure: boolean) {
    this.secure = secure
    this.http_version = request.httpVersion
    this.method = request.method ?? ''
    this.path = request.url ?? ''
    this.headers = inPairs(request.rawHeaders).filter(([name]) => !name.startsWith(':'))
    this.host = this.header('host') ?? (request.headers[':authority'] as string | undefined) ?? ''
    this.ended = new Promise((resolve) => {
      request.on('data', (part: Buffer) => {
        this.body_bytes += part.length
        this.#hash.update(part)
        if (this.body_bytes <= KEPT_BODY_BYTES) this.#parts.push(part)
        else this.#parts = []
      })
      request.once('end', () => {
        this.is_complete = true
        this.trailers = inPairs(request.rawTrailers)
        this.body_sha256 = this.#hash.digest('hex')
        resolve()
      })
      request.once('close', resolve)
      request.on('error', () => resolve())
    })
    this.closed = new Promise((resolve) => {
      response.once('close', resolve)
    })
  }

  /** All lines of the name joined, in any case; undefined where there is none. */
  header(name: string): string | undefined {
    const values = this.headers.filter(([key]) => key.toLowerCase() === name).map(([, v]) => v)
    return values.length === 0 ? undefined : values.join(', ')
  }

  get body(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

function inPairs(raw: readonly string[]): Array<readonly [string, string]> {
  const pairs: Array<readonly [string, string]> = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}
