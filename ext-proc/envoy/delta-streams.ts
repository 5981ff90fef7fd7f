import { GRPC_STATUS } from '../grpc/grpc-call.ts'
import type { EnvoyStream } from './start-server.ts'

/** A stream of Envoy, on which it asks for resources by name. */
export interface DeltaStream {
  readonly stream: EnvoyStream
}

export interface DeltaStreamsParts<Request, At extends DeltaStream> {
  /** What is served, in errors. */
  readonly what: string
  readonly begin: (stream: EnvoyStream) => At
  /** @throws when the message is malformed */
  readonly read: (bytes: Buffer) => Request
  /** @throws (rejects) when Envoy's question cannot be answered, which ends the stream */
  readonly receive: (at: At, request: Request) => Promise<void>
  /** Called once when the stream has ended, however that happened. */
  readonly ended?: (at: At) => void
  readonly log: Record<'error', (data: object, message: string) => void>
}

/** The open streams of a delta xDS service, from the first message to the end. Iterated, it yields them. */
export class DeltaStreams<Request, At extends DeltaStream> {
  readonly #parts: DeltaStreamsParts<Request, At>
  readonly #open = new Set<At>()

  constructor(parts: DeltaStreamsParts<Request, At>) {
    this.#parts = parts
  }

  readonly handler = (stream: EnvoyStream): void => {
    const at = this.#parts.begin(stream)
    this.#open.add(at)
    stream.on('data', (bytes: Buffer) => this.#receive(at, bytes))
    stream.on('end', () => {
      this.#drop(at)
      stream.end()
    })
    stream.on('cancelled', () => this.#drop(at))
    stream.on('error', () => this.#drop(at))
  };

  [Symbol.iterator](): Iterator<At> {
    return this.#open.values()
  }

  /** A stream may end while an answer is prepared. */
  isOpen(at: At): boolean {
    return this.#open.has(at)
  }

  /** Envoy opens its streams again, at another process. It keeps what it has. */
  stop(): void {
    for (const at of this.#open) {
      this.#drop(at)
      at.stream.end()
    }
  }

  #receive(at: At, bytes: Buffer): void {
    const { what, read, receive, log } = this.#parts
    let request: Request
    try {
      request = read(bytes)
    } catch {
      this.#fail(at, GRPC_STATUS.invalid_argument, 'malformed message')
      return
    }
    receive(at, request).catch((error: unknown) => {
      log.error({ error: String(error) }, `a ${what} could not be sent`)
      this.#fail(at, GRPC_STATUS.unavailable, `no ${what}`)
    })
  }

  #fail(at: At, code: number, details: string): void {
    this.#drop(at)
    at.stream.fail(code, details)
  }

  #drop(at: At): void {
    if (this.#open.delete(at)) this.#parts.ended?.(at)
  }
}
