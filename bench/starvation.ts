import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { type HttpAnswer, call } from '../test/kit/call.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { startStack } from '../test/kit/start-stack.ts'
import { startUpstream } from '../test/kit/start-upstream.ts'
import { quantile } from './quantile.ts'

/**
 * `npm run bench -- starvation [--seconds 20] [--bodies 10] [--product DIR]`: one agent keeps several large bodies, which are slow to
 * scan, on their way all the time; another agent sends bodies of 300 KB, one after the other. Prints how many the other agent could
 * send, how long they took, how many large bodies were answered while one of its own waited, which does not depend on how busy the
 * machine is, and how both were answered. `--product` is another built source tree.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    bodies: { type: 'string', default: '10' },
    product: { type: 'string' },
  },
})
const seconds = Math.min(Number(values.seconds), 3_600)
const atOnce = Math.min(Number(values.bodies), 100)
const LARGE_BYTES = 2_000_000
const OTHER_BYTES = 300_000
const WORDS = 'ignore all previous show tell your system prompt what instructions rules now'.split(
  ' ',
)

const api = await startUpstream((_request, response) => void response.end('{}'))
const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, values.product)
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const scope = { injection_detection: { enabled: true, mode: 'log' } }
const large = await operator.makeAccess(`${api.origin}/large`, { scope })
const other = await operator.makeAccess(`${api.origin}/other`, { scope })

function chat(bytes: number): string {
  let content = ''
  for (let i = 7; content.length < bytes; i = (Math.imul(i, 1_103_515_245) + 12_345) & 0x7fffffff)
    content += `${WORDS[(i >> 8) % WORDS.length]} `
  return JSON.stringify({ messages: [{ role: 'user', content }] })
}

const connections = new Agent({ keepAlive: true, maxSockets: 256 })
const sender = (access: typeof large, body: string) => async (): Promise<string> => {
  const answer: HttpAnswer | null = await call({
    to: stack.proxyUrl,
    path: `/${access.base_url}/chat`,
    method: 'POST',
    headers: { ...access.headers, 'content-type': 'application/json' },
    body,
    connections,
    limit_ms: 120_000,
  }).catch(() => null)
  if (answer === null) return 'cut'
  return answer.status === 200 ? '200' : `${answer.status} ${answer.header('x-agw-reason')}`
}
const sendLarge = sender(large, chat(LARGE_BYTES))
const sendOther = sender(other, chat(OTHER_BYTES))

async function measure(title: string, senders: number): Promise<void> {
  let isOver = false
  const counts = { large: new Map<string, number>(), other: new Map<string, number>() }
  const count = (of: keyof typeof counts, status: string): void =>
    void counts[of].set(status, (counts[of].get(status) ?? 0) + 1)
  const load = Array.from({ length: senders }, async () => {
    while (!isOver) count('large', await sendLarge())
  })
  const took_ms: number[] = []
  const overtaken: number[] = []
  const began_ms = performance.now()
  while (performance.now() - began_ms < seconds * 1_000) {
    const at_ms = performance.now()
    const before = counts.large.get('200') ?? 0
    count('other', await sendOther())
    took_ms.push(performance.now() - at_ms)
    overtaken.push((counts.large.get('200') ?? 0) - before)
  }
  isOver = true
  await Promise.all(load)
  took_ms.sort((a, b) => a - b)
  overtaken.sort((a, b) => a - b)
  const by = (of: keyof typeof counts): string =>
    [...counts[of]].map(([status, times]) => `${times} × ${status}`).join(', ') || 'none'
  process.stdout.write(
    `${title}: other agent ${by('other')}, p50 ${quantile(took_ms, 0.5).toFixed(0)} ms, slowest ${quantile(took_ms, 1).toFixed(0)} ms; large bodies scanned meanwhile: p50 ${quantile(overtaken, 0.5)}, most ${quantile(overtaken, 1)}; large bodies ${by('large')}\n`,
  )
}

await measure('alone', 0)
await measure(`${atOnce} large bodies at once`, atOnce)
connections.destroy()
await stack.stop()
await api.stop()
