import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ConnectProxy {
  readonly port: number
  /** With user and password, as AGW_EGRESS_PROXY wants it. */
  readonly url: string
  /** The targets of CONNECT, oldest first; `GET …` for any other request. */
  readonly asked: readonly string[]
  /** Targets that are answered with this status from now on. */
  readonly deny: (target: string, status: number) => void
  /** Cuts every tunnel. */
  readonly cut: () => void
  readonly stop: () => Promise<void>
}

/** An HTTP proxy that wants Basic authentication and knows each host of the tests at 127.0.0.1, whatever it resolves to elsewhere. */
export async function startConnectProxy(user: string, password: string): Promise<ConnectProxy> {
  const asked: string[] = []
  const denied = new Map<string, number>()
  const sockets = new Set<Socket>()
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer(({ method, url = '' }, response) => {
    asked.push(`${method} ${url}`)
    response.writeHead(403).end()
  })
  server.on('connection', keep)
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket, first: Buffer) => {
    const isKnown = headers['proxy-authorization'] === expected
    const status = isKnown ? denied.get(url) : 407
    if (status !== undefined) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    asked.push(url)
    const api = connect({ host: '127.0.0.1', port: Number(url.slice(url.lastIndexOf(':') + 1)) })
    keep(api)
    api.once('connect', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      api.write(first)
      client.pipe(api).pipe(client)
    })
    client.once('close', () => api.destroy())
    api.once('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    url: `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    asked,
    deny: (target, status) => void denied.set(target, status),
    cut,
    stop: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
