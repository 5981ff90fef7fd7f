import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { startAll, stopAll } from '../test/kit/shared-stack.ts'
import { newAdminIdentity, startAdmin } from '../test/kit/start-admin.ts'
import { startRelay } from '../test/kit/start-relay.ts'
import { startSentinels } from '../test/kit/start-sentinels.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { SeededRandom } from '../test/kit/seeded-random.ts'
import { startWebhookReceiver } from '../test/kit/webhook-receiver.ts'
import { chaosActions, type RelayedParts } from './chaos-actions.ts'
import { faultsOf, startHistory } from './chaos-history.ts'
import { startChaosLoad } from './chaos-load.ts'

/**
 * `npm run bench -- chaos [--minutes 5] [--rate 200] [--store embedded] [--only stop,ext-proc]`: a gateway with two processors, on a
 * primary with two replicas and three Sentinels, or on its embedded store. `npm run history [-- --minutes 5]` is the same with three
 * processors and two admin services on a store behind relays, which are cut, and checks the history of what operators do through both (chaos-history.ts). One process after the other, at random, is killed with -9, stopped for
 * some seconds, or restarted with `agw restart`, and the store fails over, while short calls at a fixed rate, refusals that a
 * webhook receives, and kills go on. Prints what callers and operators saw, after each action the failures until then by cause. The exit code is 1 if an answer was wrong, a
 * refusal or event was lost, or a killed agent was served.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '200' },
    store: { type: 'string', default: 'sentinel' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    only: { type: 'string', default: '' },
  },
})
const RECOVERY_LIMIT_MS = 60_000
const CALM_MS = 1_500

const run_ms = Math.min(Number(values.minutes), 24 * 60) * 60_000
const sentinels = values.store === 'sentinel' ? await startSentinels() : null
const receiver = await startWebhookReceiver()
const relayed = values.store === 'relayed' ? await startRelayed() : null
const common = {
  NODE_EXTRA_CA_CERTS: receiver.certificates.ca_file,
  AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  AGW_WEBHOOK_DELAYS: '0s,1s,5s,15s,30s',
}
const stack = await startAll({
  ...common,
  AGW_EXT_PROC_WORKERS: relayed === null ? '2' : '3',
  ...(sentinels === null ? {} : { REDIS_URL: sentinels.url }),
  ...relayed?.env,
})
const second = await relayed?.startSecond({
  ...common,
  AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  AGW_ARCHIVE_DIR: join(stack.dataDir, 'archive'),
})
const load = await startChaosLoad(stack, receiver, Math.min(Number(values.rate), 1_000))
const history =
  second === undefined
    ? null
    : await startHistory(stack, receiver, {
        admins: () => [stack.apiUrl, second.url()],
        random: new SeededRandom(Number(values.seed) + 1),
      })
const actors = { sentinels, relayed: second?.parts ?? null }
const next = chaosActions(stack, actors, {
  seed: Number(values.seed),
  only: values.only.split(','),
})
const began_ms = performance.now()
const rows: Record<string, unknown>[] = []
while (performance.now() - began_ms < run_ms) {
  const since_ms = performance.now()
  const failed = load.failed()
  const name = await next().catch((error: Error) => error.message)
  await wait(CALM_MS)
  const limit_ms = performance.now() + RECOVERY_LIMIT_MS
  while (!load.servesSince(performance.now() - CALM_MS) && performance.now() < limit_ms)
    await wait(50)
  const outage_ms = load.outageSince(since_ms)
  rows.push({ name, failed: load.failed() - failed, outage_ms })
  const at_s = Math.round((since_ms - began_ms) / 1000)
  process.stdout.write(
    `${at_s} s: ${name}: ${load.failed() - failed} calls failed, longest outage ${outage_ms} ms; ${load.failures()}; ${load.spell()}\n`,
  )
}
const result = await load.end()
const told = (await history?.end()) ?? null
const byAction = new Map<string, { times: number; failed: number; longest_outage_ms: number }>()
for (const { name, failed, outage_ms } of rows) {
  const row = byAction.get(String(name)) ?? { times: 0, failed: 0, longest_outage_ms: 0 }
  row.times++
  row.failed += Number(failed)
  row.longest_outage_ms = Math.max(row.longest_outage_ms, Number(outage_ms))
  byAction.set(String(name), row)
}
process.stdout.write(
  `${JSON.stringify({ seed: values.seed, actions: Object.fromEntries(byAction), ...result, history: told }, null, 2)}\n`,
)
await stopAll(stack)
await second?.stop()
await Promise.all([sentinels?.stop(), relayed?.stop(), receiver.stop()])
const { wrong_answers, refusals_lost, refusals_doubled, events_lost, late_calls, revived_agents } =
  result
const faults =
  wrong_answers +
  refusals_lost +
  refusals_doubled +
  events_lost +
  late_calls +
  revived_agents +
  (told === null ? 0 : faultsOf(told))
process.exit(faults === 0 ? 0 : 1)

/** A store that each of the two admin services reaches over a relay of its own, the processors over that of the first. */
async function startRelayed() {
  const valkey = await startValkey()
  const [first, other] = await Promise.all([startRelay(valkey.url), startRelay(valkey.url)])
  const identity = newAdminIdentity()
  const env = {
    REDIS_URL: first.url,
    AGW_ADMIN_TOKEN: identity.token,
    AGW_ENCRYPTION_KEY: identity.encryption_key,
  }
  const startSecond = async (more: Readonly<Record<string, string>>) => {
    let admin = await startAdmin(other.url, identity, more)
    const parts: RelayedParts = {
      relays: [first, other],
      pid: { valkey: valkey.pid, 'second-admin': () => admin.pid },
      restart: {
        valkey: async () => {
          await valkey.kill()
          await valkey.start()
        },
        'second-admin': async () => {
          await admin.kill()
          admin = await startAdmin(other.url, identity, more)
        },
      },
    }
    return { parts, url: () => admin.url, stop: () => admin.stop() }
  }
  const stop = async (): Promise<void> => {
    await Promise.all([first.stop(), other.stop()])
    await valkey.stop()
  }
  return { env, startSecond, stop }
}
