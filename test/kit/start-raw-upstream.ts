import { createServer, type AddressInfo, type Socket } from 'node:net'

export interface RawUpstream {
  readonly origin: string
  /** Heads of the requests that arrived, oldest first. */
  readonly heads: string[]
  readonly stop: () => Promise<void>
}

/**
 * An upstream that sends bytes no HTTP library would: `answer` gets the head of a request and returns what to write.
 * @param port any free one unless it is given; rejects if that one is taken
 */
export async function startRawUpstream(
  answer: (head: string) => string,
  port = 0,
): Promise<RawUpstream> {
  const heads: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    let text = ''
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = text.slice(0, end)
      text = ''
      heads.push(head)
      socket.write(Buffer.from(answer(head), 'latin1'))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heads,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
