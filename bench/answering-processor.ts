import { chmodSync } from 'node:fs'
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../core/system/root.ts'
import { readRequest } from '../ext-proc/envoy/read-request.ts'
import { addHealthService } from '../test/kit/add-health-service.ts'
import { type EnvoyStream, startServer } from '../ext-proc/envoy/start-server.ts'
import { writePass, writeTrailers } from '../ext-proc/envoy/write-response.ts'

/**
 * The baseline: a processor that decides nothing. It lets every call through with the header changes that Envoy needs
 * to forward it, in the same processing modes as the product. `reflected` reads and writes messages as grpc-js and
 * proto-loader do it; `by-hand` uses the codec of the product, and so shows what the decision alone costs.
 */
const [form, address = '', secret = ''] = [
  process.env['BENCH_FORM'],
  process.env['BENCH_ADDRESS'],
  process.env['BENCH_SECRET'],
]

const TARGET = /^\/(https?):\/{1,2}([^/?]+)(.*)$/

const changesFor = (path: string) => {
  const [, scheme = '', host = '', rest = '/'] = TARGET.exec(path) ?? []
  return {
    set: [
      { name: ':path', value: rest },
      { name: 'x-agw-host', value: host },
      { name: 'x-agw-up', value: scheme },
      { name: 'x-agw-pass', value: secret },
      { name: 'authorization', value: 'Bearer stored' },
    ],
    remove: [],
  }
}

async function serveByHand(): Promise<void> {
  await startServer(
    { address, tls: null, message_limit_bytes: 8 << 20 },
    { ext_proc: (stream) => answerByHand(stream), is_serving: () => true },
  )
}

function answerByHand(stream: EnvoyStream): void {
  stream.on('data', (bytes: Buffer) => {
    const message = readRequest(bytes)
    if (message.kind === 'request_headers') {
      const path = message.headers.find(({ name }) => name === ':path')?.value ?? ''
      stream.write(writePass('request_headers', { ...changesFor(path), body: null }, null))
    } else if (message.kind === 'request_trailers' || message.kind === 'response_trailers') {
      stream.write(writeTrailers(message.kind, []))
    }
  })
  stream.on('end', () => stream.end())
  stream.on('error', () => undefined)
}

interface ReflectedHeader {
  readonly key: string
  readonly raw_value: Buffer
}
interface ReflectedStream {
  on(
    event: 'data',
    listener: (message: {
      request_headers?: { headers: { headers: ReflectedHeader[] } } | null
      response_trailers?: object | null
    }) => void,
  ): void
  on(event: 'end' | 'error', listener: () => void): void
  write(message: object): void
  end(): void
}

async function serveReflected(): Promise<void> {
  const definition = loadSync('envoy/service/ext_proc/v3/external_processor.proto', {
    includeDirs: [fromRoot('proto')],
    keepCase: true,
    longs: Number,
    enums: Number,
    defaults: false,
    oneofs: true,
  })
  const loaded = loadPackageDefinition(definition) as unknown as {
    envoy: { service: { ext_proc: { v3: { ExternalProcessor: ServiceClientConstructor } } } }
  }
  const server = new Server({
    'grpc.max_receive_message_length': 9 << 20,
    'grpc.enable_channelz': 0,
  })
  addHealthService(server, () => true)
  server.addService(loaded.envoy.service.ext_proc.v3.ExternalProcessor.service, {
    Process: (stream: ReflectedStream) => {
      stream.on('data', (message) => {
        if (message.request_headers) {
          const path =
            message.request_headers.headers.headers
              .find(({ key }) => key === ':path')
              ?.raw_value.toString() ?? ''
          const { set, remove } = changesFor(path)
          const set_headers = set.map(({ name, value }) => ({
            header: { key: name, raw_value: Buffer.from(value) },
          }))
          stream.write({
            request_headers: {
              response: {
                header_mutation: { set_headers, remove_headers: remove },
                clear_route_cache: true,
              },
            },
          })
        } else if (message.response_trailers) stream.write({ response_trailers: {} })
      })
      stream.on('end', () => stream.end())
      stream.on('error', () => undefined)
    },
  })
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  )
  chmodSync(address.slice('unix:'.length), 0o600)
}

await (form === 'by-hand' ? serveByHand() : serveReflected())
process.send?.({ kind: 'ready' })
process.on('disconnect', () => process.exit(0))
