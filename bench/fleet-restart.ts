import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parse, stringify } from 'yaml'
import { call } from '../test/kit/call.ts'
import { startDnsServer } from '../test/kit/dns-server.ts'
import { freePort } from '../test/kit/free-port.ts'
import { makeCertificates } from '../test/kit/make-certificates.ts'
import { openCall } from '../test/kit/open-call.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import { startTestUpstream } from '../test/kit/test-upstream.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- fleet-restart [--processors 2] [--rounds 2] [--rate 200] [--streams 50] [--stream-s 6] [--drain-s 10]`:
 * processors that Envoy knows by one DNS name and reaches over mTLS. In each round every processor is stopped with SIGTERM and
 * started again, one after the other, under short calls at a fixed rate, event streams and kills. Then one of them is ended
 * with SIGKILL in each round. Fails if a call or stream fails that it should not.
 */
const { values } = parseArgs({
  options: {
    processors: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '2' },
    rate: { type: 'string', default: '200' },
    streams: { type: 'string', default: '50' },
    'stream-s': { type: 'string', default: '6' },
    'drain-s': { type: 'string', default: '10' },
  },
})
const processors = Math.min(Number(values.processors), 8)
const rounds = Math.min(Number(values.rounds), 100)
const rate = Math.min(Number(values.rate), 1000)
const streams = Math.min(Number(values.streams), 1000)

const NAME = 'processors.test'
const ENVOY = 'envoy.test'
const TICK_MS = 100
const STEP_MS = 2
/** Longer than the DNS answers are kept, and than Envoy needs to see that a processor is back. */
const AFTER_MS = 4_000

const certificates = await makeCertificates([NAME, ENVOY])
const port = await freePort()
const hosts = Array.from({ length: processors }, (_one, i) => `127.0.0.${i + 2}`)
const dns = await startDnsServer({ [NAME]: hosts })

/** Envoy asks our DNS server for the processors. */
function resolveHere(yaml: string): string {
  const config = parse(yaml, { merge: true, maxAliasCount: -1 })
  const [address, dnsPort] = dns.address.split(':')
  for (const cluster of config.static_resources.clusters)
    if (cluster.type === 'STRICT_DNS') {
      cluster.dns_refresh_rate = '1s'
      cluster.typed_dns_resolver_config = {
        name: 'envoy.network.dns_resolver.cares',
        typed_config: {
          '@type':
            'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
          resolvers: [{ socket_address: { address, port_value: Number(dnsPort) } }],
          dns_resolver_options: { no_default_search_domain: true },
        },
      }
    }
  return stringify(config, { aliasDuplicateObjects: false })
}

const api = await startTestUpstream()
const fleet = await startFleet({
  edges: hosts.map(() => ({})),
  network: {
    addresses: hosts.map((host) => `${host}:${port}`),
    name: `${NAME}:${port}`,
    edit: resolveHere,
  },
  env: {
    AGW_EXT_PROC_TLS_CERT_FILE: certificates.cert_file,
    AGW_EXT_PROC_TLS_KEY_FILE: certificates.key_file,
    AGW_EXT_PROC_TLS_CA_FILE: certificates.ca_file,
    AGW_EXT_PROC_TLS_CLIENT_SANS: ENVOY,
    AGW_EXT_PROC_TLS_SERVER_SANS: NAME,
    AGW_DRAIN_TIMEOUT: `${values['drain-s']}s`,
  },
})
const [envoy] = fleet.envoys
assert.ok(envoy)
const base = `http://127.0.0.1:${api.ports.http}`
const access = await fleet.operator.makeAccess(`${base}/load`, {
  scope: { rate_limiting: { requests_per_minute: null } },
})

interface Outcome {
  readonly kind: 'call' | 'stream' | 'kill'
  readonly began_ms: number
  readonly ended_ms: number
  /** Null: as it should be. */
  readonly problem: string | null
}

async function short(): Promise<Outcome> {
  const began_ms = performance.now()
  const answer = await call({
    to: envoy?.url ?? '',
    path: `/${access.base_url}/ok`,
    headers: access.headers,
  }).catch((error: Error) => error)
  const status = answer instanceof Error ? answer.message : answer.status
  const problem = status === 200 ? null : String(status)
  return { kind: 'call', began_ms, ended_ms: performance.now(), problem }
}

async function stream(): Promise<Outcome> {
  const began_ms = performance.now()
  const ticks = Math.ceil((Number(values['stream-s']) * 1000) / TICK_MS)
  const target = `${access.base_url}/sse?ticks=${ticks}&interval_ms=${TICK_MS}`
  const { status, is_whole, at_ms } = await openCall(envoy?.url ?? '', target, access.headers).ended
  const problem = status === 200 && is_whole ? null : `${status}, ${is_whole ? 'whole' : 'cut'}`
  return { kind: 'stream', began_ms, ended_ms: at_ms, problem }
}

