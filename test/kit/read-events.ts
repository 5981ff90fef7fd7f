import { request } from 'node:http'
import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  readonly id: string
  readonly event: string
  readonly data: any
}

export interface EventReader {
  readonly status: number
  readonly events: readonly ServerEvent[]
  /** Resolves when so many events have come. */
  readonly until: (count: number) => Promise<void>
  readonly ended: Promise<void>
  readonly close: () => void
}

/** Follows server-sent events as a client does. */
export function readEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventReader> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers, agent: false })
    call.once('error', reject)
    call.once('response', (answer) => {
      const events: ServerEvent[] = []
      const waiting = new Set<() => void>()
      const parser = createParser({
        onEvent: ({ id = '', event = '', data }) => {
          events.push({ id, event, data: JSON.parse(data) })
        },
      })
      answer.setEncoding('utf8').on('data', (part: string) => {
        parser.feed(part)
        for (const tell of waiting) tell()
      })
      const ended = new Promise<void>((done) => {
        answer.once('close', () => done())
      })
      answer.on('error', () => undefined)
      resolve({
        status: answer.statusCode ?? 0,
        events,
        until: (count) =>
          new Promise((done) => {
            const look = (): void => {
              if (events.length < count) return
              waiting.delete(look)
              done()
            }
            waiting.add(look)
            look()
          }),
        ended,
        close: () => call.destroy(),
      })
    })
    call.end()
  })
}
