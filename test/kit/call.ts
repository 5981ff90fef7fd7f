import { Agent, request } from 'node:http'
import type { Readable } from 'node:stream'
import type { ClientHttp2Session } from 'node:http2'
import { connect, constants } from 'node:http2'

export interface HttpCall {
  /** `http://127.0.0.1:port` of whom to speak to. */
  readonly to: string
  /** Sent as written; nothing is normalised. */
  readonly path: string
  readonly method?: string
  readonly headers?: ReadonlyArray<readonly [string, string]> | Readonly<Record<string, string>>
  readonly body?: Buffer | string | Readable
  /** Chunked even where the length is known (HTTP/1.1). */
  readonly is_chunked?: boolean
  readonly http_version?: '1.1' | '2'
  readonly trailers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Another way to connect, for HTTP/1.1. */
  readonly connections?: Agent
  /** A call that hangs fails by then. */
  readonly limit_ms?: number
  /**
   * The response comes before the end of the body. Envoy closes 50 ms after such a response (`delayed_close_timeout`), and a client
   * that is held up for as long while it writes does not see it: the body is then sent again.
   */
  readonly is_refused_early?: boolean
  /** Told of each piece of the answer's body as it comes. */
  readonly onData?: (part: Buffer) => void
}

export interface HttpAnswer {
  readonly status: number
  /** As on the wire: order and repetition; without pseudo-headers. */
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body: Buffer
  readonly trailers: Readonly<Record<string, string>>
  /** The first value of a header; undefined where there is none. */
  readonly header: (name: string) => string | undefined
  readonly json: () => any
}

/** Longer than any answer of the gateway's own takes. */
const LIMIT_MS = 30_000

const REFUSED_BODY_ATTEMPTS = 5

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/**
 * One call over a plain connection, without any politeness of a client library.
 * @throws (rejects) when the connection ends before the whole answer is there
 */
export async function call(one: HttpCall): Promise<HttpAnswer> {
  for (let left = one.is_refused_early ? REFUSED_BODY_ATTEMPTS : 1; ; left--) {
    try {
      return await attempt(one)
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException
      const isCutWhileWriting = syscall === 'write' && (code === 'ECONNRESET' || code === 'EPIPE')
      if (left <= 1 || !isCutWhileWriting) throw error
    }
  }
}

function attempt(one: HttpCall): Promise<HttpAnswer> {
  const { signal, clear } = limited(one.limit_ms ?? LIMIT_MS, one.signal)
  const answer = one.http_version === '2' ? callHttp2(one, signal) : callHttp1(one, signal)
  return answer.finally(clear)
}

/** A timer of its own: Node 20 may collect an `AbortSignal.timeout` that `AbortSignal.any` depends on before it fires. */
function limited(
  limit_ms: number,
  caller?: AbortSignal,
): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const { signal } = controller
  const abort = (): void => controller.abort(caller?.reason)
  const timer = setTimeout(() => {
    controller.abort(new Error(`no whole answer after ${limit_ms} ms`))
  }, limit_ms)
  if (caller?.aborted === true) abort()
  caller?.addEventListener('abort', abort)
  const clear = (): void => {
    clearTimeout(timer)
    caller?.removeEventListener('abort', abort)
  }
  return { signal, clear }
}

/** Idle connections would keep the test process alive. */
export function closeConnections(): void {
  agent.destroy()
  for (const session of sessions.values()) session.close()
  sessions.clear()
}

