import { once } from 'node:events'
import { createServer as createHttp, type IncomingHttpHeaders } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'

/** An API with WebSockets. */
export interface SocketApi {
  readonly port: number
  /** One for each handshake. */
  readonly opened: readonly OpenedSocket[]
  readonly stop: () => Promise<void>
}

export interface OpenedSocket {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly socket: WebSocket
  /** The bytes that have come after the handshake. */
  readonly bytes: () => Buffer
  readonly messages: string[]
  readonly closed: Promise<number>
}

/** Echoes each message and refuses handshakes below `/no`. Other requests get an event stream without an end. */
export async function startSocketApi(
  tls: { readonly key: string; readonly cert: string } | null = null,
  options: ServerOptions = {},
): Promise<SocketApi> {
  const http = tls === null ? createHttp() : createHttps(tls)
  const opened: OpenedSocket[] = []
  const sockets = new Set<Socket>()
  const server = new WebSocketServer({ noServer: true, ...options })
  http.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  http.on('request', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hello\n\n')
  })
  http.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/no')) {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno')
      return
    }
    const parts: Buffer[] = [head]
    socket.on('data', (part: Buffer) => parts.push(part))
    server.handleUpgrade(request, socket, head, (made) => {
      const messages: string[] = []
      opened.push({
        url: request.url ?? '',
        headers: request.headers,
        socket: made,
        bytes: () => Buffer.concat(parts),
        messages,
        closed: once(made, 'close').then(([code]) => code as number),
      })
      made.on('error', () => {})
      made.on('message', (data: Buffer, isBinary) => {
        messages.push(data.toString())
        made.send(data, { binary: isBinary })
      })
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    port: (http.address() as AddressInfo).port,
    opened,
    stop: async () => {
      for (const { socket } of opened) socket.terminate()
      for (const socket of sockets) socket.destroy()
      http.close()
      await once(http, 'close')
    },
  }
}
