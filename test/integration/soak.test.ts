import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { call, closeConnections } from '../kit/call.ts'
import { inspectHeap } from '../kit/inspect-heap.ts'
import { operatorAt } from '../kit/operator.ts'
import { repetitions } from '../kit/repetitions.ts'
import { startTestUpstream } from '../kit/test-upstream.ts'
import { startParts } from '../kit/start-parts.ts'
import { until } from '../kit/until.ts'

/** Calls of one ext_proc connection; `TEST_REPETITIONS=all` makes 22,500. */
const CALLS = repetitions(22_500)
const CONCURRENCY = 16
/** The heap in use differs by some hundred kilobytes from one collection to the next; the least of several does not. */
const SAMPLES = 3
const CALLS_PER_SAMPLE = 1_000
/** Code that is compiled on the way takes a megabyte; what one call holds, kept from each, is more than this. */
const GROWTH_LIMIT_BYTES = 2_500_000

const api = await startTestUpstream()
// A collection of garbage on a busy machine may take longer than the lease that is usual; this is not about leases.
const parts = await startParts(
  { AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8', AGW_KILL_LEASE_MS: '30000' },
  ['--inspect=127.0.0.1:0'],
)
after(async () => {
  closeConnections()
  await parts.stop()
  await api.stop()
})
const operator = operatorAt(parts.apiUrl, parts.adminToken)
const rules = [{ methods: ['*'], paths: ['/allowed'] }]
const origin = `http://127.0.0.1:${api.ports.http}`
const streamed = await operator.makeAccess(`${origin}/streamed`, { rules })
const held = await operator.makeAccess(`${origin}/held`, {
  rules,
  scope: { mcp_tools: { allow: ['*'], deny: ['x'] } },
})

async function counter(name: string): Promise<number> {
  const text = await parts.envoyAdmin(`/stats?filter=^cluster\\.ext_proc\\.${name}$`)
  return Number(/: (\d+)/.exec(text)?.[1] ?? 0)
}

const body = Buffer.alloc(2048, 'x')
/** In turns: without a body, streamed, held, and refused. */
async function one(i: number): Promise<void> {
  const of = i % 4 === 2 ? held : streamed
  const isForbidden = i % 4 === 3
  const answer = await call({
    to: parts.proxyUrl,
    path: `/${of.base_url}/${isForbidden ? 'forbidden' : 'allowed'}`,
    method: i % 4 === 0 ? 'GET' : 'POST',
    headers: of.headers,
    ...(i % 4 === 0 ? {} : { body }),
  })
  const expected = isForbidden ? 403 : 200
  if (answer.status === expected) return
  const stats = await parts.envoyAdmin('/stats?filter=^cluster\\.ext_proc\\.')
  assert.fail(`call ${i}: ${answer.status} ${answer.body.toString()}\n${stats}\n${parts.log()}`)
}

const noCallIsOpen = (): Promise<unknown> =>
  until('no call is open', async () => (await counter('upstream_rq_active')) === 0)

async function calls(from: number, to: number): Promise<void> {
  let next = from
  const worker = async (): Promise<void> => {
    while (next < to) await one(next++)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

test('thousands of calls over one ext_proc connection, without a GOAWAY, an error, or a heap that grows', async (t) => {
  await one(0)
  await one(3)
  await noCallIsOpen()
  const connections = await counter('upstream_cx_total')
  const heap = await inspectHeap(parts.log())
  t.after(() => heap.close())
  /** Bytes in use, with all calls from `from` to `to` made, and none of them open. */
  const usedAfter = async (from: number, to: number): Promise<number> => {
    const used: number[] = []
    for (let sample = SAMPLES - 1; sample >= 0; sample--) {
      const reached = to - sample * CALLS_PER_SAMPLE
      await calls(from, reached)
      await noCallIsOpen()
      used.push(await heap.usedAfterCollection())
      from = reached
    }
    return Math.min(...used)
  }
  const early_bytes = await usedAfter(1, CALLS / 2)
  const late_bytes = await usedAfter(CALLS / 2, CALLS)

  assert.equal(await counter('upstream_cx_total'), connections, 'a further connection was made')
  assert.equal(await counter('upstream_cx_active'), 1)
  assert.equal(await counter('upstream_cx_close_notify'), 0, 'a GOAWAY came')
  assert.equal(await counter('upstream_rq_rx_reset'), 0)
  assert.equal(await counter('upstream_rq_timeout'), 0)
  assert.ok((await counter('upstream_rq_total')) >= CALLS)
  // An edge says so with its next beat.
  await until('the edge holds no call', async () => {
    const { data } = await operator.send('GET', '/admin/edges')
    return data.length === 1 && data[0].in_flight === 0
  })
  const growth_bytes = late_bytes - early_bytes
  t.diagnostic(`heap ${early_bytes} bytes at ${CALLS / 2} calls, ${late_bytes} at ${CALLS}`)
  assert.ok(growth_bytes < GROWTH_LIMIT_BYTES, `the heap grew by ${growth_bytes} bytes`)
})
