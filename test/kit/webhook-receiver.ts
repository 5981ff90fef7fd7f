import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Certificates, makeCertificates } from './make-certificates.ts'

export interface Received {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly at_ms: number
}

export interface WebhookReceiver {
  readonly port: number
  readonly certificates: Certificates
  /** `https://localhost:<port><path>` */
  readonly url: (path: string) => string
  /** What arrived at a path, in order. */
  readonly received: (path: string) => readonly Received[]
  /** How a path answers; 204 where nothing was said. */
  readonly on: (path: string, answer: (response: ServerResponse, number: number) => void) => void
  readonly stop: () => Promise<void>
}

/** A real TLS server with a CA of its own that remembers what it was sent. */
export async function startWebhookReceiver(
  names: readonly string[] = ['localhost', '127.0.0.1'],
): Promise<WebhookReceiver> {
  const certificates = await makeCertificates(names)
  const received = new Map<string, Received[]>()
  const answers = new Map<string, (response: ServerResponse, number: number) => void>()
  const server = createServer(certificates, (request, response) => {
    const path = request.url ?? ''
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.once('end', () => {
      const { method = '', headers } = request
      const list = received.get(path) ?? []
      received.set(path, list)
      list.push({ path, method, headers, body: Buffer.concat(parts), at_ms: Date.now() })
      const answer = answers.get(path)
      if (answer) answer(response, list.length)
      else response.writeHead(204).end()
    })
    response.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    certificates,
    url: (path) => `https://localhost:${port}${path}`,
    received: (path) => received.get(path) ?? [],
    on: (path, answer) => void answers.set(path, answer),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
