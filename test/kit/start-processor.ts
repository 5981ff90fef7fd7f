import { rmSync } from 'node:fs'
import { Server, ServerCredentials, loadPackageDefinition } from '@grpc/grpc-js'
import type { GrpcObject, ServerDuplexStream, ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../../core/system/root.ts'
import { addHealthService } from './add-health-service.ts'

type Headers = Readonly<Record<string, string>>
type Message = Record<string, any>

/** One conversation with Envoy, as the behaviour of a test sees it. */
export interface KitStream {
  readonly headers: Headers
  readonly end_of_stream: boolean
  /** Names of the messages that arrived, in order. */
  readonly received: string[]
  readonly send: (response: Message) => void
  readonly endOk: () => void
  readonly fail: () => void
  /** Says that this processor is not available, before any answer. */
  readonly refuse: () => void
  /** Bytes of the request body as the processor saw it; null when it saw none. */
  body: Buffer | null
  ended: boolean
}

export type Behaviour = (stream: KitStream, message: Message, kind: string) => void

export interface KitProcessor {
  readonly streams: KitStream[]
  readonly live: () => number
  readonly stop: () => void
}

/** An ext_proc server controlled by the test; it makes no decisions of its own. */
export async function startProcessor(address: string, behave: Behaviour): Promise<KitProcessor> {
  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': 64 * 1024 * 1024,
  })
  addHealthService(server, () => true)
  const streams: KitStream[] = []
  server.addService(externalProcessor(), {
    Process: (call: ServerDuplexStream<Message, Message>) => {
      const stream = {
        headers: {},
        end_of_stream: false,
        received: [] as string[],
        send: (response: Message) => call.write(response),
        endOk: () => call.end(),
        fail: () => call.emit('error', { code: 13, details: 'told to fail' }),
        refuse: () => call.emit('error', { code: 14, details: 'told to refuse' }),
        body: null as Buffer | null,
        ended: false,
      }
      streams.push(stream)
      call.on('data', (message: Message) => {
        const kind = String(message['request'])
        stream.received.push(kind)
        if (kind === 'request_headers') {
          stream.headers = headersOf(message[kind].headers)
          stream.end_of_stream = message[kind].end_of_stream
        }
        if (kind === 'request_body') stream.body = message[kind].body
        behave(stream, message[kind], kind)
      })
      // Envoy ends its half when the call is over; answering that is what keeps the connection from a GOAWAY.
      call.on('end', () => {
        stream.ended = true
        call.end()
      })
      call.on('cancelled', () => {
        stream.ended = true
      })
      call.on('error', () => {})
    },
  })
  // A processor that was killed leaves its socket behind.
  if (address.startsWith('unix:')) rmSync(address.slice('unix:'.length), { force: true })
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    )
  })
  return {
    streams,
    live: () => streams.filter((stream) => !stream.ended).length,
    stop: () => server.forceShutdown(),
  }
}

export const headerValue = (key: string, value: string): Message => ({
  header: { key, raw_value: Buffer.from(value) },
})

export function headersOf(map: {
  headers: ReadonlyArray<{ key: string; raw_value: Buffer }>
}): Headers {
  return Object.fromEntries(map.headers.map(({ key, raw_value }) => [key, raw_value.toString()]))
}

function externalProcessor(): ServiceDefinition {
  const loaded = loadPackageDefinition(
    loadSync('envoy/service/ext_proc/v3/external_processor.proto', {
      includeDirs: [fromRoot('proto')],
      keepCase: true,
      longs: Number,
      enums: String,
      defaults: true,
      oneofs: true,
    }),
  )
  let node: unknown = loaded
  for (const part of ['envoy', 'service', 'ext_proc', 'v3', 'ExternalProcessor'])
    node = (node as GrpcObject)[part]
  return (node as { service: ServiceDefinition }).service
}
