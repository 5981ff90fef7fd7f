import type { Http2Server, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../../core/system/root.ts'
import {
  GrpcCall,
  type GrpcMethods,
  type ServeConnection,
  type ServedConnection,
} from './grpc-call.ts'

const PROTOS = [
  'envoy/service/ext_proc/v3/external_processor.proto',
  'envoy/service/accesslog/v3/als.proto',
  'envoy/service/secret/v3/sds.proto',
  'envoy/service/cluster/v3/cds.proto',
  'opentelemetry/proto/collector/trace/v1/trace_service.proto',
  'grpc/health/v1/health.proto',
]

/**
 * node:http2 ends a connection, and with it the calls of all tenants, when its peer resets more than 1,000 streams, then 33 a
 * second (`streamResetBurst`, which Node 20 cannot raise). A connection that was asked to end is exempt. So each ends in time:
 * its calls run on, and Envoy opens another one. The streams of one connection, the resets that are counted, and those that one
 * read brings before they are counted are together fewer than 1,000.
 */
const STREAMS_MAX = 400
const RESETS_MAX = 300
/** Of HTTP/2: no error, and the largest number of a stream. */
const NO_ERROR = 0
const LAST_STREAM = 2 ** 31 - 1
const STREAM_WINDOW_BYTES = 256 << 10

type Call = ServerDuplexStream<Buffer, Buffer>

const same = (bytes: Buffer): Buffer => bytes

/**
 * The transport of `AGW_EXT_PROC_TRANSPORT=grpc-js`: the packages of gRPC carry the messages, which are read and written by the
 * same code as those of the built-in transport.
 * @param limit_bytes of one message
 */
export function serveWithGrpcJs(methods: GrpcMethods, limit_bytes: number): ServeConnection {
  const services = servicesOf(methods)
  return (socket) => new GrpcJsConnection(socket, services, methods, limit_bytes)
}

/** A server for each connection, since grpc-js does not say which connection a call belongs to. */
class GrpcJsConnection implements ServedConnection {
  readonly #socket: Socket
  readonly #server: Server
  #session: ServerHttp2Session | null = null
  #resets = 0
  /** They wait for the answer to a ping that is under way. */
  #read: (() => void)[] = []
  /** What they wait for was written after that ping. */
  #waiting: (() => void)[] = []

  constructor(
    socket: Socket,
    services: readonly ServiceDefinition[],
    methods: GrpcMethods,
    limit_bytes: number,
  ) {
    this.#socket = socket
    this.#server = new Server({
      'grpc.enable_channelz': 0,
      'grpc.max_concurrent_streams': STREAMS_MAX,
      'grpc.max_receive_message_length': limit_bytes,
      'grpc.max_send_message_length': -1,
      'grpc-node.flow_control_window': STREAM_WINDOW_BYTES,
    })
    for (const service of services)
      this.#server.addService(
        service,
        Object.fromEntries(
          Object.entries(service).map(([name, { path }]) => [
            name,
            (call: Call) => this.#begin(call, methods.get(path)),
          ]),
        ),
      )
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure())
    http2ServerOf(this.#server).once('session', (session) => this.#follow(session))
    injector.injectConnection(socket)
    socket.once('close', () => this.#server.forceShutdown())
  }

  get isLost(): boolean {
    return this.#socket.destroyed
  }

  /** In two steps (RFC 9113, 6.8): calls that the peer has opened before it learns of the end are served. */
  leave(): void {
    const session = this.#session
    const close = (): void => this.#server.tryShutdown(() => undefined)
    if (session === null || session.destroyed) return close()
    session.goaway(NO_ERROR, LAST_STREAM)
    if (!session.ping(close)) close()
  }

  destroy(): void {
    this.#server.forceShutdown()
    this.#socket.destroy()
  }

  /** Calls back when the peer has read what was written before. */
  ping(callback: () => void): void {
    this.#waiting.push(callback)
    if (this.#read.length === 0) this.#ping()
  }

  #follow(session: ServerHttp2Session): void {
    this.#session = session
    session.on('stream', (stream) => {
      stream.once('close', () => {
        if (stream.rstCode !== 0 && ++this.#resets === RESETS_MAX) this.leave()
      })
    })
  }

  #ping(): void {
    const session = this.#session
    if (session === null || session.destroyed || this.#waiting.length === 0) return
    this.#read = this.#waiting
    this.#waiting = []
    session.ping((error) => {
      const read = this.#read
      this.#read = []
      if (error === null) for (const callback of read) callback()
      this.#ping()
    })
  }

  #begin(stream: Call, handle: ((call: GrpcCall) => void) | undefined): void {
    if (handle === undefined) return
    new GrpcJsCall(this, stream).begin(handle)
  }
}

