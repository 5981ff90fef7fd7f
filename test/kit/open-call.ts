import { Agent, request } from 'node:http'

export interface OpenCall {
  /** Resolves with the status when the headers of the answer are here; null when the connection was cut before. */
  readonly answered: Promise<number | null>
  /** Resolves when nothing more comes. */
  readonly ended: Promise<OpenCallEnd>
  readonly isOpen: () => boolean
  readonly abort: () => void
}

export interface OpenCallEnd {
  /** Null: cut before any answer. */
  readonly status: number | null
  /** False when the answer was cut in the middle. */
  readonly is_whole: boolean
  readonly text: string
  readonly reason: string | null
  /** By `performance.now()`. */
  readonly at_ms: number
  /** When the last byte came, by the same clock. */
  readonly last_byte_ms: number
}

/** So many calls may be open at a time without one waiting for another. */
const connections = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export const closeOpenCalls = (): void => connections.destroy()

/** A call that may stay open for long, as a stream does. */
export function openCall(
  proxy_url: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): OpenCall {
  let isOpen = true
  let resolveAnswered: (status: number | null) => void = () => undefined
  const answered = new Promise<number | null>((resolve) => {
    resolveAnswered = resolve
  })
  const sent = request(`${proxy_url}/${target}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    agent: connections,
  })
  const ended = new Promise<OpenCallEnd>((resolve) => {
    let status: number | null = null
    let reason: string | null = null
    let text = ''
    let last_byte_ms = 0
    const end = (is_whole: boolean): void => {
      if (!isOpen) return
      isOpen = false
      resolveAnswered(status)
      resolve({ status, is_whole, text, reason, at_ms: performance.now(), last_byte_ms })
    }
    sent.once('error', () => end(false))
    sent.once('response', (response) => {
      status = response.statusCode ?? 0
      reason = (response.headers['x-agw-reason'] as string | undefined) ?? null
      resolveAnswered(status)
      response.setEncoding('utf8').on('data', (part: string) => {
        last_byte_ms = performance.now()
        if (text.length < 10_000) text += part
      })
      response.once('end', () => end(true))
      response.once('error', () => end(false))
      response.once('close', () => end(response.complete))
    })
  })
  sent.end(body)
  return { answered, ended, isOpen: () => isOpen, abort: () => sent.destroy() }
}
