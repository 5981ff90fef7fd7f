import { startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { startAdmin } from '../test/kit/start-admin.ts'
import { startRelay } from '../test/kit/start-relay.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { distribution, endCalls, largest, openCalls } from './kill-fixture.ts'

const EDGES = Number(process.env['BENCH_EDGES'] ?? 8)
const KILLS = Number(process.env['BENCH_KILLS'] ?? 200)
const CALLS = Number(process.env['BENCH_CALLS'] ?? 1000)
/** Event streams of one agent that is killed, one kill after the other. */
const STREAMS = (process.env['BENCH_STREAMS'] ?? '10,1000,5000').split(',').map(Number)
/** One way between an admin service and the store. */
const FAR_MS = 300
const RECEIPT_LIMIT_MS = 60_000

/**
 * Kills agents one after the other while all of them have calls in flight: what the receipts say, what the callers see,
 * and whether every call of the killed agent, and no other, has ended.
 */
const fleet = await startFleet({ edges: Array.from({ length: EDGES }, () => ({})) })
try {
  const url = fleet.envoys[0]?.url ?? ''
  const calls_each = Math.max(1, Math.round(CALLS / KILLS))
  const opened = await openCalls(fleet, [url], { agents: KILLS, calls_each })
  const all = opened.flatMap(({ calls }) => calls)
  await until('every call has begun', () => fleet.upstream.begun.length >= all.length)
  process.stdout.write(
    `${EDGES} ext-proc processes, ${all.length} calls in flight (streams and waiting), ${KILLS} kills in a row\n`,
  )
  const answered: number[] = []
  const waiting: number[] = []
  const streams: number[] = []
  const request: number[] = []
  let incomplete = 0
  let miscounted = 0
  let spared = 0
  const touched = new Map<string, number>()
  const isKilled = new Set<number>()
  for (const [i, { calls }] of opened.entries())
    for (const { ended } of calls)
      void ended.then(({ status, reason }) => {
        if (isKilled.has(i)) return
        const what = `${status ?? 'cut'} ${reason ?? ''}`
        touched.set(what, (touched.get(what) ?? 0) + 1)
      })
  for (const [i, { access, calls }] of opened.entries()) {
    isKilled.add(i)
    const asked_ms = performance.now()
    const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
    request.push(performance.now() - asked_ms)
    const ends = await Promise.race([
      Promise.all(calls.map(({ ended }) => ended)),
      new Promise<null>((resolve) => setTimeout(() => resolve(null), 2000)),
    ])
    answered.push(receipt.propagation_ms)
    if (!receipt.complete) incomplete++
    if (receipt.in_flight_requests_terminated !== calls.length) miscounted++
    if (ends === null) spared++
    else
      for (const { at_ms, status } of ends)
        (status === 200 ? streams : waiting).push(at_ms - asked_ms)
  }
  process.stdout.write(
    [
      `propagation_ms as answered       ${distribution(answered)}`,
      `request to kill, until answered  ${distribution(request)}`,
      `request to 503 at the caller     ${distribution(waiting)}`,
      // Over HTTP/1.1 Envoy leaves the connection open, silent, for 50 ms (delayed_close_timeout).
      `request to closed stream         ${distribution(streams)}`,
      `incomplete receipts ${incomplete} · receipts with another count than the calls ${miscounted}`,
      `agents with a call that went on ${spared} · calls of other agents that ended ${JSON.stringify([...touched])}`,
      `over 100 ms: ${answered.filter((ms) => ms > 100).length} · largest ${largest(answered).toFixed(1)} ms`,
      '',
    ].join('\n'),
  )
  await killStreams()
  await killFromAfar()
} finally {
  endCalls()
  await fleet.stop()
}

function openStreams(url: string, calls_each: number): ReturnType<typeof openCalls> {
  return openCalls(fleet, [url], { agents: 1, calls_each, only_streams: true })
}

/** Kills of agents with many streams: the receipt in the response, and the kept one in the end. */
async function killStreams(): Promise<void> {
  const url = fleet.envoys[0]?.url ?? ''
  for (const count of STREAMS) {
    const [one] = await openStreams(url, count)
    if (one === undefined) continue
    const { access, calls } = one
    // A machine that is busy may have refused some.
    const open = calls.filter(({ isOpen }) => isOpen()).length
    const asked_ms = performance.now()
    const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
    const answered_ms = performance.now() - asked_ms
    const path = `/admin/kills/${receipt.kill_id}`
    let kept = await fleet.operator.send('GET', path)
    while (!kept.complete && performance.now() - asked_ms < RECEIPT_LIMIT_MS) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      kept = await fleet.operator.send('GET', path)
    }
    const complete_ms = performance.now() - asked_ms
    const ends = await Promise.all(calls.map(({ ended }) => ended))
    const last_ms = largest(ends.map(({ at_ms }) => at_ms)) - asked_ms
    const { data } = await fleet.operator.send(
      'GET',
      `/admin/activity?event=agent_killed&agent_id=${access.agent.agent_id}`,
    )
    process.stdout.write(
      [
        `kill of ${open} streams: response after ${answered_ms.toFixed(0)} ms (${receipt.in_flight_requests_terminated} ended,`,
        `complete ${receipt.complete}); kept receipt ${kept.in_flight_requests_terminated} ended, complete ${kept.complete}`,
        `after ${complete_ms.toFixed(0)} ms; last stream closed after ${last_ms.toFixed(0)} ms;`,
        `${calls.filter(({ isOpen }) => isOpen()).length} still open; agent_killed events ${data.length}\n`,
      ].join(' '),
    )
  }
}

/** A kill through an admin service that is far from the store and has never seen the token. */
async function killFromAfar(): Promise<void> {
  let delay_ms = 0
  const relay = await startRelay(fleet.valkey.url, () => delay_ms)
  const admin = await startAdmin(relay.url, fleet.identity)
  const [one] = await openStreams(fleet.envoys[0]?.url ?? '', 10)
  if (one === undefined) return
  delay_ms = FAR_MS
  const asked_ms = performance.now()
  const killing = operatorAt(admin.url, admin.token)
    .send('POST', `/admin/agents/${one.access.agent.agent_id}/kill`)
    .then((receipt) => ({ receipt, after_ms: performance.now() - asked_ms }))
  const ends = await Promise.all(one.calls.map(({ ended }) => ended))
  const { receipt, after_ms } = await killing
  process.stdout.write(
    [
      `admin ${FAR_MS} ms one way from the store: edges silent after`,
      // Envoy leaves the connection open, silent, for 50 ms.
      `${(largest(ends.map(({ at_ms }) => at_ms)) - asked_ms - 50).toFixed(0)} ms, response after ${after_ms.toFixed(0)} ms,`,
      `complete ${receipt.complete}\n`,
    ].join(' '),
  )
  delay_ms = 0
  await admin.stop()
  await relay.stop()
}
process.exit(0)
