import { EventEmitter } from 'node:events'
import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../../core/system/root.ts'
import type { EnvoyStream } from '../../ext-proc/envoy/start-server.ts'

const definition = loadSync('envoy/service/ext_proc/v3/external_processor.proto', {
  includeDirs: [fromRoot('proto')],
  keepCase: true,
  defaults: true,
  oneofs: true,
})
const service = definition['envoy.service.ext_proc.v3.ExternalProcessor'] as Record<
  string,
  { requestSerialize: (value: object) => Buffer; responseDeserialize: (bytes: Buffer) => any }
>
const process_ = service['Process']
if (process_ === undefined) throw new Error('proto/ does not define Process')

const headerMap = (headers: Readonly<Record<string, string>>) => ({
  headers: Object.entries(headers).map(([key, value]) => ({
    key,
    raw_value: Buffer.from(value, 'latin1'),
  })),
})

/** Envoy's side of one ext_proc stream, without Envoy. What was sent is read by the definition in proto/. */
export class FakeEnvoyStream extends EventEmitter {
  /** What the processor has answered, oldest first, as decoded messages. */
  readonly messages: any[] = []
  /** Whether the processor has ended its half. */
  isEnded = false
  /** The gRPC status by which the processor has failed the stream. */
  failed: string | null = null
  readonly #has_access_log: boolean
  readonly #readers: (() => void)[] = []

  constructor(has_access_log = false) {
    super()
    this.#has_access_log = has_access_log
    this.on('error', ({ details }: { details?: string }) => {
      this.failed ??= details ?? ''
    })
  }

  /** What the processor has answered, oldest first, each in a few words. */
  get sent(): string[] {
    return this.messages.map(describe)
  }

  /** As the processor gets it. */
  get stream(): EnvoyStream {
    return this as unknown as EnvoyStream
  }

  getHost(): string {
    return this.#has_access_log ? 'agw-with-access-log' : 'agw'
  }

  write(bytes: Buffer): void {
    this.messages.push(process_?.responseDeserialize(bytes))
  }

  end(): void {
    this.isEnded = true
  }

  /** The processor fails the stream. */
  fail(code: number, details: string): void {
    this.emit('error', { code, details })
  }

  isLost = false

  whenRead(callback: () => void): void {
    this.#readers.push(callback)
  }

  /** Envoy has read all that was sent. */
  read(): void {
    for (const callback of this.#readers.splice(0)) callback()
  }

  requestHeaders(end_of_stream: boolean, headers: Readonly<Record<string, string>> = {}): void {
    this.#receive({ request_headers: { headers: headerMap(headers), end_of_stream } })
  }

  requestBody(body: string, end_of_stream = true): void {
    this.#receive({ request_body: { body: Buffer.from(body), end_of_stream } })
  }

  requestTrailers(trailers: Readonly<Record<string, string>> = { 'x-t': '1' }): void {
    this.#receive({ request_trailers: { trailers: headerMap(trailers) } })
  }

  responseHeaders(headers: Readonly<Record<string, string>> = { ':status': '200' }): void {
    this.#receive({ response_headers: { headers: headerMap(headers), end_of_stream: false } })
  }

  responseBody(body: string, end_of_stream = false): void {
    this.#receive({ response_body: { body: Buffer.from(body), end_of_stream } })
  }

  responseTrailers(trailers: Readonly<Record<string, string>> = { 'x-t': '1' }): void {
    this.#receive({ response_trailers: { trailers: headerMap(trailers) } })
  }

  /** Bytes as they are. */
  bytes(bytes: Buffer): void {
    this.emit('data', bytes)
  }

  #receive(message: object): void {
    this.bytes(process_?.requestSerialize(message) ?? Buffer.alloc(0))
  }
}

function describe(message: any): string {
  if (message.response === 'immediate_response') {
    const { status, body, details } = message.immediate_response
    const { killed_at } = JSON.parse(body.toString()).details ?? {}
    return `refuse ${status.code} ${details}${killed_at === undefined ? '' : ` ${killed_at}`}`
  }
  if (message.override_message_timeout !== null) return 'more time'
  const kind: string = message.response
  const { request_body_mode } = message.mode_override ?? {}
  if (kind === 'request_headers' && request_body_mode === 2) return 'ask for the body'
  const changes = message[kind]?.response
  return kind.startsWith('request') && changes?.clear_route_cache
    ? `pass in ${kind}`
    : `go on ${kind}`
}