/** Kills a new agent with an open stream. */
async function kill(number: number): Promise<Outcome> {
  const own = await fleet.operator.makeAccess(`${base}/kill-${number}`)
  const target = `${own.base_url}/sse?ticks=3000&interval_ms=${TICK_MS}`
  const held = openCall(envoy?.url ?? '', target, own.headers)
  const status = await held.answered
  const began_ms = performance.now()
  const receipt = await fleet.operator.send('POST', `/admin/agents/${own.agent.agent_id}/kill`, {})
  const ended_ms = performance.now()
  await until('the stream is cut', () => !held.isOpen())
  const after = await openCall(envoy?.url ?? '', target, own.headers).ended
  const isDone = receipt.complete === true && after.reason === 'agent_killed'
  const problem = isDone ? null : `${status}: ${JSON.stringify(receipt)}, then ${after.reason}`
  return { kind: 'kill', began_ms, ended_ms, problem }
}

let kills = 0

/** What was done until `happening` has ended. */
async function loadUntilEnd(happening: Promise<unknown>): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const note = (outcome: Outcome): void => void outcomes.push(outcome)
  let isOver = false
  const over = happening.finally(() => {
    isOver = true
  })
  const calls = async (): Promise<void> => {
    const began_ms = performance.now()
    const running: Promise<void>[] = []
    while (!isOver) {
      while (running.length < ((performance.now() - began_ms) / 1000) * rate)
        running.push(short().then(note))
      await wait(STEP_MS)
    }
    await Promise.all(running)
  }
  const again = async (one: () => Promise<Outcome>): Promise<void> => {
    while (!isOver) note(await one())
  }
  const several = Array.from({ length: streams }, () => again(stream))
  await Promise.all([calls(), ...several, again(() => kill(kills++)), over])
  return outcomes
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const count = (all: readonly Outcome[], kind: Outcome['kind']): number =>
  all.filter((one) => one.kind === kind).length

function report(what: string, all: readonly Outcome[]): readonly Outcome[] {
  const failed = all.filter(({ problem }) => problem !== null)
  const slowest_ms = Math.max(
    ...all.flatMap((one) => (one.kind === 'call' ? one.ended_ms - one.began_ms : [])),
  )
  const causes = new Map<string, number>()
  for (const { kind, problem } of failed) {
    const cause = `${kind}: ${problem}`
    causes.set(cause, (causes.get(cause) ?? 0) + 1)
  }
  say(
    `${what}: ${count(all, 'call')} calls (slowest ${slowest_ms.toFixed(0)} ms), ${count(all, 'stream')} streams, ${count(all, 'kill')} kills; failed: ${JSON.stringify(Object.fromEntries(causes))}`,
  )
  return failed
}

async function restartAll(): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (const edge of fleet.edges) {
      await wait(AFTER_MS / 2)
      edge.signal('SIGTERM')
      await edge.exited()
      await edge.restart()
      await wait(AFTER_MS)
    }
}

try {
  const failed = report(
    `${rounds * processors} restarts with SIGTERM`,
    await loadUntilEnd(restartAll()),
  )
  assert.equal(failed.length, 0, 'a restart failed a call, a stream or a kill')

  for (let round = 0; round < rounds; round++) {
    const edge = fleet.edges[round % processors]
    assert.ok(edge)
    let at_ms = 0
    let held = 0
    const crash = async (): Promise<void> => {
      await wait(AFTER_MS)
      const { data } = await fleet.operator.send('GET', '/admin/edges')
      held = data.find((one: { edge_id: string }) => one.edge_id === edge.edge_id).in_flight
      at_ms = performance.now()
      edge.signal('SIGKILL')
      await edge.exited()
      await wait(AFTER_MS)
      await edge.restart()
      await wait(AFTER_MS)
    }
    const outcomes = await loadUntilEnd(crash())
    const lost = report(
      `SIGKILL of ${edge.edge_id}, which held about ${held} calls`,
      outcomes,
    ).filter(({ kind }) => kind !== 'kill')
    const inFlight = outcomes.filter((one) => one.began_ms < at_ms && one.ended_ms > at_ms).length
    const later = lost.filter(({ began_ms }) => began_ms > at_ms)
    say(
      `    ${lost.length} of ${inFlight} calls in flight were lost, ${later.length} that began later`,
    )
    assert.equal(later.length, 0, 'a call failed that the processor did not hold')
    assert.ok(lost.length < inFlight, 'calls of the other processors were lost')
  }
} finally {
  await fleet.stop()
  await Promise.all([api.stop(), dns.stop()])
}