function callHttp1(one: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const url = new URL(one.to)
    const headers = pairsOf(one.headers).flat()
    const names = new Set(pairsOf(one.headers).map(([name]) => name.toLowerCase()))
    if (!names.has('host')) headers.push('Host', url.host)
    const isStream = typeof one.body === 'object' && !Buffer.isBuffer(one.body)
    if (one.body !== undefined && !names.has('content-length') && !names.has('transfer-encoding')) {
      if (isStream || one.is_chunked) headers.push('Transfer-Encoding', 'chunked')
      else headers.push('Content-Length', String(Buffer.byteLength(one.body as string | Buffer)))
    }
    const sent = request({
      host: url.hostname,
      port: url.port,
      path: one.path,
      method: one.method ?? 'GET',
      headers,
      agent: one.connections ?? agent,
      setHost: false,
      signal,
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => {
        one.onData?.(part)
        parts.push(part)
      })
      response.once('error', reject)
      response.once('end', () => {
        const raw = inPairs(response.rawHeaders)
        const trailers = Object.fromEntries(inPairs(response.rawTrailers))
        resolve(makeAnswer(response.statusCode ?? 0, raw, Buffer.concat(parts), trailers))
      })
    })
    if (one.trailers !== undefined) sent.addTrailers(one.trailers)
    if (isStream) (one.body as Readable).pipe(sent)
    else sent.end(one.body)
  })
}

const sessions = new Map<string, ClientHttp2Session>()

function sessionTo(origin: string): ClientHttp2Session {
  const known = sessions.get(origin)
  if (known !== undefined && !known.closed && !known.destroyed) return known
  const session = connect(origin)
  session.on('error', () => {})
  session.setMaxListeners(0)
  sessions.set(origin, session)
  return session
}

function callHttp2(one: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const session = sessionTo(one.to)
    const headers: Record<string, string | string[]> = {}
    for (const [name, value] of pairsOf(one.headers)) {
      const before = headers[name.toLowerCase()]
      headers[name.toLowerCase()] =
        before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
    }
    const isStream = typeof one.body === 'object' && !Buffer.isBuffer(one.body)
    const stream = session.request(
      { ':method': one.method ?? 'GET', ':path': one.path, ...headers },
      {
        endStream: one.body === undefined && one.trailers === undefined,
        waitForTrailers: one.trailers !== undefined,
      },
    )
    signal.addEventListener('abort', () => stream.close(constants.NGHTTP2_CANCEL))
    let status = 0
    let raw: Array<readonly [string, string]> = []
    let trailers: Record<string, string> = {}
    const parts: Buffer[] = []
    stream.on('response', (received) => {
      status = Number(received[':status'])
      raw = pairsOfHttp2(received)
    })
    stream.on('trailers', (received) => {
      trailers = Object.fromEntries(pairsOfHttp2(received))
    })
    stream.on('wantTrailers', () => stream.sendTrailers({ ...one.trailers }))
    stream.on('data', (part: Buffer) => {
      one.onData?.(part)
      parts.push(part)
    })
    stream.once('error', reject)
    stream.once('close', () => {
      if (status !== 0 && stream.rstCode === constants.NGHTTP2_NO_ERROR)
        resolve(makeAnswer(status, raw, Buffer.concat(parts), trailers))
      else reject(new Error(`HTTP/2 stream ended with code ${stream.rstCode}`))
    })
    if (isStream) (one.body as Readable).pipe(stream)
    else if (one.body !== undefined || one.trailers !== undefined) stream.end(one.body)
  })
}

function makeAnswer(
  status: number,
  headers: ReadonlyArray<readonly [string, string]>,
  body: Buffer,
  trailers: Readonly<Record<string, string>>,
): HttpAnswer {
  return {
    status,
    headers,
    body,
    trailers,
    header: (name) => headers.find(([key]) => key.toLowerCase() === name)?.[1],
    json: () => JSON.parse(body.toString()),
  }
}

const pairsOf = (headers: HttpCall['headers']): ReadonlyArray<readonly [string, string]> =>
  headers === undefined
    ? []
    : Array.isArray(headers)
      ? (headers as ReadonlyArray<readonly [string, string]>)
      : Object.entries(headers as Readonly<Record<string, string>>)

function pairsOfHttp2(
  headers: Readonly<Record<string, unknown>>,
): Array<readonly [string, string]> {
  return Object.entries(headers)
    .filter(([name]) => !name.startsWith(':'))
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as const),
    )
}

function inPairs(raw: readonly string[]): Array<readonly [string, string]> {
  const pairs: Array<readonly [string, string]> = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return pairs
}
