import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import type { X509Certificate } from 'node:crypto'
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  Server as TlsServer,
  type TLSSocket,
} from 'node:tls'
import type { ServeConnection, ServedConnection } from './grpc-call.ts'

const KEEP_ALIVE_MS = 30_000
const HANDSHAKE_LIMIT_MS = 10_000

/** What a server over TCP shows, and whom it accepts. */
export interface GrpcTls extends SecureContextOptions {
  /** Asked of a certificate that the CA has signed. Without it all are accepted. */
  readonly accepts?: (peer: X509Certificate | undefined) => boolean
}

/** Accepts the connections of a gRPC server, and ends them. */
export class GrpcServer {
  readonly #serve: ServeConnection
  readonly #server: Server
  readonly #connections = new Set<ServedConnection>()
  #isStopping = false

  /** @param tls null on a Unix socket; else clients must show a certificate */
  constructor(serve: ServeConnection, tls: GrpcTls | null) {
    this.#serve = serve
    const accept = (socket: Socket): void => this.#accept(socket)
    this.#server = tls === null ? createServer(accept) : secureServer(tls, accept)
  }

  /** @throws (rejects) when the address cannot be used */
  async listen(options: ListenOptions): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(options, () => {
        this.#server.removeListener('error', reject)
        // A connection that cannot be accepted, as for want of descriptors, is lost; the others go on.
        this.#server.on('error', (error) => process.emitWarning(error))
        resolve()
      })
    })
  }

  get hasConnections(): boolean {
    return this.#connections.size > 0
  }

  /** For connections from now on. */
  useCertificates(files: SecureContextOptions): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(files)
  }

  /** Takes no new calls; `done` when those that are open have ended. */
  tryShutdown(done: () => void): void {
    this.#isStopping = true
    this.#server.close(() => done())
    for (const connection of this.#connections) connection.leave()
  }

  forceShutdown(): void {
    this.#isStopping = true
    this.#server.close()
    for (const connection of this.#connections) connection.destroy()
  }

  #accept(socket: Socket): void {
    // Its handshake began before the stop.
    if (this.#isStopping) {
      socket.destroy()
      return
    }
    socket.setNoDelay(true)
    // An Envoy that vanished without a word is noticed, and its calls end.
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    const connection = this.#serve(socket)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }
}

function secureServer(
  { accepts = () => true, ...options }: GrpcTls,
  accept: (socket: Socket) => void,
): Server {
  return createTlsServer(
    {
      ...options,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
      handshakeTimeout: HANDSHAKE_LIMIT_MS,
    },
    (socket: TLSSocket) => {
      const isAccepted = accepts(socket.getPeerX509Certificate())
      if (isAccepted && socket.alpnProtocol === 'h2') accept(socket)
      else socket.destroy()
    },
  )
}
