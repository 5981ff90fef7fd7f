import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { call } from '../kit/call.ts'
import { logEntries } from '../kit/log-entries.ts'
import { makeCollector } from '../kit/make-collector.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

/**
 * The activity log in a real OpenTelemetry Collector: calls, refusals and a kill, while the Collector is repeatedly killed with -9.
 * Compares what the file exporter of the Collector has written with the activity log. The exit code is 1 if an entry is missing or
 * differs. docs/measurements.md says how to build a Collector with these two components.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/log-export.js --collector PATH/otelcol
 */

const ROUNDS = 3
const CALLS = 200
/** Of these one is refused. */
const REFUSED_EACH = 10

const collector = await makeCollector('logs')

const stack = await startAll({ AGW_LOG_EXPORT_URL: collector.url })
const redis = connectRedis(stack.redisUrl, { name: 'witness', role: 'commands' })
const { agent, headers, base_url } = await stack.operator.makeAccess(stack.ownBaseUrl(), {
  rules: [{ methods: ['GET'], paths: ['/**'] }],
})
const send = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++)
    await call({
      to: stack.proxyUrl,
      method: i % REFUSED_EACH === 0 ? 'DELETE' : 'GET',
      path: `/${base_url}/a`,
      headers,
    })
}
for (let round = 0; round < ROUNDS; round++) {
  const running = collector.start()
  await send(CALLS)
  running.kill('SIGKILL')
  await once(running, 'exit')
  // These wait for the next one.
  await send(CALLS / 4)
}
await stack.operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, { reason: 'witness' })
const running = collector.start()
const all = ROUNDS * (CALLS + CALLS / 4)
const entries = await until('the log has every call', async () => {
  const found = await logEntries(redis, 'org_default')
  const calls = found.filter((entry) => entry.agent_id === agent.agent_id && entry.method !== null)
  const isKilled = found.some(({ event }) => event === 'agent_killed')
  return calls.length >= all && isKilled ? found : null
})

interface Written {
  readonly eventName?: string
  readonly body: { readonly stringValue: string }
}
interface Line {
  readonly resourceLogs: readonly { scopeLogs: readonly { logRecords: readonly Written[] }[] }[]
}
/** The line that a kill has torn is not one: its entries are sent again. */
function readRecords(): Written[] {
  return collector
    .written()
    .split('\n')
    .flatMap((text) => {
      try {
        const { resourceLogs } = JSON.parse(text) as Line
        return resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((one) => one.logRecords))
      } catch {
        return []
      }
    })
}
const readEntries = (): ActivityEntry[] =>
  readRecords().map(({ body }) => JSON.parse(body.stringValue) as ActivityEntry)

const newest = entries.at(-1)?.id
await until('the newest entry has arrived', () => readEntries().some(({ id }) => id === newest))
const records = readEntries()
const arrived = new Map(records.map((entry) => [entry.id, entry]))
const missing = entries.filter(({ id }) => !arrived.has(id))
const differing = entries.filter((entry) => {
  const found = arrived.get(entry.id)
  return found !== undefined && !Object.keys(entry).every((name) => isSame(entry, found, name))
})
function isSame(a: ActivityEntry, b: ActivityEntry, name: string): boolean {
  return isDeepStrictEqual(a[name as keyof ActivityEntry], b[name as keyof ActivityEntry])
}
process.stdout.write(
  `${entries.length} entries, ${ROUNDS} Collectors killed with -9: ${missing.length} missing, ${differing.length} differ, ${records.length - arrived.size} sent again.\n`,
)
running.kill('SIGTERM')
await once(running, 'exit')
redis.disconnect()
await stopAll(stack)
process.exitCode = missing.length + differing.length > 0 ? 1 : 0
