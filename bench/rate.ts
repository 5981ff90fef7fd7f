import { setTimeout as wait } from 'node:timers/promises'
import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import { processStat } from '../core/system/process-stat.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { openCall } from '../test/kit/open-call.ts'
import { startFleet } from '../test/kit/start-fleet.ts'
import { distribution, endCalls } from './kill-fixture.ts'

const LIMITS = (process.env['BENCH_LIMITS'] ?? '60,600,6000').split(',').map(Number)
const EDGES = (process.env['BENCH_EDGES'] ?? '1,4').split(',').map(Number)
/** A minute to fill the window, and another in which it slides. */
const RUN_MS = Number(process.env['BENCH_RUN_MS'] ?? 130_000)
/** How much more is asked for than the limit allows. */
const EXCESS = 1.3
const MINUTE_MS = 60_000
const LOG = REDIS_KEYS.activity('org_default')
/** Entries of allowed calls are written in batches. */
const LOGGED_WITHIN_MS = 2_000

/** Constant excess over a limit, spread over the edges: calls that reached the API in each sliding minute. */
for (const edges of EDGES) {
  const fleet = await startFleet({
    envoys: 'each',
    edges: Array.from({ length: edges }, () => ({})),
  })
  try {
    const runs = LIMITS.map(async (limit) => {
      const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/limit-${limit}`, {
        scope: { rate_limiting: { requests_per_minute: limit } },
      })
      const interval_ms = MINUTE_MS / limit / EXCESS
      const started_ms = performance.now()
      let sent = 0
      const underWay: Promise<unknown>[] = []
      const decided_ms: number[] = []
      // The log holds the calls of the last minute; it is read more often than that.
      const readLog = async (): Promise<void> => {
        const key = REDIS_KEYS.rateLog('org_default', access.agent.agent_id, access.scope_id)
        const log = (await fleet.redis.lrange(key, 0, -1)).map(Number).reverse()
        const last = decided_ms.at(-1) ?? 0
        decided_ms.push(...log.filter((at) => at > last))
      }
      const reading = setInterval(() => void readLog().catch(() => undefined), MINUTE_MS / 3)
      while (performance.now() - started_ms < RUN_MS) {
        // As many as are due by now, so that a late timer costs nothing.
        for (const due = (performance.now() - started_ms) / interval_ms; sent < due; sent++) {
          const url = fleet.edges[sent % edges]?.url ?? ''
          underWay.push(openCall(url, access.base_url, access.headers).ended)
        }
        await wait(Math.min(interval_ms, 20))
      }
      await Promise.all(underWay)
      clearInterval(reading)
      await readLog()
      const at_ms = fleet.upstream.begun
        .filter(
          ({ path }) =>
            path.startsWith(`/limit-${limit}`) && path.split('?')[0] === `/limit-${limit}`,
        )
        .map((one) => one.at_ms)
      const { most, least } = slidingMinutes(at_ms, started_ms, started_ms + RUN_MS)
      const decided = slidingMinutes(decided_ms, decided_ms[0] ?? 0, decided_ms.at(-1) ?? 0)
      const percent = (count: number): string => `${((100 * count) / limit).toFixed(2)} %`
      process.stdout.write(
        `${edges} edges, ${limit} a minute, ${sent} sent: sliding minute at most ${most} (${percent(most)}), ` +
          `at least ${least} (${percent(least)}); ` +
          `as decided in the store: at most ${percent(decided.most)}, at least ${percent(decided.least)}\n`,
      )
    })
    await Promise.all(runs)
    if (edges === EDGES[0]) await cost(fleet)
  } finally {
    endCalls()
    await fleet.stop()
  }
}
process.exit(0)

/** Over all windows of a minute that lie within the run; they begin and end where the count changes. */
function slidingMinutes(
  at_ms: readonly number[],
  from_ms: number,
  to_ms: number,
): { most: number; least: number } {
  const sorted = [...at_ms].sort((a, b) => a - b)
  let most = 0
  let least = Number.POSITIVE_INFINITY
  let first = 0
  let last = 0
  const starts = [from_ms, ...sorted.flatMap((at) => [at, at + 0.001])].filter(
    (start) => start + MINUTE_MS <= to_ms,
  )
  for (const start of starts) {
    while (first < sorted.length && (sorted[first] ?? 0) < start) first++
    while (last < sorted.length && (sorted[last] ?? 0) < start + MINUTE_MS) last++
    most = Math.max(most, last - first)
    least = Math.min(least, last - first)
  }
  return { most, least }
}

/** What a limit adds to a call: CPU time of ext-proc and store, and the wait, which a body that is held hides in part. */
async function cost(fleet: Awaited<ReturnType<typeof startFleet>>): Promise<void> {
  const CALLS = 4000
  const url = fleet.edges[0]?.url ?? ''
  for (const requests_per_minute of [null, 1_000_000]) {
    const access = await fleet.operator.makeAccess(
      `${fleet.upstream.origin}/cost-${requests_per_minute}`,
      { scope: { rate_limiting: { requests_per_minute } } },
    )
    const run = async (calls: number): Promise<number[]> => {
      const took: number[] = []
      const callers = Array.from({ length: 8 }, async () => {
        for (let i = 0; i < calls / 8; i++) {
          const asked_ms = performance.now()
          await openCall(url, access.base_url, access.headers).ended
          took.push(performance.now() - asked_ms)
        }
      })
      await Promise.all(callers)
      return took
    }
    await run(500)
    const since = (await fleet.redis.xrevrange(LOG, '+', '-', 'COUNT', 1))[0]?.[0] ?? '0-0'
    const pids = [fleet.edges[0]?.pid() ?? 0, fleet.valkey.pid()]
    const before = pids.map(cpuMicros)
    const took = await run(CALLS)
    const us = pids.map((pid, i) => (cpuMicros(pid) - (before[i] ?? 0)) / CALLS)
    process.stdout.write(
      `limit ${requests_per_minute}: CPU per call ext-proc ${us[0]?.toFixed(1)} µs, store ${us[1]?.toFixed(1)} µs; ` +
        `call ${distribution(took)}\n`,
    )
    await told(fleet, access.agent.agent_id, since)
  }
}

/** How many of an agent's calls since an entry of the log waited for the store, and how long, as the log has it. */
async function told(
  fleet: Awaited<ReturnType<typeof startFleet>>,
  agent_id: string,
  since: string,
): Promise<void> {
  await wait(LOGGED_WITHIN_MS)
  const entries = (await fleet.redis.xrange(LOG, `(${since}`, '+')).map(
    ([, fields]) => JSON.parse(fields[1] ?? '') as ActivityEntry,
  )
  const calls = entries.filter((entry) => entry.agent_id === agent_id)
  const waits_ms = calls.flatMap(({ steps }) =>
    steps.filter(({ step }) => step === 'rate').map(({ took_us }) => took_us / 1000),
  )
  const share = ((100 * waits_ms.length) / calls.length).toFixed(1)
  process.stdout.write(
    `  ${share} % of ${calls.length} calls waited for the store${waits_ms.length > 0 ? `: ${distribution(waits_ms)}` : ''}\n`,
  )
}

/** User and system time of a process so far. */
const cpuMicros = (pid: number): number => processStat(pid)?.cpu_us ?? 0
