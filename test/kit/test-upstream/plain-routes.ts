import { gzipSync } from 'node:zlib'
import { setTimeout as wait } from 'node:timers/promises'
import { bigBody } from './big-body.ts'
import type { ReceivedRequest, UpstreamRequest, UpstreamResponse } from './received-request.ts'

/** An API without a model: one route for each kind of answer that HTTP has. Any other path is an echo. */
export async function plainRoutes(
  received: ReceivedRequest,
  request: UpstreamRequest,
  response: UpstreamResponse,
): Promise<boolean> {
  const url = new URL(received.path, 'http://stand-in')
  // A base URL may stand before it.
  const route =
    /\/(sse|slow|trailers|status|gzip|big|odd-headers|drop|early-hints|large-header|scripted)(?:\/(\d+))?$/.exec(
      url.pathname,
    )
  const number = (name: string, fallback: number): number =>
    Number(url.searchParams.get(name) ?? fallback)
  switch (route?.[1]) {
    case 'sse':
      await tick(received, response, number('ticks', 3), number('interval_ms', 10))
      return true
    case 'slow':
      // Never answered: the caller, or the gateway, gives up.
      await received.closed
      return true
    case 'trailers':
      response.writeHead(200, { 'content-type': 'text/plain', trailer: 'x-checksum, x-agw-reason' })
      response.write('before the trailers')
      response.addTrailers({ 'x-checksum': 'abc123', 'x-agw-reason': 'forged' })
      response.end()
      return true
    case 'status':
      answerStatus(response, Number(route[2]))
      return true
    case 'gzip':
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
      response.end(gzipSync('compressed '.repeat(1000)))
      return true
    case 'big':
      await sendBig(received, response, number('bytes', 50 * 1024 * 1024))
      return true
    case 'odd-headers':
      answerOddHeaders(response)
      return true
    case 'large-header':
      response.writeHead(200, { 'x-large': 'a'.repeat(number('bytes', 1)) }).end()
      return true
    case 'drop':
      request.socket.destroy()
      return true
    case 'early-hints':
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end('after the hints')
      return true
    case 'scripted':
      await answerScript(received, response, url.searchParams.get('script') ?? '')
      return true
    case undefined:
    default:
      await echo(received, response)
      return true
  }
}

async function tick(
  received: ReceivedRequest,
  response: UpstreamResponse,
  ticks: number,
  interval_ms: number,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  let isOpen = true
  void received.closed.then(() => {
    isOpen = false
  })
  for (let i = 0; i < ticks && isOpen; i++) {
    if (i > 0) await wait(interval_ms)
    response.write(`id: ${i}\ndata: ${JSON.stringify({ tick: i, at_ms: Date.now() })}\n\n`)
  }
  response.end()
}

function answerStatus(response: UpstreamResponse, status: number): void {
  const hasBody = status !== 204 && status !== 304
  response.writeHead(status, hasBody ? { 'content-type': 'text/plain' } : { etag: '"v1"' })
  response.end(hasBody ? `status ${status}` : undefined)
}

async function sendBig(
  received: ReceivedRequest,
  response: UpstreamResponse,
  bytes: number,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes })
  for (const part of bigBody(bytes)) {
    const goesOn = response.write(part)
    if (!goesOn)
      await Promise.race([new Promise((r) => response.once('drain', r)), received.closed])
  }
  response.end()
}

function answerOddHeaders(response: UpstreamResponse): void {
  response.setHeader('Set-Cookie', ['a=1; Path=/', 'b=2; HttpOnly'])
  response.setHeader('X-MiXeD', 'Value with  two spaces')
  response.setHeader('X-Empty', '')
  response.setHeader('X-Latin', 'caf\u00e9')
  response.setHeader('Server', 'stand-in/1.0')
  response.setHeader('X-Request-Id', 'the-upstreams-own')
  response.setHeader('X-Agw-Reason', 'agent_killed')
  response.setHeader('X-Agw-Request-Id', 'forged')
  response.setHeader('X_Agw_Reason', 'agent_killed')
  response.setHeader('X-Envoy-Upstream-Service-Time', '7')
  response.setHeader('Via', '1.1 theirs')
  response.end('odd')
}

/** Returns what came: the body as the body, the rest in headers of its own. */
async function echo(received: ReceivedRequest, response: UpstreamResponse): Promise<void> {
  await received.ended
  if (!received.is_complete) return
  response.setHeader('content-type', received.header('content-type') ?? 'application/octet-stream')
  response.setHeader('x-received-method', received.method)
  response.setHeader('x-received-sha256', received.body_sha256)
  response.setHeader('x-received-bytes', String(received.body_bytes))
  response.end(received.method === 'HEAD' ? undefined : received.body)
}

/** An answer that the caller has written out; it travels in the query as Base64 of JSON. */
export interface Script {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [string, string]>
  /** The lengths of the pieces that the body is written in. */
  readonly pieces: readonly number[]
  readonly is_chunked: boolean
}

export const scripted = (script: Script): string =>
  `/scripted?script=${Buffer.from(JSON.stringify(script)).toString('base64url')}`

async function answerScript(
  received: ReceivedRequest,
  response: UpstreamResponse,
  text: string,
): Promise<void> {
  const script = JSON.parse(Buffer.from(text, 'base64url').toString()) as Script
  await received.ended
  const total = script.pieces.reduce((sum, piece) => sum + piece, 0)
  const length = script.is_chunked ? [] : [['Content-Length', String(total)] as const]
  response.writeHead(script.status, [...script.headers, ...length].flat())
  for (const piece of script.pieces)
    if (piece > 0) response.write(Buffer.concat([...bigBody(piece)]))
  response.end()
}
