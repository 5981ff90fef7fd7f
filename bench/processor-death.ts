import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { startAll, stopAll } from '../test/kit/shared-stack.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- processor-death [--rounds 5] [--rate 200] [--workers 2] [--signal SIGKILL] [--product DIR]`: short calls at a
 * fixed rate (calls per second, sent whether or not earlier ones were answered) while a signal ends one processor in each
 * round. Prints how many calls got no 200, by status, and the longest time from the first to the last of them. `--product` is
 * another built source tree.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '200' },
    workers: { type: 'string', default: '2' },
    signal: { type: 'string', default: 'SIGKILL' },
    product: { type: 'string' },
  },
})
const rounds = Math.min(Number(values.rounds), 50)
const rate = Math.min(Number(values.rate), 1000)

/** Before the signal, and after it until the next round: longer than a restart and all pauses of Envoy's. */
const BEFORE_MS = 1_000
const AFTER_MS = 5_000
const RECOVERY_LIMIT_MS = 60_000
const HEALTHY_PROCESSORS = '/stats?filter=cluster.ext_proc.membership_healthy'

const stack = await startAll({ AGW_EXT_PROC_WORKERS: values.workers }, values.product)
const access = await stack.operator.makeAccess(stack.ownBaseUrl(), {
  rules: [{ methods: ['GET'], paths: ['/**'] }],
})
const { hostname, port } = new URL(stack.proxyUrl)
const agent = new Agent({ keepAlive: true, maxSockets: 1_024 })

interface Outcome {
  readonly at_ms: number
  readonly took_ms: number
  readonly status: string
}

function send(): Promise<Outcome> {
  const at_ms = performance.now()
  return new Promise((resolve) => {
    const end = (status: string): void =>
      resolve({ at_ms, took_ms: performance.now() - at_ms, status })
    const path = `/${access.base_url}/ok`
    const call = request({ agent, hostname, port, path, headers: access.headers }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        body += part
      })
      answer.once('end', () => {
        const { metadata } = answer.statusCode === 200 ? {} : JSON.parse(body)
        end(`${answer.statusCode}${metadata === undefined ? '' : ` ${JSON.stringify(metadata)}`}`)
      })
      answer.once('error', () => end('cut'))
    })
    call.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'cut'))
    call.end()
  })
}

async function round(number: number): Promise<readonly Outcome[]> {
  const pids = await until('all processors run', async () => {
    const running = await stack.pids('ext-proc')
    return running.length === Number(values.workers) ? running : null
  })
  await stack.ready()
  // One that has just been started runs, but serves only a second later, or several on a busy machine.
  const healthy = `membership_healthy: ${values.workers}`
  await until(
    'Envoy sends calls to all processors',
    async () => (await stack.envoyAdmin(HEALTHY_PROCESSORS)).includes(healthy),
    RECOVERY_LIMIT_MS,
  )
  const victim = pids[number % pids.length] ?? 0
  const began_ms = performance.now()
  const calls: Promise<Outcome>[] = []
  let isEnded = false
  for (;;) {
    const passed_ms = performance.now() - began_ms
    if (passed_ms > BEFORE_MS + AFTER_MS) break
    while (calls.length < (passed_ms / 1000) * rate) calls.push(send())
    if (!isEnded && passed_ms > BEFORE_MS) {
      isEnded = true
      process.kill(victim, values.signal as NodeJS.Signals)
    }
    await wait(2)
  }
  const outcomes = await Promise.all(calls)
  if (values.signal === 'SIGSTOP') process.kill(victim, 'SIGCONT')
  return outcomes
}

await Promise.all(Array.from({ length: 100 }, send))
let all = 0
let failed = 0
for (let i = 0; i < rounds; i++) {
  const outcomes = await round(i)
  const bad = outcomes.filter(({ status }) => status !== '200')
  const counts = new Map<string, number>()
  for (const { status } of bad) counts.set(status, (counts.get(status) ?? 0) + 1)
  const times = bad.map(({ at_ms }) => at_ms)
  const span_ms = bad.length === 0 ? 0 : Math.max(...times) - Math.min(...times)
  const slowest_ms = Math.max(...outcomes.map(({ took_ms }) => took_ms))
  all += outcomes.length
  failed += bad.length
  const by = [...counts].map(([status, count]) => `${count} × ${status}`).join(', ') || 'none'
  process.stdout.write(
    `round ${i + 1}: ${outcomes.length} calls, failed: ${by}; ${span_ms.toFixed(0)} ms from first to last; slowest ${slowest_ms.toFixed(0)} ms\n`,
  )
}
process.stdout.write(
  `${values.workers} processors, ${values.signal}: ${failed} of ${all} calls failed\n`,
)
agent.destroy()
await stopAll(stack)
