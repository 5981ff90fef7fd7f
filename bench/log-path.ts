import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { mintActivityId } from '../core/activity/activity-id.ts'
import type * as ConnectRedis from '../core/redis/connect-redis.ts'
import { fromRoot } from '../core/root.ts'
import type * as Recorder from '../ext-proc/record/activity-recorder.ts'
import type * as StartAdmin from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'

/**
 * What the activity log costs behind the access-log receiver: µs of CPU per entry in the admin service, which indexes, archives and
 * analyses the log, and in the store, at a constant rate of allowed calls; and what both need while nothing happens.
 *
 *   npm run bench -- log-path [--beside DIR] [--rate N] [--seconds N] [--rounds N]
 *
 * `--beside` names another checkout that is built, whose admin service is measured in alternating rounds.
 */

const ORG = 'org_default'
const START_MS = 4_000
/** Until all that a round has written is indexed, archived and analysed. */
const SETTLE_MS = 1_600
const IDLE_MS = 3_000
const TICK_MS = 10

interface Subject {
  readonly name: string
  readonly recorder: Recorder.ActivityRecorder
  readonly cpuMs: () => { readonly admin: number; readonly store: number }
  readonly samples: { admin_us: number; store_us: number; idle_ms: number }[]
  readonly stop: () => Promise<void>
}

async function benchLogPath(print: (line: string) => void): Promise<void> {
  const { values } = parseArgs({
    options: {
      beside: { type: 'string' },
      rate: { type: 'string', default: '3000' },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '5' },
    },
  })
  const rate = Number(values.rate)
  const seconds = Number(values.seconds)
  const subjects = [await start('this version', fromRoot())]
  if (values.beside !== undefined) subjects.push(await start('beside', resolve(values.beside)))
  for (const subject of subjects) await feed(subject, rate, seconds)
  for (let round = 0; round < Number(values.rounds); round++)
    for (const subject of subjects) await measure(subject, rate, seconds)
  print(`${rate} entries/s, medians of ${values.rounds} rounds of ${seconds} s`)
  print('| | admin, µs per entry | store, µs per entry | admin idle, ms of CPU per second |')
  print('|---|---|---|---|')
  for (const { name, samples, stop } of subjects) {
    const median = (member: 'admin_us' | 'store_us' | 'idle_ms'): string =>
      (
        samples.map((sample) => sample[member]).sort((a, b) => a - b)[samples.length >> 1] ?? 0
      ).toFixed(1)
    print(`| ${name} | ${median('admin_us')} | ${median('store_us')} | ${median('idle_ms')} |`)
    await stop()
  }
}

/** An admin service with an archive, on a store of its own. */
async function start(name: string, root: string): Promise<Subject> {
  // Another version may write the log in another form.
  const load = async <T>(file: string): Promise<T> =>
    (await import(pathToFileURL(join(root, 'dist', file)).href)) as T
  const { newAdminIdentity, startAdmin } = await load<typeof StartAdmin>('test/kit/start-admin.js')
  const { connectRedis } = await load<typeof ConnectRedis>('core/redis/connect-redis.js')
  const { ActivityRecorder } = await load<typeof Recorder>('ext-proc/record/activity-recorder.js')
  const valkey = await startValkey()
  const archive = mkdtempSync(join(tmpdir(), 'agw-log-path-'))
  const admin = await startAdmin(valkey.url, newAdminIdentity(), {
    AGW_ARCHIVE_DIR: archive,
    LOG_LEVEL: 'info',
  })
  const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
  const recorder = new ActivityRecorder({ redis, nowMs: Date.now, log: console })
  await wait(START_MS)
  return {
    name,
    recorder,
    cpuMs: () => ({ admin: cpuMs(admin.pid), store: cpuMs(valkey.pid()) }),
    samples: [],
    stop: async () => {
      await recorder.stop()
      redis.disconnect()
      await admin.stop()
      await valkey.stop()
      rmSync(archive, { recursive: true, force: true })
    },
  }
}

async function measure(subject: Subject, rate: number, seconds: number): Promise<void> {
  const idle = subject.cpuMs()
  await wait(IDLE_MS)
  const before = subject.cpuMs()
  const entries = await feed(subject, rate, seconds)
  const after = subject.cpuMs()
  subject.samples.push({
    admin_us: ((after.admin - before.admin) / entries) * 1000,
    store_us: ((after.store - before.store) / entries) * 1000,
    idle_ms: (before.admin - idle.admin) / (IDLE_MS / 1000),
  })
}

/** Returns how many entries were written. */
async function feed({ recorder }: Subject, rate: number, seconds: number): Promise<number> {
  const began_ms = Date.now()
  let sent = 0
  while (Date.now() - began_ms < seconds * 1000) {
    const due = Math.floor(((Date.now() - began_ms) / 1000) * rate)
    for (; sent < due; sent++) recorder.finished(ORG, line(sent, Date.now()))
    await wait(TICK_MS)
  }
  await recorder.flush()
  await wait(SETTLE_MS)
  return sent
}

const STEPS = [
  'target',
  'integration',
  'agent',
  'scope',
  'rate',
  'body',
  'tools',
  'scan',
  'credential',
]

/** An allowed call as the access-log receiver writes it. */
function line(n: number, now_ms: number): string {
  const steps = STEPS.map((step, i) => ({ step, outcome: 'pass', took_us: (n * (i + 3)) % 90 }))
  const entry = {
    id: mintActivityId(now_ms),
    event: 'request_allowed',
    status: 200,
    decision: 'allowed',
    reason: null,
    duration_ms: (n % 20_000) / 1000,
    bytes_in: 2048,
    bytes_out: 300 + (n % 400),
    timestamp: new Date(now_ms).toISOString(),
    organization_id: ORG,
    agent_id: `agt_0123456789abcdef${n % 3}`,
    agent_name: 'worker',
    key_id: 'key_0123456789abcdef',
    integration_id: 'int_0123456789abcdef',
    scope_id: `scp_0123456789abcdef${n % 3}`,
    rule: 0,
    method: 'POST',
    endpoint: '/v1/chat/completions',
    source_ip: '127.0.0.1',
    request_id: mintActivityId(now_ms).slice(4),
    edge_id: 'edge-1',
    steps,
    data: { upstream: { outcome: 'answered' } },
  }
  return `\t${JSON.stringify(entry)}\n`
}

/** Of all threads that are running. */
function cpuMs(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [spent = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')
    nanoseconds += Number(spent)
  }
  return nanoseconds / 1e6
}

await benchLogPath((text) => process.stdout.write(`${text}\n`))
