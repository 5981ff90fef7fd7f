import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { parseArgs } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { openCall } from '../test/kit/open-call.ts'
import { startAll, stopAll } from '../test/kit/shared-stack.ts'
import type { ChildRole } from '../test/kit/start-stack.ts'
import { startWebhookReceiver } from '../test/kit/webhook-receiver.ts'
import { chaosActions } from './chaos-actions.ts'
import { startChaosLoad } from './chaos-load.ts'
import { quantile } from './quantile.ts'
import { chatOf, requestOf } from './request-of.ts'
import { residentBytes } from './resident-bytes.ts'
import { POST_ALL_ON } from './rows.ts'
import { askLoad, startLoad } from './start-load.ts'

/**
 * `npm run bench -- endurance [--minutes 60] [--share 0.5] [--restart-every 20]`: a gateway with two processors and its embedded store,
 * for an hour at half of the rate at which it is saturated by 2 kB POSTs with scan, rate limit and log. Meanwhile there are kills, refusals with
 * a webhook, changes of the scope and the integration that are called, callers that send or read slowly, and `agw restart`. Every answer
 * is checked. Prints calls, latency from when a call was due, memory and descriptors by the minute, and charts of them. The exit code is
 * 1 if a call failed or an answer was wrong, a refusal or event was lost, or a killed agent was served.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    share: { type: 'string', default: '0.5' },
    'restart-every': { type: 'string', default: '20' },
  },
})
const MINUTES = Number(values.minutes)
const RESTART_EVERY = Number(values['restart-every'])
const MINUTE_MS = 60_000
const CONNECTIONS = 128
const SATURATING_CONNECTIONS = 32
const SATURATION_CALLS = 12_000
const SATURATION_ROUNDS = 4
/** Above what is called. */
const RATE_PER_MINUTE = 10_000_000
/** Of calls whose answer, log entry and receipt are checked by their content. */
const MARKED_PER_SECOND = 10
const CHANGE_PAUSE_MS = 2_000
const SLOW_CALLERS = 10
const PIECE_BYTES = 64
const PIECE_PAUSE_MS = 250
const STREAM_MS = 10_000
const ANSWER = '{"ok":true}'
const ROLES: readonly ChildRole[] = ['envoy', 'ext-proc', 'access-log', 'admin', 'valkey']
const MAX_ROWS_OF_CHART = 60

