import { startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { distribution, endCalls, largest, openCalls } from './kill-fixture.ts'

const EDGES = Number(process.env['BENCH_EDGES'] ?? 8)
const KILLS = Number(process.env['BENCH_KILLS'] ?? 200)
const CALLS = Number(process.env['BENCH_CALLS'] ?? 1000)

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
} finally {
  endCalls()
  await fleet.stop()
}
process.exit(0)
