import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { classifyFailure } from '../../core/egress/classify-failure.ts'
import type { EgressProxy } from '../../core/egress/egress-proxy.ts'
import { openTunnel } from '../../core/egress/open-tunnel.ts'

/** What is kept to be sent again. */
const RECENT_MAX_BYTES = 1_048_576
/** A receiver that closes a connection properly has read what arrived longer ago than this. */
const ON_ITS_WAY_MS = 5_000
const KEEP_ALIVE_MS = 30_000
const DEFAULT_PORT = 6514

export interface SyslogReceiver {
  readonly url: URL
  readonly limit_ms: number
  readonly signal: AbortSignal
  readonly proxy: EgressProxy | null
}

interface Sent {
  readonly bytes: Buffer
  readonly at_ms: number
}

/**
 * One connection to a syslog receiver. Syslog has no acknowledgements: what was written may not have been read when a connection
 * fails, so the newest of it (RECENT_MAX_BYTES) is written again to the next one.
 */
export class SyslogConnection {
  readonly #to: SyslogReceiver
  #socket: Socket | null = null
  /** The oldest first. */
  #recent: Sent[] = []
  #recent_bytes = 0

  constructor(to: SyslogReceiver) {
    this.#to = to
  }

  /** Resolves when the system has taken the bytes. @throws when it cannot be connected or does not take them in time */
  async write(bytes: Buffer): Promise<void> {
    const socket = this.#socket ?? (await this.#open())
    await this.#finish(socket, (done) => void socket.write(bytes, done))
    this.#keep(bytes)
  }

  /** Connects again, if what was written to the last connection may not have been read. @throws as `write` does */
  async recover(): Promise<void> {
    if (this.#socket === null && this.#recent.length > 0) await this.#open()
  }

  async close(): Promise<void> {
    const socket = this.#socket
    this.#socket = null
    if (socket === null) return
    await this.#finish(socket, (done) => void socket.end(done)).catch(() => undefined)
    socket.destroy()
  }

  async #open(): Promise<Socket> {
    const { url, proxy, limit_ms } = this.#to
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = Number(url.port) || DEFAULT_PORT
    const isTls = url.protocol === 'syslog+tls:'
    const tcp =
      proxy === null || proxy.isExcepted(host, port)
        ? connect({ host, port })
        : await openTunnel(proxy, host, port, limit_ms).catch(failed)
    const socket = isTls
      ? connectTls({ socket: tcp, host, ...(isIP(host) === 0 ? { servername: host } : {}) })
      : tcp
    let failure: Error | null = null
    socket.on('error', (error) => {
      failure = error
    })
    socket.on('close', () => {
      if (this.#socket === socket) this.#lost(failure === null)
    })
    if (isTls || tcp.connecting)
      await this.#finish(socket, (done) => socket.once(isTls ? 'secureConnect' : 'connect', done))
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    // Whatever it sends means nothing; its end has to be read.
    socket.resume()
    const again = Buffer.concat(this.#recent.map((sent) => sent.bytes))
    if (again.length > 0) await this.#finish(socket, (done) => void socket.write(again, done))
    const at_ms = performance.now()
    this.#recent = this.#recent.map(({ bytes }) => ({ bytes, at_ms }))
    this.#socket = socket
    return socket
  }

  #keep(bytes: Buffer): void {
    this.#recent.push({ bytes, at_ms: performance.now() })
    this.#recent_bytes += bytes.length
    while (this.#recent_bytes > RECENT_MAX_BYTES && this.#recent.length > 1)
      this.#recent_bytes -= this.#recent.shift()?.bytes.length ?? 0
  }

  #lost(isProper: boolean): void {
    this.#socket = null
    if (!isProper) return
    const since_ms = performance.now() - ON_ITS_WAY_MS
    this.#recent = this.#recent.filter(({ at_ms }) => at_ms >= since_ms)
    this.#recent_bytes = this.#recent.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  /** Until `begin` has called back; the socket is destroyed when it fails, or after the limit. */
  async #finish(
    socket: Socket,
    begin: (done: (error?: Error | null) => void) => void,
  ): Promise<void> {
    let onClose = (): void => undefined
    const stop = (): void => void socket.destroy(new Error('stopped'))
    const timer = setTimeout(
      () => socket.destroy(new Error(`no progress within ${this.#to.limit_ms / 1000} seconds`)),
      this.#to.limit_ms,
    )
    this.#to.signal.addEventListener('abort', stop)
    try {
      await new Promise<void>((resolve, reject) => {
        let failure: Error | null = null
        socket.once('error', (error) => {
          failure = error
        })
        onClose = () => reject(failure ?? new Error('the receiver closed the connection'))
        socket.once('close', onClose)
        if (socket.destroyed) onClose()
        begin((error) => (error ? reject(error) : resolve()))
      })
    } catch (error) {
      socket.destroy()
      failed(error)
    } finally {
      clearTimeout(timer)
      socket.off('close', onClose)
      this.#to.signal.removeEventListener('abort', stop)
    }
  }
}

function failed(error: unknown): never {
  const { message } = error as Error
  throw new Error(`${classifyFailure(error)} (${message})`)
}
