import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { WebSocket } from 'ws'
import { quantile } from '../../bench/quantile.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { startSocketApi } from '../kit/start-socket-api.ts'

// Kills an agent with 1,000 open WebSockets, and one with as many event streams: how long until the receipt and until each client
// sees the end, and what passes after the receipt. Build first.
//
//   node dist/test/witness/websocket-kills.js [COUNT]

const COUNT = Number(process.argv[2] ?? 1_000)
const BATCH = 50

const stack = await startAll({ AGW_KILL_LEASE_MS: '15000' })
const api = await startSocketApi()
const base = `http://127.0.0.1:${api.port}`
const rules = [{ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }]

interface Subject {
  readonly name: string
  readonly open: (index: number) => Promise<void>
  /** Tries to get something through after the receipt. */
  readonly afterwards: () => void
  readonly passed: () => number
}

const closed_ms: number[] = []
const connections = new Agent({ maxSockets: COUNT })

async function measure(subject: Subject, agent_id: string): Promise<void> {
  closed_ms.length = 0
  for (let i = 0; i < COUNT; i += BATCH)
    await Promise.all(Array.from({ length: BATCH }, (_, k) => subject.open(i + k)))
  const begun_ms = performance.now()
  const receipt = await stack.operator.send('POST', `/admin/agents/${agent_id}/kill`)
  const receipt_ms = performance.now() - begun_ms
  subject.afterwards()
  while (closed_ms.length < COUNT && performance.now() - begun_ms < 10_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  const ends = closed_ms.map((ms) => ms - begun_ms).sort((a, b) => a - b)
  const at = (share: number): string => quantile(ends, share).toFixed(0)
  console.log(
    `${subject.name}: ${receipt.in_flight_requests_terminated} ended, complete ${receipt.complete}, receipt ${receipt_ms.toFixed(0)} ms (propagation ${receipt.propagation_ms}), clients closed ${ends.length}: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms, passed after the receipt ${subject.passed()}`,
  )
  assert.equal(ends.length, COUNT)
  assert.equal(subject.passed(), 0)
}

for (const enabled of [true, false]) {
  const access = await stack.operator.makeAccess(`${base}/sockets-${enabled}`, {
    rules,
    scope: {
      injection_detection: { enabled },
      rate_limiting: { requests_per_minute: null },
    },
  })
  const sockets: WebSocket[] = []
  let late = 0
  await measure(
    {
      name: enabled ? 'scanned WebSockets' : 'WebSockets',
      open: async () => {
        const socket = new WebSocket(
          `${stack.proxyUrl.replace('http', 'ws')}/${access.base_url}/x`,
          { headers: access.headers },
        )
        sockets.push(socket)
        socket.on('error', () => {})
        await once(socket, 'open')
        socket.on('message', (data: Buffer) => {
          if (data.toString() === 'late') late++
        })
        socket.once('close', () => closed_ms.push(performance.now()))
        const echoed = once(socket, 'message')
        socket.send('hello')
        await echoed
      },
      afterwards: () => {
        for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.send('after')
        for (const { socket } of api.opened)
          if (socket.readyState === WebSocket.OPEN) socket.send('late')
      },
      passed: () => late + api.opened.filter(({ messages }) => messages.includes('after')).length,
    },
    access.agent.agent_id,
  )
}

const streams = await stack.operator.makeAccess(`${base}/streams`, {
  scope: { rate_limiting: { requests_per_minute: null } },
})
await measure(
  {
    name: 'event streams',
    open: () =>
      new Promise((resolve, reject) => {
        const request = get(
          `${stack.proxyUrl}/${streams.base_url}/x`,
          { headers: streams.headers, agent: connections },
          (response) => {
            response.resume()
            response.on('error', () => {})
            response.once('close', () => closed_ms.push(performance.now()))
            resolve()
          },
        )
        request.once('error', reject)
      }),
    afterwards: () => {},
    passed: () => 0,
  },
  streams.agent.agent_id,
)
await api.stop()
await stopAll(stack)
process.exit(0)
