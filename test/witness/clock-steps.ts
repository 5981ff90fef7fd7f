import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import type { Access } from '../kit/operator.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { startRelay } from '../kit/start-relay.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

/**
 * Steps real clocks by an hour under a running gateway: the clock of the store, that of the hosts of admin and edges, and that of the
 * store at a restart. After each step, limits and leases must keep their own length, kills must work, and a receipt must not be complete
 * while an edge that is cut off serves.
 *
 *     node cli/prepare.mjs build
 *     node dist/test/witness/clock-steps.js [--library /usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1]
 *
 * It needs libfaketime (Debian: `apt-get install libfaketime`). The exit code is 1 if one of these does not hold.
 */
const { values } = parseArgs({
  options: {
    library: {
      type: 'string',
      default: '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
    },
  },
})
if (!existsSync(values.library)) throw new Error(`${values.library} does not exist`)

const HOUR_S = 3600
const LEASE_MS = 3_000
const LIMIT = 3
/** A limit of calls in a minute is over after a minute. */
const MINUTE_S = 60
/** Retry-After is rounded up. */
const ROUNDING_S = 1

const folder = tempFolder('clocks')
const fileOf = (name: string): string => join(folder, name)
const environmentOf = (name: string): Record<string, string> => ({
  LD_PRELOAD: values.library,
  FAKETIME_TIMESTAMP_FILE: fileOf(name),
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
const step = (name: string, seconds: number): void =>
  writeFileSync(fileOf(name), `${seconds < 0 ? '' : '+'}${seconds}`)
for (const name of ['store', 'hosts']) step(name, 0)

const wrap = ['env', ...Object.entries(environmentOf('store')).map((pair) => pair.join('='))]
const valkey = await startValkey([], { wrap })
const relay = await startRelay(valkey.url)
const fleet = await startFleet({
  valkey,
  envoys: 'each',
  edges: [{ redis_url: relay.url }, {}],
  env: { AGW_KILL_LEASE_MS: String(LEASE_MS), ...environmentOf('hosts') },
})
let failed = 0
let count = 0
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const must = (holds: boolean, what: string): void => {
  if (!holds) failed++
  say(`  ${holds ? 'holds' : 'DOES NOT HOLD'}: ${what}`)
}
const makeAccess = (scope = {}): Promise<Access> =>
  fleet.operator.makeAccess(`${fleet.upstream.origin}/c${++count}`, { scope })
const urlOf = (edge: number, { base_url }: Access, path: string): string =>
  `${fleet.edges[edge]?.url}/${base_url}${path}`
const answerOf = (edge: number, access: Access): Promise<Response> =>
  fetch(urlOf(edge, access, '/x'), { headers: access.headers })
const serves = (edge: number, access: Access): Promise<unknown> =>
  until('it is served', async () => (await answerOf(edge, access)).status === 200)
const kill = ({ agent }: Access): Promise<any> =>
  fleet.operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})

/** A step: what happens, and whether a part is cut off then or restarted. */
async function round(name: string, stepNow: () => Promise<void>): Promise<void> {
  say(name)
  const limited = await makeAccess({ rate_limiting: { requests_per_minute: LIMIT } })
  const free = await makeAccess()
  const killed = await makeAccess()
  const held = await makeAccess()
  for (const access of [free, killed, held]) for (const edge of [0, 1]) await serves(edge, access)
  await until('its limit is reached', async () => (await answerOf(1, limited)).status === 429)
  // An edge that is cut off serves until its lease is over.
  const stream = openCall(fleet.edges[0]?.url ?? '', `${held.base_url}/sse`, held.headers)
  await stream.answered
  relay.set('silent')
  await stepNow()
  const receipt = await kill(held)
  const wasOpen = stream.isOpen()
  must(
    !(wasOpen && receipt.complete),
    `no complete receipt while an edge serves (${receipt.complete})`,
  )
  await stream.ended
  must(true, 'the stream of the edge that is cut off ends')
  relay.set('passes')
  const refusal = await answerOf(1, limited)
  const retry_s = Number(refusal.headers.get('retry-after') ?? 0)
  must(
    refusal.status === 200 || retry_s <= MINUTE_S + ROUNDING_S,
    `a limit says ${refusal.status}, Retry-After ${retry_s}`,
  )
  await serves(0, free)
  await serves(1, free)
  must(true, 'agents are served')
  const whole = await kill(killed)
  const states = await Promise.all(
    [0, 1].map(async (edge) => (await answerOf(edge, killed)).status),
  )
  must(
    whole.complete && states.every((status) => status === 403),
    `a kill is complete: ${states.join()}`,
  )
  await fleet.operator.send('POST', `/admin/agents/${killed.agent.agent_id}/reactivate`, {
    reason: 'witness',
  })
  await serves(0, killed)
  const begun_ms = performance.now()
  await until(
    'the limit is over',
    async () => (await answerOf(1, limited)).status === 200,
    (MINUTE_S + 30) * 1000,
  )
  const waited_s = Math.round((performance.now() - begun_ms) / 1000)
  must(waited_s <= MINUTE_S + 30, `the limit was over after ${waited_s} s`)
}

try {
  for (const seconds of [HOUR_S, -HOUR_S]) {
    const words = seconds > 0 ? 'forward' : 'back'
    await round(`the clock of the store steps ${words} by an hour`, async () =>
      step('store', seconds),
    )
    await round('and is right again', async () => step('store', 0))
    await round(`the clocks of the hosts step ${words} by an hour`, async () =>
      step('hosts', seconds),
    )
    await round('and are right again', async () => step('hosts', 0))
    await round(`the store ends by -9; the next one has a clock an hour ${words}`, async () => {
      await valkey.kill()
      step('store', seconds)
      await valkey.start()
      await until('admin answers', () =>
        fleet.operator.send('GET', '/admin/agents').then(
          () => true,
          () => false,
        ),
      )
    })
    await round('and is right again', async () => step('store', 0))
  }
} finally {
  closeOpenCalls()
  await fleet.stop()
  await relay.stop()
}
say(failed === 0 ? 'All hold.' : `${failed} do not hold.`)
process.exitCode = failed === 0 ? 0 : 1
