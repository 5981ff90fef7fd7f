import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { AddressInfo } from 'node:net'
import type { Certificates } from './make-certificates.ts'

/** The first byte of a TLS connection. */
const HANDSHAKE = 0x16

export interface KitTlsDoor {
  readonly port: number
  /** Where connections lead: a port of 127.0.0.1. */
  leadTo(port: number): void
  /** Certificates for connections from now on. */
  present(certificates: Certificates): void
  /** Serial numbers of the client certificates of the connections so far, in order. */
  readonly clients: readonly string[]
  closeAll(): void
  stop(): Promise<void>
}

/**
 * TLS in front of a store, which the pinned binary cannot speak itself. Clients must present a certificate of the same CA.
 * Connections without TLS pass too, since the store's own nodes reach each other at the same ports.
 */
export async function startTlsDoor(certificates: Certificates): Promise<KitTlsDoor> {
  let target = 0
  const contextOf = ({ cert, key, ca }: Certificates): SecureContext =>
    createSecureContext({ cert, key, ca })
  let secureContext = contextOf(certificates)
  const clients: string[] = []
  const sockets = new Set<Socket>()
  const follow = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }
  const join = (client: Socket): void => {
    const store = createConnection(target, '127.0.0.1')
    follow(store)
    client.once('close', () => store.destroy())
    store.once('close', () => client.destroy())
    client.pipe(store)
    store.pipe(client)
  }
  const server: Server = createServer((socket) => {
    follow(socket)
    socket.once('data', (first: Buffer) => {
      socket.pause()
      socket.unshift(first)
      if (first[0] !== HANDSHAKE) {
        join(socket)
        return
      }
      const secured = new TLSSocket(socket, {
        isServer: true,
        server,
        secureContext,
        requestCert: true,
        rejectUnauthorized: true,
      })
      follow(secured)
      secured.once('secure', () => {
        if (!secured.authorized && secured.getPeerCertificate().serialNumber === undefined) {
          secured.destroy()
          return
        }
        clients.push(secured.getPeerCertificate().serialNumber)
        join(secured)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      target = port
    },
    present: (next) => {
      secureContext = contextOf(next)
    },
    clients,
    closeAll: () => {
      for (const socket of sockets) socket.destroy()
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
