import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { answerPings } from '../core/system/answer-pings.ts'

/**
 * A small API for trying the gateway: it returns what it has received. `agw start` runs it, and
 * AGW_ECHO_ORIGIN is its address. A path that ends in /stream sends an event each second until it is cut.
 */
const BODY_LIMIT_BYTES = 1024 * 1024
const TICK_MS = 1000

/** Shows that a credential has arrived without revealing it. */
const SECRET_HEADERS = ['authorization', 'x-api-key', 'cookie']
const masked = (value: string): string => `…${value.slice(-4)}`

answerPings()

const server = createServer((request, response) => {
  response.on('error', () => undefined)
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  if (path.endsWith('/stream')) stream(request, response)
  else collect(request, (body) => answer(request, response, body))
})
server.keepAliveTimeout = 60_000

const origin = new URL(process.env['AGW_ECHO_ORIGIN'] ?? 'http://127.0.0.1:8082')
server.listen(Number(origin.port || 80), origin.hostname, () => process.send?.({ kind: 'ready' }))
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => process.exit(0))

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const headers = Object.entries(request.headers).map(([name, value]) => {
    const text = String(value)
    return [name, SECRET_HEADERS.includes(name) ? masked(text) : text]
  })
  const echo = {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(headers),
    body,
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(echo, null, 2)}\n`)
}

function stream(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  let count = 0
  const tick = (): void => void response.write(`data: {"tick": ${++count}}\n\n`)
  tick()
  const timer = setInterval(tick, TICK_MS)
  response.once('close', () => clearInterval(timer))
}

/** Bytes above the limit are read and left out of the echo. */
function collect(request: IncomingMessage, done: (body: string) => void): void {
  const parts: Buffer[] = []
  let size = 0
  request.on('data', (part: Buffer) => {
    size += part.length
    if (size <= BODY_LIMIT_BYTES) parts.push(part)
  })
  request.once('end', () => done(Buffer.concat(parts).toString('utf8')))
}
