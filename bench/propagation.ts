import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { parseArgs } from 'node:util'
import { openCall } from '../test/kit/open-call.ts'
import { completed, KILL, lockOf, type Restriction } from '../test/kit/restrictions.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { type Access, operatorAt } from '../test/kit/operator.ts'
import { distribution, endCalls, largest, openCalls } from './kill-fixture.ts'

const EDGES = Number(process.env['BENCH_EDGES'] ?? 8)
const KILLS = Number(process.env['BENCH_KILLS'] ?? 200)
const CALLS = Number(process.env['BENCH_CALLS'] ?? 1000)
const STREAMS_A_CONNECTION = 100

let organizations = 0

/**
 * `npm run bench -- propagation [--restriction "organization deny,everything deny" --streams 10000]`: with restrictions, `kill` among
 * them, as many streams by HTTP/2 are ended by each while those of another organization run on, and receipts of all and of kills in turn
 * are compared. Without, kills agents one after the other while all of them have calls in flight: what the receipts say, what the callers see,
 * and whether every call of the killed agent, and no other, has ended.
 */
const fleet = await startFleet({ edges: Array.from({ length: EDGES }, () => ({})) })
const { values } = parseArgs({
  options: {
    restriction: { type: 'string' },
    streams: { type: 'string', default: '10000' },
  },
})
try {
  const url = fleet.envoys[0]?.url ?? ''
  if (values.restriction !== undefined) {
    const restrictions = values.restriction.split(',').map(restrictionOf)
    await compareWithKills(restrictions)
    for (const restriction of restrictions) await restrictStreams(url, restriction)
    await fleet.stop()
    process.exit(0)
  }
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

function restrictionOf(name: string): Restriction {
  const [target = '', mode] = name.trim().split(' ')
  return target === 'kill' ? KILL : lockOf(target, mode === 'read_only' ? mode : 'deny')
}

/** What receipts of kills and of locks say, in turn, each of a call in flight. */
async function compareWithKills(locks: readonly Restriction[]): Promise<void> {
  const url = fleet.envoys[0]?.url ?? ''
  const took = new Map([KILL, ...locks].map((one): [Restriction, number[]] => [one, []]))
  let incomplete = 0
  let number = 0
  for (let i = 0; i < KILLS; i++)
    for (const [restriction, times] of took) {
      const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/r${++number}`)
      await restriction.prepare(fleet.operator, access)
      const stream = openCall(url, `${access.base_url}/quiet`, access.headers, '')
      await stream.answered
      const receipt = await restriction.impose(fleet.operator, access)
      times.push(receipt.propagation_ms)
      if (!receipt.complete || receipt.in_flight_requests_terminated !== 1) incomplete++
      await stream.ended
      await restriction.lift(fleet.operator, access)
    }
  for (const [{ name }, times] of took)
    process.stdout.write(`propagation_ms of ${name}: ${distribution(times)}\n`)
  process.stdout.write(`receipts incomplete or with another count ${incomplete}\n`)
}

/** Streams by HTTP/2; answers those that are open. */
async function openHttp2(url: string, { base_url, headers }: Access, count: number) {
  const open = new Set<object>()
  let last_ms = 0
  for (let begun = 0; begun < count; begun += STREAMS_A_CONNECTION) {
    const session = connectHttp2(url).on('error', () => undefined)
    const streams = Array.from({ length: Math.min(STREAMS_A_CONNECTION, count - begun) }, () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': `/${base_url}/quiet`,
        ...headers,
      })
      stream.on('error', () => undefined).resume()
      stream.once('close', () => {
        open.delete(stream)
        last_ms = performance.now()
      })
      stream.end()
      return once(stream, 'response').then(([answer]) => {
        if (answer[':status'] === 200 && !stream.closed) open.add(stream)
      })
    })
    await Promise.all(streams)
  }
  return { open, lastClosedMs: () => last_ms }
}

async function restrictStreams(url: string, lock: Restriction): Promise<void> {
  const { operator, upstream } = fleet
  const other = await operator.send('POST', '/admin/organizations', {
    name: `bystander ${++organizations}`,
  })
  const away = operatorAt(fleet.admin.url, other.admin_token)
  const bystanders = await openHttp2(
    url,
    await away.makeAccess(`${upstream.origin}/bystander${organizations}`),
    100,
  )
  const access = await operator.makeAccess(`${upstream.origin}/all${organizations}`)
  const streams = await openHttp2(url, access, Number(values.streams))
  await lock.prepare(operator, access)
  const counts = { locked: streams.open.size, bystanders: bystanders.open.size }
  const asked_ms = performance.now()
  const receipt = await lock.impose(operator, access)
  const answered_ms = performance.now() - asked_ms
  const kept = await completed(operator, receipt)
  const complete_ms = performance.now() - asked_ms
  await until('its streams have ended', () => streams.open.size === 0)
  process.stdout.write(
    [
      `${lock.name} with ${counts.locked} streams by HTTP/2 over ${EDGES} edges, and ${counts.bystanders} of another organization:`,
      `response after ${answered_ms.toFixed(0)} ms (${receipt.in_flight_requests_terminated} ended, complete ${receipt.complete});`,
      `kept receipt ${kept.in_flight_requests_terminated} ended, complete ${kept.complete} after ${complete_ms.toFixed(0)} ms,`,
      `propagation_ms ${kept.propagation_ms}; last stream closed after ${(streams.lastClosedMs() - asked_ms).toFixed(0)} ms;`,
      `${bystanders.open.size} streams of the other organization still open\n`,
    ].join(' '),
  )
  await lock.lift(operator, access)
}

process.exit(0)
