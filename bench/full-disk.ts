import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { operatorAt } from '../test/kit/operator.ts'
import { startStack } from '../test/kit/start-stack.ts'
import { startUpstream } from '../test/kit/start-upstream.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'

/**
 * `npm run bench -- full-disk [--size 160] [--kills 10] [--product DIR]`: fills the disk of a whole gateway (a tmpfs of
 * --size MiB in a mount namespace of its own), and prints what calls, kills and reactivations do then. Another program takes
 * whatever becomes free at once, which is the worst case. Requires root, or user namespaces.
 */
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '160' },
    kills: { type: 'string', default: '10' },
    product: { type: 'string' },
    disk: { type: 'string' },
  },
})
const say = (line: string): void => void process.stdout.write(`${line}\n`)

if (values.disk === undefined) {
  const disk = tempFolder('full-disk')
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const script = 'mount -t tmpfs -o "size=$1m" none "$2" && shift 2 && exec "$@"'
  const own = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const args = [...asRoot, '--mount', 'sh', '-c', script, 'sh', values.size, disk, ...own]
  const done = spawnSync('unshare', [...args, '--disk', disk], { stdio: 'inherit' })
  if (done.status !== 0) say('This bench requires root, or user namespaces (unshare, mount).')
  process.exit(done.status ?? 1)
}

const { disk } = values
const CALL_INTERVAL_MS = 20
const ASK_LIMIT_MS = 10_000
const MIB = Buffer.alloc(1 << 20, 1)
const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(disk)
  return bavail * bsize
}

/** Takes all free space, and what becomes free later. */
const hog = openSync(join(disk, 'hog'), 'w')
let mustBeFull = false
function fill(): void {
  if (!mustBeFull) return
  for (const piece of [MIB, MIB.subarray(0, 4096)])
    try {
      for (;;) writeSync(hog, piece)
    } catch {
      // The disk is full.
    }
}

const upstream = await startUpstream((incoming, response) => {
  if (incoming.url?.includes('/sse') !== true) return void response.end('{}')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const beat = setInterval(() => response.write('data: more\n\n'), 100)
  response.once('close', () => clearInterval(beat))
})
mkdirSync(join(disk, 'data'))
const stack = await startStack(
  {
    AGW_DATA_DIR: join(disk, 'data'),
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    AGW_EXT_PROC_WORKERS: '2',
    AGW_DISK_RESERVE_BYTES: '67108864',
  },
  values.product,
)
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const victim = await operator.makeAccess(`${upstream.origin}/victim`)
const caller = await operator.makeAccess(`${upstream.origin}/caller`)
say(`free after the start: ${(freeBytes() / 1048576).toFixed(0)} MiB`)

const statuses: Record<string, number> = {}
const calling = new AbortController()
async function callOn(): Promise<void> {
  while (!calling.signal.aborted) {
    const answer = await fetch(`${stack.proxyUrl}/${caller.base_url}/x`, {
      headers: caller.headers,
    }).catch(() => null)
    await answer?.arrayBuffer().catch(() => null)
    const status = String(answer?.status ?? 'failed')
    statuses[status] = (statuses[status] ?? 0) + 1
    await wait(CALL_INTERVAL_MS)
  }
}
const takeStatuses = (): string => {
  const text = JSON.stringify(statuses)
  for (const name of Object.keys(statuses)) delete statuses[name]
  return text
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly took_ms: number
}
async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const from_ms = performance.now()
  const answer = await fetch(stack.apiUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${stack.adminToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ASK_LIMIT_MS),
  }).catch((error: Error) => error)
  const text = answer instanceof Error ? answer.message : await answer.text()
  return {
    status: answer instanceof Error ? 0 : answer.status,
    text,
    took_ms: performance.now() - from_ms,
  }
}

