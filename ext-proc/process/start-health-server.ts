import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenFailure } from '../../core/system/listen-failure.ts'
import { hostAndPort } from '../envoy/host-and-port.ts'

/** Answers once the process serves. */
export interface HealthFacts {
  /** Why this process must get no new calls; null if it may. */
  readonly whyNotReady: () => string | null
  /** In the Prometheus text format. */
  readonly metrics: () => string
}

export interface HealthServer {
  /** From now on these answer. Before, the process lives but is not ready. */
  serves(facts: HealthFacts): void
}

/** A few probes and scrapers at a time; further connections are closed. */
const CONNECTIONS_MAX = 64
const REQUEST_LIMIT_MS = 5_000

/**
 * /healthz, /readyz and /metrics over plain HTTP, because the probes of Kubernetes cannot present a client certificate and the
 * metrics of the admin service need the store. It serves nothing else and reads no body. Connections end with the process.
 * @param address `host:port`; null for no server
 * @throws with a message for the operator if the address cannot be used
 */
export async function startHealthServer(address: string | null): Promise<HealthServer> {
  let facts: HealthFacts | null = null
  const served: HealthServer = {
    serves: (given) => {
      facts = given
    },
  }
  if (address === null) return served
  const answer = (request: IncomingMessage, response: ServerResponse): void =>
    answerProbe(request, response, facts)
  const server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, answer)
  server.headersTimeout = REQUEST_LIMIT_MS
  server.maxConnections = CONNECTIONS_MAX
  const { host, port } = hostAndPort(address)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  }).catch((error: unknown) => {
    const { cause, advice } = listenFailure(error, { host: null, port: 'AGW_HEALTH_ADDRESS' })
    throw new Error(`AGW_HEALTH_ADDRESS ${address} cannot be used: ${cause}. ${advice}`)
  })
  // A process that is stopped does not wait for probes.
  server.unref()
  return served
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'

function answerProbe(
  request: IncomingMessage,
  response: ServerResponse,
  facts: HealthFacts | null,
): void {
  request.resume()
  const send = (status: number, type: string, body: string): void => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
    response.end(body)
  }
  const sendState = (status: number, state: object): void =>
    send(status, 'application/json', `${JSON.stringify(state)}\n`)
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendState(405, { error: 'method_not_allowed' })
    return
  }
  switch (request.url?.split('?', 1)[0] ?? '') {
    case '/healthz':
      sendState(200, { status: 'ok' })
      return
    case '/readyz': {
      const reason = facts === null ? 'starting' : facts.whyNotReady()
      if (reason === null) sendState(200, { status: 'ready' })
      else sendState(503, { status: 'not_ready', reason })
      return
    }
    case '/metrics':
      if (facts === null) sendState(503, { status: 'not_ready', reason: 'starting' })
      else send(200, TEXT, facts.metrics())
      return
    default:
      sendState(404, { error: 'not_found' })
  }
}
