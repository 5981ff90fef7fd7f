import type { Socket } from 'node:net'
import { connect } from 'node:net'

/** One answer as it came; `rest` of what arrived is in the next one. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

export interface RawOutcome {
  readonly answers: readonly RawAnswer[]
  /** Whether the other side closed the connection. */
  readonly was_closed: boolean
}

/** A connection on which the other side has begun to answer and then says nothing for this long has said all. */
const SILENCE_MS = 1_000
/** For the first byte of an answer, on a machine that is busy. */
const ANSWER_LIMIT_MS = 30_000

/**
 * Writes the bytes as they are and reads what comes until `wanted` whole answers are there or the other side closes.
 * For what no client library would send: smuggling shapes, folded headers, odd request lines.
 * @param to where to connect to, or a connection, which is closed behind the answers
 */
export function rawHttp(
  to: string | Socket,
  bytes: string | Buffer,
  wanted = 1,
): Promise<RawOutcome> {
  return new Promise((resolve, reject) => {
    const socket = typeof to === 'string' ? connectTo(to) : to
    let text = ''
    const finish = (was_closed: boolean): void => {
      socket.destroy()
      resolve({ answers: readAnswers(text, was_closed), was_closed })
    }
    socket.setTimeout(ANSWER_LIMIT_MS, () => finish(false))
    socket.on('data', (part) => {
      socket.setTimeout(SILENCE_MS)
      text += part.toString('latin1')
      if (readAnswers(text, false).length >= wanted) finish(false)
    })
    socket.once('end', () => finish(true))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish(true)
      else reject(error)
    })
    // A tunnel is handed over paused.
    socket.resume()
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  })
}

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname)
}

function readAnswers(text: string, was_closed: boolean): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let at = 0; at < text.length; ) {
    const headEnd = text.indexOf('\r\n\r\n', at)
    if (headEnd < 0) return answers
    const head = text.slice(at, headEnd)
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
    const body = readBody(text, headEnd + 4, head, was_closed)
    if (body === null) return answers
    answers.push({ status, head, body: body.text })
    at = body.end
  }
  return answers
}

function readBody(
  text: string,
  start: number,
  head: string,
  was_closed: boolean,
): { readonly text: string; readonly end: number } | null {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    const end = start + Number(length)
    return end <= text.length ? { text: text.slice(start, end), end } : null
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    return was_closed || /^HTTP\/1\.[01] (1\d\d|204|304)/.test(head)
      ? { text: text.slice(start), end: text.length }
      : null
  let body = ''
  for (let at = start; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (end + 2 > text.length) return null
    body += text.slice(lineEnd + 2, end)
    at = end + 2
    if (size === 0) return { text: body, end: at }
  }
}
