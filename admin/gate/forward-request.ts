import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HEADER_TABLE } from '../../core/catalogue/header-table.ts'
import { mintId } from '../../core/keys/api-key.ts'
import { errorReply } from '../http/error-reply.ts'
import { CLIENT_ADDRESS } from '../access/source-address.ts'

/** Shorter than the other side keeps a connection that is not used, so that no request meets one that it closes. */
const IDLE_LIMIT_MS = 30_000
/** Connections kept for later requests; there are as many as requests at a time. */
const IDLE_MAX = 64
/** Between two neighbours, not for the whole way; Node sets its own. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...HEADER_TABLE.hop_by_hop.names,
  ...HEADER_TABLE.upgrade.names,
  CLIENT_ADDRESS,
])

/** Names and values in turn, as `rawHeaders` has them. */
const endToEnd = (raw: readonly string[]): string[] =>
  raw.filter((_, i) => !HOP_BY_HOP.has((raw[i - (i % 2)] ?? '').toLowerCase()))

/**
 * Passes requests on to a Unix socket, as they are, and the responses back. Nothing is read into memory as a whole, so it
 * takes the event loop no more time than its bytes do.
 */
export function forwardRequests(
  socketPath: string,
): (incoming: IncomingMessage, response: ServerResponse) => void {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_MAX, timeout: IDLE_LIMIT_MS })
  return (incoming, response) => {
    const { method, url, rawHeaders } = incoming
    const address = (incoming.socket as Socket).remoteAddress ?? ''
    const hasBody =
      incoming.headers['transfer-encoding'] !== undefined ||
      incoming.headers['content-length'] !== undefined
    const chunked = incoming.headers['transfer-encoding'] === undefined ? [] : CHUNKED
    const headers = [...endToEnd(rawHeaders), CLIENT_ADDRESS, address, ...chunked]
    const outgoing = request({ socketPath, agent, method, path: url, headers })
    outgoing.setNoDelay(true)
    // The socket's time limit is for connections that are not used.
    outgoing.on('timeout', () => undefined)
    outgoing.once('response', (answer) => {
      response.sendDate = false
      response.writeHead(
        answer.statusCode ?? 502,
        answer.statusMessage,
        endToEnd(answer.rawHeaders),
      )
      response.flushHeaders()
      answer.pipe(response)
      answer.once('error', () => response.destroy())
    })
    outgoing.once('error', () => {
      if (response.headersSent) return void response.destroy()
      unavailable(response)
    })
    response.once('close', () => outgoing.destroy())
    incoming.once('error', () => outgoing.destroy())
    if (hasBody) incoming.pipe(outgoing)
    else outgoing.end()
  }
}

const STARTING =
  'The admin API is starting again. Kills are served meanwhile. Try again in a few seconds.'
const CHUNKED = ['transfer-encoding', 'chunked']

function unavailable(response: ServerResponse): void {
  const request_id = mintId('req')
  const { status, headers, body } = errorReply(
    { kind: 'refusal', error: 'gateway_unavailable', message: STARTING },
    request_id,
  )
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-agw-request-id': request_id,
    connection: 'close',
  })
  response.end(text)
}
