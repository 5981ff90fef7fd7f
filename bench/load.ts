import { connect, type Socket } from 'node:net'

export interface LoadOrder {
  readonly port: number
  readonly connections: number
  readonly calls: number
  /** The request as it goes on the wire. */
  readonly request: string
  /** What every response ends with. */
  readonly answer?: string
  /** Where a connection that ends is opened again, its call has failed. Otherwise the whole load fails. */
  readonly reconnects?: boolean
  /**
   * Absent: a closed loop, in which each connection sends its next call when it has the response. Otherwise calls are due at this rate,
   * whatever the responses do, and are sent on the next free connection.
   */
  readonly per_second?: number
  /** Whether the result has every answer. */
  readonly tells?: boolean
}

/** Times of the clock of this machine. */
export interface LoadAnswer {
  readonly sent_ms: number
  readonly answered_ms: number
  readonly status: number
  readonly body: string
}

export interface LoadResult {
  readonly took_ms: number
  readonly failed: number
  /**
   * With a rate: ms from when each call was due until its response was there, ascending. A call that had to wait because others were slow
   * counts from when it was due, so slow phases are not left out (coordinated omission).
   */
  readonly latencies_ms: readonly number[]
  readonly answers: readonly LoadAnswer[]
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

async function run(order: LoadOrder): Promise<LoadResult> {
  const started = performance.now()
  const schedule =
    order.per_second === undefined ? closedLoop(order) : paced(order, order.per_second)
  const answers: LoadAnswer[] = []
  const note = order.tells === true ? (one: LoadAnswer) => void answers.push(one) : null
  const { port, connections } = order
  const request = Buffer.from(order.request, 'latin1')
  const driveOn = async (): Promise<void> => {
    const driven = drive(port, request, order.answer ?? '', schedule, note)
    if (order.reconnects !== true) return await driven
    const isWhole = await driven.then(
      () => true,
      () => false,
    )
    if (isWhole) return
    schedule.failed++
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
    return await driveOn()
  }
  await Promise.all(Array.from({ length: connections }, driveOn))
  schedule.close()
  return {
    took_ms: performance.now() - started,
    failed: schedule.failed,
    latencies_ms: schedule.latencies_ms.toSorted((a, b) => a - b),
    answers,
  }
}

/** Says when a connection sends its next call. */
interface Schedule {
  failed: number
  readonly latencies_ms: number[]
  /** Calls back with the time at which the call was due, now or later; with null when there is none left. */
  readonly next: (send: (due_ms: number | null) => void) => void
  readonly close: () => void
}

function closedLoop({ calls }: LoadOrder): Schedule {
  let left = calls
  return {
    failed: 0,
    latencies_ms: [],
    next: (send) => send(left-- > 0 ? performance.now() : null),
    close: () => undefined,
  }
}

function paced({ calls }: LoadOrder, per_second: number): Schedule {
  const began_ms = performance.now()
  const free: ((due_ms: number | null) => void)[] = []
  let sent = 0
  const dueOf = (call: number): number => began_ms + (call / per_second) * 1000
  const sendDue = (): void => {
    while (free.length > 0 && sent < calls && dueOf(sent) <= performance.now())
      free.shift()?.(dueOf(sent++))
    if (sent >= calls) for (const end of free.splice(0)) end(null)
  }
  const timer = setInterval(sendDue, 1)
  return {
    failed: 0,
    latencies_ms: [],
    next: (send) => {
      free.push(send)
      sendDue()
    },
    close: () => clearInterval(timer),
  }
}

function drive(
  port: number,
  request: Buffer,
  answer: string,
  schedule: Schedule,
  note: ((one: LoadAnswer) => void) | null,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    let received = ''
    let due_ms = 0
    let sent_ms = 0
    const next = (): void =>
      schedule.next((due) => {
        if (due === null) socket.end()
        else socket.write(request)
        due_ms = due ?? 0
        sent_ms = Date.now()
      })
    socket.on('connect', next)
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const length = responseLength(received)
      if (length === null || received.length < length) return
      schedule.latencies_ms.push(performance.now() - due_ms)
      const response = received.slice(0, length)
      if (!response.startsWith('HTTP/1.1 200') || !response.endsWith(answer)) schedule.failed++
      received = received.slice(length)
      note?.({
        sent_ms,
        answered_ms: Date.now(),
        status: Number(response.slice(9, 12)),
        body: response.slice(response.indexOf('\r\n\r\n') + 4),
      })
      next()
    })
    socket.on('close', () => resolve())
    socket.on('error', reject)
    onUnexpectedEnd(socket, reject)
  })
}

/** A port that is closed for a moment is not tried again at once. */
const RECONNECT_MS = 100

const onUnexpectedEnd = (socket: Socket, reject: (error: Error) => void): void => {
  socket.on('end', () => {
    if (!socket.writableEnded) reject(new Error('the connection ended before the load did'))
  })
}

const LAST_CHUNK = '0\r\n\r\n'

/** Head and body of the first response in the text; null while that is not known. */
function responseLength(text: string): number | null {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return null
  if (/\r\ntransfer-encoding: chunked/i.test(text.slice(0, head)))
    return text.endsWith(`\r\n${LAST_CHUNK}`) ? text.length : null
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))
  return head + 4 + Number(length?.[1] ?? 0)
}
