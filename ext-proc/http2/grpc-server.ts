import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import type { X509Certificate } from 'node:crypto'
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  Server as TlsServer,
  type TLSSocket,
} from 'node:tls'
import { Http2Connection, type Http2Stream, type StreamHead } from './connection.ts'
import { GrpcStream } from './grpc-stream.ts'
import { literalHeader } from './response-blocks.ts'

const UNIMPLEMENTED = 12
const KEEP_ALIVE_MS = 30_000
const HANDSHAKE_LIMIT_MS = 10_000
const UNSUPPORTED_MEDIA_TYPE = Buffer.concat([
  literalHeader(':status', '415'),
  literalHeader('content-type', 'text/plain'),
])

/** What a server over TCP shows, and whom it accepts. */
export interface GrpcTls extends SecureContextOptions {
  /** Asked of a certificate that the CA has signed. Without it all are accepted. */
  readonly accepts?: (peer: X509Certificate | undefined) => boolean
}

/** Methods by their path, `/package.Service/Method`. */
export type GrpcMethods = ReadonlyMap<string, (stream: GrpcStream) => void>

/**
 * A gRPC server for few peers and many short calls: what grpc-js and node:http2 spend on a call is more than the decision
 * takes. Messages are handed through as bytes.
 */
export class GrpcServer {
  readonly #methods: GrpcMethods
  readonly #limit_bytes: number
  readonly #server: Server
  readonly #connections = new Set<Http2Connection>()
  #isStopping = false

  /**
   * @param limit_bytes of one message
   * @param tls null on a Unix socket; else clients must show a certificate
   */
  constructor(methods: GrpcMethods, limit_bytes: number, tls: GrpcTls | null) {
    this.#methods = methods
    this.#limit_bytes = limit_bytes
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
    const connection: Http2Connection = new Http2Connection(socket, (stream, head) =>
      this.#open(connection, stream, head),
    )
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }

  #open(connection: Http2Connection, stream: Http2Stream, head: StreamHead): GrpcStream {
    const { method, path, content_type } = head
    const call = new GrpcStream(connection, stream, head, this.#limit_bytes)
    const handle = this.#methods.get(path)
    if (method !== 'POST' || !content_type.startsWith('application/grpc'))
      connection.sendTrailers(stream, UNSUPPORTED_MEDIA_TYPE)
    else if (handle === undefined)
      call.emit('error', { code: UNIMPLEMENTED, details: `no such method: ${path}` })
    else call.begin(handle)
    return call
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