interface Minute {
  readonly calls: number
  readonly failed: number
  /** p50, p99, p99.9 and the slowest. */
  readonly latencies_ms: readonly number[]
  readonly memory_mb: readonly number[]
  readonly descriptors: readonly number[]
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const receiver = await startWebhookReceiver()
const stack = await startAll({
  NODE_EXTRA_CA_CERTS: receiver.certificates.ca_file,
  AGW_EXT_PROC_WORKERS: '2',
  AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
})
const { load, upstream_port, stop: stopLoad } = await startLoad()
const access = await stack.operator.makeAccess(`http://127.0.0.1:${upstream_port}/v1`, {
  scope: {
    injection_detection: { enabled: true, sensitivity: 'medium' },
    rate_limiting: { requests_per_minute: RATE_PER_MINUTE },
  },
})
const target = `/${access.base_url}/x`
const chat = chatOf(POST_ALL_ON.body_bytes)
const authorization = `authorization: ${access.headers.authorization}\r\n`
const order = {
  port: Number(new URL(stack.proxyUrl).port),
  request: requestOf({ path: target, headersOf: () => authorization }, POST_ALL_ON),
  answer: ANSWER,
  reconnects: true,
}

const state = {
  isOver: false,
  changes: 0,
  changes_refused: 0,
  slow: 0,
  slow_failed: 0,
  restarts: 0,
}
const per_second = (await saturation()) * Number(values.share)
const marked = await startChaosLoad(stack, receiver, MARKED_PER_SECOND)
const beside = Promise.all([
  changes(),
  ...Array.from({ length: SLOW_CALLERS }, (_, i) => slowCalls(i % 2 === 0 ? sendSlowly : holdOpen)),
  restarts(),
])
print(`${per_second.toFixed(0)} calls/s, ${values.share} of the rate at saturation`)
print(
  `| minute | calls | failed | p50 ms | p99 | p99.9 | slowest | MB: ${ROLES.join(', ')} | descriptors |`,
)
print('|---|---|---|---|---|---|---|---|---|')
const minutes: Minute[] = []
for (let i = 0; i < MINUTES; i++) {
  const one = await minute()
  minutes.push(one)
  const [p50 = 0, ...rest] = one.latencies_ms.map((ms) => ms.toFixed(1))
  const cells = [i + 1, one.calls, one.failed, p50, ...rest]
  print(`| ${cells.join(' | ')} | ${one.memory_mb.join(', ')} | ${one.descriptors.join(', ')} |`)
}
state.isOver = true
await beside
const result = await marked.end()
chart(
  'Latency from when a call was due: p50 and p99, ms',
  [0, 1].map((i) => minutes.map(({ latencies_ms }) => latencies_ms[i] ?? 0)),
)
for (const [i, role] of ROLES.entries())
  chart(`Memory of ${role}, MB`, [minutes.map(({ memory_mb }) => memory_mb[i] ?? 0)])
const sum = (member: 'calls' | 'failed'): number =>
  minutes.reduce((all, one) => all + one[member], 0)
const { isOver: _, ...others } = state
print(
  JSON.stringify(
    { calls: sum('calls'), failed: sum('failed'), ...others, marked: result },
    null,
    2,
  ),
)
await stopAll(stack)
stopLoad()
await receiver.stop()
const { failed_calls, wrong_answers, refusals_lost, events_lost, late_calls, revived_agents } =
  result
const faults =
  sum('failed') +
  state.slow_failed +
  state.changes_refused +
  failed_calls +
  wrong_answers +
  refusals_lost +
  events_lost +
  late_calls +
  revived_agents
process.exit(faults === 0 ? 0 : 1)

/** Calls a second in a closed loop, once all is warm. */
async function saturation(): Promise<number> {
  let rate = 0
  for (let round = 0; round < SATURATION_ROUNDS; round++) {
    const connections = SATURATING_CONNECTIONS
    const { took_ms } = await askLoad(load, { ...order, connections, calls: SATURATION_CALLS })
    rate = (SATURATION_CALLS / took_ms) * 1000
  }
  return rate
}

async function minute(): Promise<Minute> {
  const calls = Math.ceil((per_second * MINUTE_MS) / 1000)
  const paced = { ...order, connections: CONNECTIONS, calls, per_second }
  const { latencies_ms, failed } = await askLoad(load, paced)
  const used = await Promise.all(ROLES.map(usedBy))
  return {
    calls,
    // Also those whose connection ended before their answer.
    failed: Math.max(failed, calls - latencies_ms.length),
    latencies_ms: [0.5, 0.99, 0.999, 1].map((share) => quantile(latencies_ms, share)),
    memory_mb: used.map(({ memory_mb }) => memory_mb),
    descriptors: used.map(({ descriptors }) => descriptors),
  }
}

/** Resident memory and open descriptors of the processes of a role, the largest of each. */
async function usedBy(role: ChildRole): Promise<{ memory_mb: number; descriptors: number }> {
  let [memory_mb, descriptors] = [0, 0]
  for (const pid of await stack.pids(role)) {
    try {
      memory_mb = Math.max(memory_mb, Math.round(residentBytes(pid) / 1024 ** 2))
      descriptors = Math.max(descriptors, readdirSync(`/proc/${pid}/fd`).length)
    } catch {
      // It is being restarted.
    }
  }
  return { memory_mb, descriptors }
}

/** Of what the load calls, so that all edges read it again. */
async function changes(): Promise<void> {
  const { send } = stack.operator
  for (let n = 0; !state.isOver; n++) {
    const change =
      n % 2 === 0
        ? send('PUT', `/admin/scopes/${access.scope_id}`, {
            rate_limiting: { requests_per_minute: RATE_PER_MINUTE - n },
          })
        : send('PUT', `/admin/integrations/${access.integration.integration_id}`, {
            name: `renamed-${n}`,
          })
    await change.then(
      () => state.changes++,
      (error: Error) => {
        state.changes_refused++
        print(error.message)
      },
    )
    await wait(CHANGE_PAUSE_MS)
  }
}

async function slowCalls(once: () => Promise<boolean>): Promise<void> {
  while (!state.isOver) {
    const isRight = await once()
    state.slow++
    if (!isRight) state.slow_failed++
  }
}

/** A body in small pieces. */
function sendSlowly(): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { ...access.headers, 'content-type': 'application/json' }
    const sent = request(stack.proxyUrl + target, { method: 'POST', headers, agent: false })
    sent.once('error', () => resolve(false))
    sent.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('close', () => resolve(response.statusCode === 200 && text === ANSWER))
    })
    void (async () => {
      for (let at = 0; at < chat.length; at += PIECE_BYTES) {
        sent.write(chat.slice(at, at + PIECE_BYTES))
        await wait(PIECE_PAUSE_MS)
      }
      sent.end()
    })()
  })
}

/** A stream of events that does not end by itself. */
async function holdOpen(): Promise<boolean> {
  const stream = openCall(stack.proxyUrl, `${target.slice(1)}/open`, access.headers)
  if ((await stream.answered) !== 200) return false
  await wait(STREAM_MS)
  const isOpen = stream.isOpen()
  stream.abort()
  await stream.ended
  return isOpen
}

async function restarts(): Promise<void> {
  const restart = chaosActions(
    stack,
    { sentinels: null, relayed: null },
    { seed: 1, only: ['restart'] },
  )
  let due_ms = performance.now() + RESTART_EVERY * MINUTE_MS
  while (!state.isOver) {
    if (performance.now() >= due_ms) {
      due_ms += RESTART_EVERY * MINUTE_MS
      await restart()
      state.restarts++
    }
    await wait(1_000)
  }
}

/** Mermaid, which shows in Markdown; medians where there are more minutes than a chart has room for. */
function chart(title: string, lines: readonly (readonly number[])[]): void {
  const step = Math.ceil(minutes.length / MAX_ROWS_OF_CHART)
  print('```mermaid\nxychart-beta')
  print(`  title "${title}"`)
  print(`  x-axis "minutes" ${step} --> ${minutes.length}`)
  for (const line of lines) {
    const groups = Array.from({ length: Math.ceil(line.length / step) }, (_unused, i) =>
      line.slice(i * step, (i + 1) * step).toSorted((a, b) => a - b),
    )
    print(
      `  line [${groups.map((group) => (group[group.length >> 1] ?? 0).toFixed(1)).join(', ')}]`,
    )
  }
  print('```')
}