/** An event stream of the agent, and when it ended. */
async function openStream(): Promise<{ status: number; ended: Promise<number> }> {
  const answer = await fetch(`${stack.proxyUrl}/${victim.base_url}/sse`, {
    headers: victim.headers,
  }).catch(() => null)
  const ended = (async () => {
    await answer?.text().catch(() => null)
    return performance.now()
  })()
  return { status: answer?.status ?? 0, ended }
}

async function killRounds(name: string, count: number): Promise<void> {
  const took: number[] = []
  const rows: string[] = []
  let killed = 0
  let complete = 0
  let reactivated = 0
  for (let i = 0; i < count; i++) {
    const stream = await openStream()
    const agent = `/admin/agents/${victim.agent.agent_id}`
    const kill = await ask('POST', `${agent}/kill`, { reason: 'the disk is full' })
    took.push(kill.took_ms)
    if (kill.status === 200) killed++
    else rows.push(`kill ${kill.status} ${kill.text.slice(0, 300)}`)
    if (kill.status === 200 && (JSON.parse(kill.text) as { complete: boolean }).complete) complete++
    if (stream.status === 200 && kill.status === 200) {
      const isCut = await Promise.race([stream.ended.then(() => true), wait(3_000, false)])
      if (!isCut) rows.push('a stream went on after its kill')
    }
    fill()
    const after = await fetch(`${stack.proxyUrl}/${victim.base_url}/x`, {
      headers: victim.headers,
    }).catch(() => null)
    if (after?.status === 200) rows.push('a call of the killed agent was allowed')
    const back = await ask('POST', `${agent}/reactivate`, { reason: 'the test goes on' })
    if (back.status === 200) reactivated++
    else rows.push(`reactivate ${back.status} ${back.text.slice(0, 200)}`)
    fill()
  }
  took.sort((a, b) => a - b)
  say(
    `${name}: ${killed} of ${count} killed, ${complete} complete, ${reactivated} reactivated; kill p50 ${took[Math.floor(took.length / 2)]?.toFixed(0)} ms, max ${took.at(-1)?.toFixed(0)} ms; calls ${takeStatuses()}`,
  )
  for (const row of new Set(rows)) say(`  ${row}`)
}

const count = Number(values.kills)
const calls = callOn()
await killRounds('before', 2)
const filled_ms = performance.now()
mustBeFull = true
fill()
await wait(3_000)
say(`3 s after the disk was full: calls ${takeStatuses()}`)
say(`readyz: ${(await ask('GET', '/readyz')).text.slice(0, 400)}`)
fill()
await killRounds('disk full', count)

for (const role of ['admin', 'ext-proc', 'valkey'] as const) {
  for (const pid of await stack.pids(role)) process.kill(pid, 'SIGKILL')
  const from_ms = performance.now()
  fill()
  let first: Answer | null = null
  while (performance.now() - from_ms < 30_000) {
    first = await ask('GET', '/admin/agents')
    if (first.status === 200 && (await stack.pids(role)).length > 0) break
    await wait(100)
  }
  await wait(5_000)
  fill()
  await killRounds(`after kill -9 of ${role}`, 2)
  if (first?.status !== 200) say(stack.log().split('\n').slice(-30).join('\n'))
}
const alerts = await ask('GET', '/admin/alerts')
const { data = [] } = JSON.parse(alerts.text || '{}') as {
  data?: { kind: string; count: number; title: string }[]
}
say(`alerts: ${data.map(({ kind, title }) => `${kind} (${title})`).join('; ')}`)
mustBeFull = false
closeSync(hog)
spawnSync('rm', [join(disk, 'hog')])
const freed_ms = performance.now()
while ((await ask('GET', '/readyz')).status !== 200 && performance.now() - freed_ms < 60_000)
  await wait(50)
say(
  `ready ${(performance.now() - freed_ms).toFixed(0)} ms after space was freed; the disk was full for ${((freed_ms - filled_ms) / 1000).toFixed(0)} s`,
)
takeStatuses()
await wait(1_000)
await killRounds('space again', 2)
calling.abort()
await calls
await stack.stop()
await upstream.stop()
process.exit(0)
