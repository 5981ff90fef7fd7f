import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/** Numbers of gRPC. */
export const GRPC_STATUS = {
  invalid_argument: 3,
  resource_exhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const

/** Methods by their path, `/package.Service/Method`. */
export type GrpcMethods = ReadonlyMap<string, (call: GrpcCall) => void>

/** One connection of a peer, as a transport serves it. */
export interface ServedConnection {
  /** Takes no new calls, and closes when those that are open have ended. */
  leave(): void
  destroy(): void
}

/** What makes calls of the bytes of a connection. There are two: built-in.ts, and grpc-js.ts. */
export type ServeConnection = (socket: Socket) => ServedConnection

/**
 * One call of gRPC, seen from the server; messages are bytes. It emits `data` for each message, `end` when the caller has sent
 * all, `cancelled` when the call is over before its end, and `error` when it has failed here.
 */
export abstract class GrpcCall extends EventEmitter {
  constructor() {
    super()
    // An `error` that no listener takes would end the process.
    this.on('error', () => undefined)
  }

  /** W3C Trace Context of the caller; empty if it traces nothing. */
  abstract readonly traceparent: string
  /** The same object for all calls of one connection. */
  abstract readonly connection: object
  /** Its connection was closed. */
  abstract readonly isLost: boolean

  /** The authority of the request. */
  abstract getHost(): string
  /** After the end of the call it does nothing. */
  abstract write(message: Buffer): void
  /** Calls back when the caller has read what was written, unless the call is over before. Not while it waits for a window. */
  abstract whenRead(callback: () => void): void
  /** Ends the call with OK. */
  abstract end(): void
  /**
   * Ends the response with OK. What the caller sends before it has received the end is still emitted; `end` or `cancelled` follows.
   */
  abstract endResponse(): void
  protected abstract sendFailure(code: number, details: string): void

  /** Ends the call with a status of its own. It then emits `error`. */
  fail(code: number, details: string): void {
    this.sendFailure(code, details)
    this.emit('error', { code, details })
  }

  /** A throw of the handler ends this call and no other. */
  begin(handle: (call: GrpcCall) => void): void {
    try {
      handle(this)
    } catch (error) {
      this.#thrown(error)
    }
  }

  /** A throw of a listener ends this call and no other. */
  protected report(event: 'data' | 'end' | 'cancelled', message?: Buffer): void {
    try {
      this.emit(event, message)
    } catch (error) {
      this.#thrown(error)
    }
  }

  #thrown(error: unknown): void {
    try {
      this.fail(GRPC_STATUS.internal, String(error))
    } catch (second) {
      process.emitWarning(`a call failed, and so did its end: ${String(second)}`)
    }
  }
}
