import { parseControlMessage } from '../core/control/control-message.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { CHANNELS } from '../core/redis/redis-keys.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import { type KitRelay, startRelay } from '../test/kit/start-relay.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { until } from '../test/kit/until.ts'
import { distribution, endCalls, largest, openCalls } from './kill-fixture.ts'

/** One way, between an edge and the store, in ms; each piece of data takes up to a tenth more or less. */
const ONE_WAY_MS = [5, 10, 15, 25, 35, 45]
const JITTER = 0.1
const KILLS = Number(process.env['BENCH_KILLS'] ?? 40)

/** Kills while edges are far from the store: when each edge fell silent after the publish, and what receipts say. */
const valkey = await startValkey()
const relays: KitRelay[] = []
for (const delay of ONE_WAY_MS)
  relays.push(await startRelay(valkey.url, () => delay * (1 - JITTER + 2 * JITTER * Math.random())))
const fleet = await startFleet({
  valkey,
  envoys: 'each',
  edges: relays.map(({ url }, i) => ({ redis_url: url, region: `away-${ONE_WAY_MS[i]}-ms` })),
})
const ear = connectRedis(valkey.url, { name: 'bench-ear', role: 'subscription' })
try {
  const published = new Map<string, number>()
  ear.on('message', (_channel: string, text: string) => {
    const message = parseControlMessage(text)
    if (message?.kind !== 'control') return
    for (const target of message.targets)
      if (target.what === 'kill') published.set(target.agent_id, performance.now())
  })
  await ear.subscribe(CHANNELS.control)
  const urls = fleet.edges.map(({ url }) => url)
  await until('every edge serves', async () => {
    const statuses = await Promise.all(urls.map(async (url) => (await fetch(`${url}/x`)).status))
    return statuses.every((status) => status === 400)
  })
  // Streams and waiting calls in turn, both at every edge: the edges are gone through twice.
  const opened = await openCalls(fleet, [...urls, ...urls.slice(1), urls[0] ?? ''], {
    agents: KILLS,
    calls_each: urls.length * 2,
  })
  await until('every call has begun', () => fleet.upstream.begun.length >= KILLS * urls.length * 2)
  const silent = ONE_WAY_MS.map((): number[] => [])
  const acknowledged = ONE_WAY_MS.map((): number[] => [])
  const propagation: number[] = []
  let incomplete = 0
  for (const { access, calls } of opened) {
    const { agent_id } = access.agent
    const receipt = await fleet.operator.send('POST', `/admin/agents/${agent_id}/kill`)
    const ends = await Promise.all(calls.map(({ ended }) => ended))
    const from_ms = published.get(agent_id) ?? Number.NaN
    propagation.push(receipt.propagation_ms)
    if (!receipt.complete) incomplete++
    for (const [i, { status, at_ms }] of ends.entries()) {
      const edge = i < urls.length ? i : (i - urls.length + 1) % urls.length
      if (status !== 200) silent[edge]?.push(at_ms - from_ms)
    }
    for (const { edge_id, acknowledged_ms } of receipt.edges)
      acknowledged[Number(edge_id.split('-')[1]) - 1]?.push(acknowledged_ms ?? Number.NaN)
  }
  process.stdout.write(`${KILLS} kills, ${urls.length} edges, a delaying relay before each\n`)
  for (const [i, one_way] of ONE_WAY_MS.entries())
    process.stdout.write(
      [
        `${String(one_way).padStart(2)} ms one way:`,
        `silent after publish ${distribution(silent[i] ?? [])}`,
        `acknowledged ${distribution(acknowledged[i] ?? [])}\n`,
      ].join('  '),
    )
  process.stdout.write(
    [
      `propagation_ms, the way back included: ${distribution(propagation)}`,
      `slowest edge silent after ${largest(silent.flat()).toFixed(1)} ms · incomplete receipts ${incomplete}`,
      'An edge is silent one way after the publish, plus what Redis, the edge and Envoy take; the acknowledgement needs',
      'the way back as well. The speed of light in fibre, about 200 km a millisecond, sets the rest.',
      '',
    ].join('\n'),
  )
} finally {
  endCalls()
  ear.disconnect()
  await fleet.stop()
  for (const relay of relays) await relay.stop()
}
process.exit(0)
