import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface KitUpstream {
  readonly origin: string
  /** Bodies of the requests that arrived, oldest first. */
  readonly bodies: string[]
  readonly stop: () => Promise<void>
}

/** An upstream of one test's own, which answers as the test says once a request has arrived whole. */
export async function startUpstream(
  answer: (
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
    bytes: Buffer,
  ) => void | Promise<void>,
  host = '127.0.0.1',
): Promise<KitUpstream> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const bytes = Buffer.concat(parts)
      const body = bytes.toString()
      bodies.push(body)
      void answer(request, response, body, bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    bodies,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