class GrpcJsCall extends GrpcCall {
  readonly connection: GrpcJsConnection
  readonly traceparent: string
  readonly #stream: Call
  #isOver = false
  /** Messages that Node has not yet written. */
  #unwritten = 0
  #readers: (() => void)[] = []

  constructor(connection: GrpcJsConnection, stream: Call) {
    super()
    this.connection = connection
    this.#stream = stream
    this.traceparent = String(stream.metadata.get('traceparent')[0] ?? '')
    stream.on('data', (message: Buffer) => {
      if (!this.#isOver) this.report('data', message)
    })
    // Node says first of a stream that was reset that it has ended.
    stream.on('end', () => {
      setImmediate(() => {
        if (!this.#isOver) this.report('end')
      })
    })
    // Also after the status of this end.
    stream.on('cancelled', () => {
      if (this.#isOver) return
      this.#isOver = true
      this.report('cancelled')
    })
  }

  get isLost(): boolean {
    return this.connection.isLost
  }

  getHost(): string {
    return this.#stream.getHost()
  }

  write(message: Buffer): void {
    if (this.#isOver) return
    this.#unwritten++
    this.#stream.write(message, () => {
      if (--this.#unwritten === 0) this.#wait()
    })
  }

  whenRead(callback: () => void): void {
    this.#readers.push(callback)
    if (this.#unwritten === 0) this.#wait()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stream.end()
  }

  /** grpc-js reads no further after the status: what the caller has sent by then is lost. */
  endResponse(): void {
    if (this.#isOver) return
    this.end()
    setImmediate(() => this.report('cancelled'))
  }

  protected sendFailure(code: number, details: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stream.emit('error', { code, details })
  }

  #wait(): void {
    for (const callback of this.#readers.splice(0))
      this.connection.ping(() => {
        if (!this.#isOver) callback()
      })
  }
}

/** Those of proto/ that have a method here. All are served as streams, in which a single message is one. */
function servicesOf(methods: GrpcMethods): ServiceDefinition[] {
  const packages = loadSync(PROTOS, { includeDirs: [fromRoot('proto')] })
  return Object.values(packages).flatMap((definition) => {
    if ('format' in definition) return []
    const served = Object.entries(definition).filter(([, { path }]) => methods.has(path))
    if (served.length === 0) return []
    return [
      Object.fromEntries(
        served.map(([name, method]) => [
          name,
          {
            ...method,
            requestStream: true,
            responseStream: true,
            requestDeserialize: same,
            responseSerialize: same,
          },
        ]),
      ) as ServiceDefinition,
    ]
  })
}

/**
 * A private member of grpc-js, the only way to a ping: its server keeps its HTTP/2 server in it.
 * @throws when this version of grpc-js has it no more
 */
function http2ServerOf(server: Server): Http2Server {
  const servers: unknown = Reflect.get(server, 'http2Servers')
  const [first] = servers instanceof Map ? (servers.keys() as Iterable<Http2Server>) : []
  if (first === undefined)
    throw new Error(
      'this version of @grpc/grpc-js cannot be used: it keeps its HTTP/2 server elsewhere',
    )
  return first
}
