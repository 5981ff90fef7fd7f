import { Agent } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { callbackify } from 'node:util'

export interface TunnelOptions {
  /** Null: no `Proxy-Authorization`. */
  readonly key: string | null
  readonly user?: string
  /** Instead of `Basic`. */
  readonly authorization?: string
  /** Further lines of the head. */
  readonly lines?: readonly string[]
  readonly version?: '1.0' | '1.1'
}

export interface Tunnel {
  readonly status: number
  readonly head: string
  /** What came behind the head of the answer is in it again. */
  readonly socket: Socket
}

interface ConnectionTarget {
  readonly host?: string | null
  readonly port?: string | number | null
}

export interface TlsChoice {
  /** Null: none is sent. */
  readonly servername: string | null
  readonly alpn?: readonly string[]
}

/** A client of the forward proxy without any politeness. */
export class ForwardClient {
  readonly #port: number
  readonly #ca: string
  readonly #proxyCa: string | null
  readonly #sockets = new Set<Socket>()
  /** The connection below TLS. */
  readonly #raw = new WeakMap<Socket, Socket>()

  /**
   * @param ca what it trusts inside of tunnels, in PEM
   * @param proxyCa what it trusts for the proxy itself; null: it speaks to it without TLS
   */
  constructor(port: number, ca: string, proxyCa: string | null = null) {
    this.#port = port
    this.#ca = ca
    this.#proxyCa = proxyCa
  }

  /** A connection to the proxy; from a port of the caller's choice. */
  connect(localPort?: number): Socket {
    const from = localPort === undefined ? {} : { localAddress: '127.0.0.1', localPort }
    const to = { port: this.#port, host: '127.0.0.1', ...from }
    const raw = connect(to)
    const socket =
      this.#proxyCa === null
        ? raw
        : connectTls({ socket: raw, host: '127.0.0.1', ca: this.#proxyCa })
    this.#raw.set(socket, raw)
    socket.on('error', () => undefined)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }

  /** Ends the connection to the proxy with a RST. */
  reset(socket: Socket): void {
    this.#raw.get(socket)?.resetAndDestroy()
  }

  /** @param target what stands behind CONNECT */
  tunnel(target: string, options: TunnelOptions, socket = this.connect()): Promise<Tunnel> {
    return new Promise((resolve, reject) => {
      let text = ''
      const read = (part: Buffer): void => {
        text += part.toString('latin1')
        const end = text.indexOf('\r\n\r\n')
        if (end < 0) return
        socket.off('data', read).pause()
        const rest = text.slice(end + 4)
        if (rest !== '') socket.unshift(Buffer.from(rest, 'latin1'))
        const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
        resolve({ status, head: text.slice(0, end), socket })
      }
      socket.on('data', read)
      socket.once('close', () => reject(new Error(`closed before an answer to CONNECT: ${text}`)))
      socket.write(connectHead(target, options))
    })
  }

  /** TLS in a tunnel. @throws (rejects) when the handshake fails */
  tls(socket: Socket, { servername, alpn = ['http/1.1'] }: TlsChoice): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const secure = connectTls({
        socket,
        ca: this.#ca,
        ALPNProtocols: [...alpn],
        ...(servername === null
          ? { checkServerIdentity: () => undefined }
          : { servername, host: servername }),
      })
      secure.once('secureConnect', () => resolve(secure))
      secure.once('error', reject)
      secure.once('close', () => reject(new Error('closed during the handshake')))
    })
  }

  /** For `call` with `connections`: each connection is a tunnel of its own to where the call goes. */
  agent(options: TunnelOptions, over: 'https' | 'http' = 'https'): Agent {
    const agent = new Agent({ keepAlive: true })
    const open = async (host: string, port: string | number): Promise<Duplex> => {
      const { status, socket } = await this.tunnel(`${host}:${port}`, options)
      if (status !== 200) throw new Error(`CONNECT ${status}`)
      return over === 'http' ? socket.resume() : await this.tls(socket, { servername: host })
    }
    agent.createConnection = callbackify((target: ConnectionTarget) =>
      open(target.host ?? '', target.port ?? ''),
    ) as never
    return agent
  }

  async http2(origin: string, options: TunnelOptions): Promise<ClientHttp2Session> {
    const { host, hostname } = new URL(origin)
    const { socket } = await this.tunnel(host, options)
    const secure = await this.tls(socket, { servername: hostname, alpn: ['h2'] })
    const session = connectHttp2(origin, { createConnection: () => secure })
    session.on('error', () => undefined)
    return session
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

function connectHead(target: string, options: TunnelOptions): string {
  const { key, user = 'agent', authorization, lines = [], version = '1.1' } = options
  const basic = Buffer.from(`${user}:${key}`).toString('base64')
  const given = authorization ?? (key === null ? null : `Basic ${basic}`)
  return [
    `CONNECT ${target} HTTP/${version}`,
    `Host: ${target}`,
    ...(given === null ? [] : [`Proxy-Authorization: ${given}`]),
    ...lines,
    '',
    '',
  ].join('\r\n')
}
