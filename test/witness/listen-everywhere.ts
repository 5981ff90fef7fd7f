import { createServer, type Server } from 'node:net'

export interface Connection {
  readonly address: string
  readonly port: number
}

/** Listens at the given ports of every address of this machine, and keeps which address each connection went to. */
export async function listenEverywhere(ports: Iterable<number>): Promise<{
  readonly connections: readonly Connection[]
  readonly stop: () => void
}> {
  const connections: Connection[] = []
  const servers: Server[] = []
  for (const port of ports)
    for (const host of ['0.0.0.0', '::']) {
      const server = createServer((socket) => {
        connections.push({ address: socket.localAddress ?? '', port })
        socket.on('error', () => undefined)
        socket.once('data', () =>
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'),
        )
      })
      servers.push(server)
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port, host, ipv6Only: host === '::' }, resolve)
      })
    }
  return {
    connections,
    stop: () => {
      for (const server of servers) server.close()
    },
  }
}
