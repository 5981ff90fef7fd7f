import { request } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { buildConnector } from 'undici'
import type { EgressProxy } from './egress-proxy.ts'

/** The proxy answered CONNECT, but did not connect. */
export class ProxyRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the egress proxy responded to CONNECT with ${status}`)
    this.status = status
  }
}

/** Of the proxy's answer. */
const HEADERS_LIMIT_BYTES = 16_384

/**
 * A connection to a host and port through the proxy, without TLS. The caller has checked the host (`checkProxiedHost`).
 * @param host with or without the brackets of a URL
 * @throws ProxyRefused; the error of the connection to the proxy; an error with the code ETIMEDOUT after the limit
 */
export function openTunnel(
  proxy: EgressProxy,
  host: string,
  port: number,
  limit_ms: number,
): Promise<Socket> {
  const to = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const { authorization } = proxy
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'CONNECT',
      host: proxy.host,
      port: proxy.port,
      path: to,
      headers: {
        host: to,
        ...(authorization === null ? {} : { 'proxy-authorization': authorization.reveal() }),
      },
      agent: false,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
    })
    const timer = setTimeout(() => {
      const late = new Error('the egress proxy did not connect in time')
      asked.destroy(Object.assign(late, { code: 'ETIMEDOUT' }))
    }, limit_ms)
    asked.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    asked.once('connect', ({ statusCode: status = 0 }, socket: Socket, first: Buffer) => {
      clearTimeout(timer)
      if (status >= 200 && status < 300) {
        if (first.length > 0) socket.unshift(first)
        resolve(socket)
      } else {
        socket.destroy()
        reject(new ProxyRefused(status))
      }
    })
    asked.end()
  })
}

/**
 * Connects an undici client through the proxy. TLS is that of `connect`, so the certificate is still the receiver's.
 * @param check whether the proxy may be asked for the host; throws if not
 */
export function tunnelConnector(
  proxy: EgressProxy,
  connect: buildConnector.connector,
  limit_ms: number,
  check: (hostname: string) => Promise<void> = () => Promise.resolve(),
): buildConnector.connector {
  const open = async (options: buildConnector.Options): Promise<Socket> => {
    const { hostname } = options
    const isTls = options.protocol === 'https:'
    const port = Number(options.port || (isTls ? 443 : 80))
    if (proxy.isExcepted(hostname, port)) return connected(connect, options)
    await check(hostname)
    const socket = await openTunnel(proxy, hostname, port, limit_ms)
    return isTls ? connected(connect, { ...options, httpSocket: socket }) : socket
  }
  return callbackify(open) as unknown as buildConnector.connector
}

const connected = (
  connect: buildConnector.connector,
  options: buildConnector.Options,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    connect(options, (error, socket) => {
      // With an error, undici leaves the socket out.
      if (error === null) resolve(socket)
      else reject(error)
    })
  })
