import { Agent, request } from 'node:http'

/** A process of its own that sends the same request over and over: so many at a time, or so many a second. */
export type Flood = {
  readonly to: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly at_once: number
  readonly a_second?: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })
const statuses: Record<string, number> = {}
/** After a failed connection, so that a dead service is not asked without pause. */
const PAUSE_MS = 20

const send = ({ to, method, path, headers, body }: Flood): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(to)
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    const options = { hostname, port, method, path, agent, headers: { ...headers, ...length } }
    const call = request(options, (answer) => {
      answer.resume()
      answer.once('close', () => resolve(String(answer.statusCode)))
    })
    call.once('error', () => setTimeout(() => resolve('failed'), PAUSE_MS))
    call.end(body)
  })

async function attempt(flood: Flood): Promise<void> {
  const status = await send(flood)
  statuses[status] = (statuses[status] ?? 0) + 1
}

async function loop(flood: Flood): Promise<never> {
  for (;;) await attempt(flood)
}

process.on('message', (message: Flood | 'report') => {
  if (message === 'report') process.send?.(statuses)
  else if (message.a_second !== undefined)
    setInterval(() => void attempt(message), 1_000 / message.a_second)
  else for (let i = 0; i < message.at_once; i++) void loop(message)
})
