import { request } from 'node:http'

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
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          const event = parse(block)
          if (event !== null) events.push(event)
        }
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

function parse(block: string): ServerEvent | null {
  const fields: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2)
  }
  const { id, event, data } = fields
  return id === undefined || event === undefined || data === undefined
    ? null
    : { id, event, data: JSON.parse(data) }
}
