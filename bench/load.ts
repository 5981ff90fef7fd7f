import { connect, type Socket } from 'node:net'

/** One run of a closed loop: as many calls as asked, over so many keep-alive connections, each with one call in flight. */
interface LoadOrder {
  readonly port: number
  readonly connections: number
  readonly calls: number
  /** The request as it goes on the wire. */
  readonly request: string
}

export interface LoadResult {
  readonly took_ms: number
  readonly failed: number
}

/** A process of its own, so that the load costs neither side of the comparison; takes orders and answers by IPC. */
process.on('message', (order: LoadOrder) => {
  run(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      throw error
    },
  )
})

async function run({ port, connections, calls, request }: LoadOrder): Promise<LoadResult> {
  const bytes = Buffer.from(request, 'latin1')
  const state = { left: calls, failed: 0 }
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, () => drive(port, bytes, state)))
  return { took_ms: performance.now() - started, failed: state.failed }
}

function drive(
  port: number,
  request: Buffer,
  state: { left: number; failed: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    let received = ''
    const next = (): void => {
      if (state.left-- <= 0) socket.end()
      else socket.write(request)
    }
    socket.on('connect', next)
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const length = responseLength(received)
      if (length === null || received.length < length) return
      if (!received.startsWith('HTTP/1.1 200')) state.failed++
      received = received.slice(length)
      next()
    })
    socket.on('close', () => resolve())
    socket.on('error', reject)
    onUnexpectedEnd(socket, reject)
  })
}

const onUnexpectedEnd = (socket: Socket, reject: (error: Error) => void): void => {
  socket.on('end', () => {
    if (!socket.writableEnded) reject(new Error('the connection ended before the load did'))
  })
}

/** Head and body of the first response in the text; null while the head is not whole. */
function responseLength(text: string): number | null {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))
  return head + 4 + Number(length?.[1] ?? 0)
}
