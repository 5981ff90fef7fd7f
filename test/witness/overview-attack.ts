import { execFile, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { mintKey } from '../../core/keys/api-key.ts'
import { BUILT_IN_PATTERNS } from '../../core/scanner/patterns/built-in.ts'
import { fromRoot } from '../../core/system/root.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { signIn } from '../kit/sign-in.ts'
import { startStack } from '../kit/start-stack.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import { startWebhookReceiver } from '../kit/webhook-receiver.ts'

/**
 * Whether an attacker can mask an outage: an edge is killed for good, a webhook fails until its alert, the disk has less space than the
 * archive needs, agents send injections of many kinds, and then the disk of the store (a tmpfs in a mount namespace of its own, which
 * requires root or user namespaces) is filled. The first three rows of the overview have to be the gateway's own, and the
 * page has to say all totals. Then consoles stay open while `/readyz` and the doctor probe, and the store is stopped while `/readyz`
 * is asked: probes must leave no entry and no count. With `--calls 0` only the probes are tried.
 *
 *     node dist/test/witness/overview-attack.js [--calls 10000] [--kinds 100] [--probes 1000] [--console-minutes 60] [--pictures FOLDER]
 */
const words = process.argv.slice(2)
const option = (name: string): string | null =>
  words.includes(name) ? (words[words.indexOf(name) + 1] ?? null) : null
const numberOf = (name: string, fallback: number): number => Number(option(name) ?? fallback)
const CALLS = numberOf('--calls', 10_000)
const KINDS = numberOf('--kinds', 100)
const PROBES = numberOf('--probes', 1000)
const CONSOLE_MINUTES = numberOf('--console-minutes', 1)
const CONSOLES = ['', 'activity?live=1', 'flow', 'security', 'settings?tab=health']
const PICTURES = option('--pictures')
const DISK_MIB = 384
const RESERVE_BYTES = 16 << 20
const AGENTS = 28
const AT_ONCE = 32
const LIMIT_MS = 300_000
const SETTLED_MS = 15_000
const began_ms = Date.now()
const say = (line: string): void => {
  const passed_s = ((Date.now() - began_ms) / 1000).toFixed(0).padStart(4)
  process.stdout.write(`${passed_s} s  ${line}\n`)
}

// The part in the namespace, where the store has its files on the small disk.
const disk = process.env['TEST_STORE_DIR']
if (disk === undefined) {
  const TEST_STORE_DIR = tempFolder('disk')
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const script = `mount -t tmpfs -o size=${DISK_MIB}m none "$TEST_STORE_DIR" && exec "$@"`
  const own = [process.execPath, fileURLToPath(import.meta.url), ...words]
  const args = [...asRoot, '--mount', 'sh', '-c', script, 'sh', ...own]
  const env = { ...process.env, TEST_STORE_DIR }
  process.exit(spawnSync('unshare', args, { stdio: 'inherit', env }).status ?? 1)
}
const hog = join(disk, 'hog')

const AGW_ADMIN_TOKEN = mintKey('admin')
const AGW_ENCRYPTION_KEY = randomBytes(32).toString('base64')
const receiver = await startWebhookReceiver()
receiver.on('/pager', (response) => response.writeHead(500).end())
const valkey = await startValkey()
const stack = await startStack({
  REDIS_URL: valkey.url,
  AGW_ADMIN_TOKEN,
  AGW_ENCRYPTION_KEY,
  AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  NODE_EXTRA_CA_CERTS: receiver.certificates.ca_file,
  AGW_ARCHIVE_MIN_FREE_BYTES: String(10 ** 14),
  AGW_DISK_RESERVE_FILE: join(disk, 'reserve'),
  AGW_DISK_RESERVE_BYTES: String(RESERVE_BYTES),
})
const operator = operatorAt(stack.apiUrl, AGW_ADMIN_TOKEN)
const problems: string[] = []
const openBrowser = () =>
  chromium.launch({
    executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
try {
  if (CALLS > 0) {
    await killEdge()
    const url = receiver.url('/pager')
    await operator.send('POST', '/webhooks', { name: 'pager', url, events: ['injection_blocked'] })
    await readOverview(await attack())
    if (Date.now() - began_ms > LIMIT_MS) problems.push(`it took more than ${LIMIT_MS} ms`)
  }
  await probe()
} finally {
  await stack.stop()
  await valkey.stop()
  await receiver.stop()
}
for (const problem of problems) say(`FAILED: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)

/** An edge of another machine, which no launcher starts again. */
async function killEdge(): Promise<void> {
  const edge = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'ext-proc'], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      REDIS_URL: valkey.url,
      AGW_ENCRYPTION_KEY,
      AGW_VERDICT_SECRET: randomBytes(32).toString('hex'),
      AGW_EXT_PROC_ADDRESS: `unix:${join(tempFolder('edge'), 'ext-proc.sock')}`,
      AGW_EDGE_ID: 'far-away',
    },
  })
  const edges = async (): Promise<string[]> =>
    (await operator.send('GET', '/admin/edges')).data.map((one: { edge_id: string }) => one.edge_id)
  await until('the edge is live', async () => (await edges()).includes('far-away'))
  edge.kill('SIGKILL')
  await until('the edge is dead', async () => !(await edges()).includes('far-away'))
}

/** Returns how many calls were blocked, once the alerts have counted them. */
async function attack(): Promise<number> {
  const agents: Access[] = []
  for (let n = 0; n < AGENTS; n++)
    agents.push(
      await operator.makeAccess(`${stack.echoOrigin}/api-${n}`, {
        scope: { injection_detection: { enabled: true } },
      }),
    )
  let sent = 0
  const statusOf = async (text: string): Promise<number> => {
    const { base_url, headers } = agents[sent++ % AGENTS] as Access
    const body = JSON.stringify({ text })
    const json = { ...headers, 'content-type': 'application/json' }
    const to = `${stack.proxyUrl}/${base_url}/x`
    return (await fetch(to, { method: 'POST', headers: json, body })).status
  }
  const kinds: string[] = []
  for (const { hits } of BUILT_IN_PATTERNS)
    if (kinds.length < KINDS && hits[0] !== undefined && (await statusOf(hits[0])) === 403)
      kinds.push(hits[0])
  let blocked = kinds.length
  const send = async (): Promise<void> => {
    while (sent < CALLS) if ((await statusOf(kinds[sent % kinds.length] ?? '')) === 403) blocked++
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  say(`${sent} calls, ${blocked} blocked, ${kinds.length} kinds`)
  await until(
    'alerts have counted all',
    async () => (await totals()).handled.occurrences >= blocked,
  )
  say('all are counted')
  return blocked
}

async function totals() {
  const answer = await operator.send('GET', '/admin/alerts/causes?status=open')
  return answer.totals
}

/** Takes all that is free on the disk of the store. */
function fillDisk(): void {
  for (const size of [1 << 20, 4096])
    try {
      for (;;) writeFileSync(hog, Buffer.alloc(size, 1), { flag: 'a' })
    } catch {
      // The disk is full.
    }
}

async function readOverview(blocked: number): Promise<void> {
  // A store that accepts no writes opens no session.
  const browser = await openBrowser()
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(LIMIT_MS)
  await page.goto(stack.apiUrl)
  await signIn(page, AGW_ADMIN_TOKEN)
  const alertOf = (kind: string): Promise<unknown> =>
    until(`the alert ${kind}`, async () => (await totals()).gateway.kinds[kind] > 0, LIMIT_MS)
  await Promise.all(['webhook_failing', 'archive_stopped'].map(alertOf))
  // From here on nothing is written: an edge that is not known as lost by now stays a row of silent edges.
  fillDisk()
  await alertOf('store_disk')
  // The half of the reserve that was given up is taken too: the store stays full.
  fillDisk()
  const open = await totals()
  say(`open alerts: ${JSON.stringify(open)}`)
  await page.reload()
  const needs = page.locator('.needs')
  const rows = needs.getByRole('table', { name: 'What needs you' }).getByRole('row')
  await rows.filter({ hasText: 'Refused by the gateway' }).waitFor()
  const texts = (await rows.allInnerTexts()).slice(1).map((text) => text.replaceAll(/\s+/g, ' '))
  for (const text of texts) say(`  ${text.slice(0, 150)}`)
  // A word, since each row can be acknowledged.
  const own = [/\bedges?\b/i, /webhook/i, /disk of the store/i, /archiv/i]
  const first = texts.slice(0, own.length)
  if (!own.every((sign) => first.some((text) => sign.test(text))))
    problems.push(`the first rows are not the gateway's own: ${first.join(' | ')}`)
  const sums = (await needs.innerText())
    .split('\n')
    .filter((line) => /^(?:The gateway|Agents|Handled)/.test(line))
  say(`totals on the page: ${sums.join(' ')}`)
  if (!sums.join(' ').includes(open.handled.alerts.toLocaleString()))
    problems.push('the page does not say how many alerts were handled')
  if (!texts.some((text) => text.includes(`${blocked.toLocaleString()} prompt injections`)))
    problems.push(`the page does not say that ${blocked} calls were blocked`)
  if (PICTURES !== null)
    for (const [name, width] of [
      ['wide', 1440],
      ['narrow', 390],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.screenshot({ path: join(PICTURES, `attack-${name}.png`), fullPage: true })
    }
  await browser.close()
  rmSync(hog)
}

async function counts(): Promise<string> {
  const { activity } = await operator.send('GET', '/admin/stats')
  const unknown = await operator.send('GET', '/admin/activity/unknown-calls')
  const metrics = await (await fetch(`${stack.apiUrl}/metrics`)).text()
  const calls = metrics.split('\n').filter((line) => line.startsWith('agw_calls_total'))
  return JSON.stringify([activity.entries, activity.by_decision, unknown.data, calls])
}

/** When edges have reported everything that happened before. */
async function settledCounts(): Promise<string> {
  let last = ''
  for (let is = await counts(); is !== last; is = await counts()) {
    last = is
    await wait(SETTLED_MS)
  }
  return last
}

async function askReadiness(): Promise<string> {
  const statuses: Record<number, number> = {}
  for (let n = 0; n < PROBES; n++) {
    const { status } = await fetch(`${stack.apiUrl}/readyz`)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  return JSON.stringify(statuses)
}

async function probe(): Promise<void> {
  const browser = await openBrowser()
  const context = await browser.newContext()
  for (const [at, hash] of CONSOLES.entries()) {
    const page = await context.newPage()
    await page.goto(stack.apiUrl)
    if (at === 0) await signIn(page, AGW_ADMIN_TOKEN)
    await page.goto(`${stack.apiUrl}/#/${hash}`)
  }
  // Calls of both kinds, so that a count of probes has something to stand beside.
  const { base_url, headers } = await operator.makeAccess(`${stack.echoOrigin}/probed`)
  for (const of of [headers, { authorization: 'Bearer unknown' }])
    await fetch(`${stack.proxyUrl}/${base_url}/x`, { headers: of })
  const before = await settledCounts()
  say(`/readyz: ${await askReadiness()}`)
  let doctors = 0
  const until_ms = Date.now() + CONSOLE_MINUTES * 60_000
  do {
    await diagnose()
    doctors++
    await wait(Math.min(60_000, Math.max(0, until_ms - Date.now())))
  } while (Date.now() < until_ms)
  say(
    `${CONSOLES.length} consoles open for ${CONSOLE_MINUTES} minutes, ${doctors} runs of the doctor`,
  )
  await browser.close()
  await valkey.kill()
  say(`/readyz without store: ${await askReadiness()}`)
  await valkey.start()
  await stack.ready()
  say(`/readyz with it again: ${await askReadiness()}`)
  const after = await settledCounts()
  say(`entries and counts before: ${before}`)
  say(`entries and counts after:  ${after}`)
  if (after !== before) problems.push('probes were logged or counted')
}

/** The doctor on this machine. It may report findings (exit code 1). */
async function diagnose(): Promise<void> {
  const env = {
    ...process.env,
    REDIS_URL: valkey.url,
    AGW_DATA_DIR: stack.dataDir,
    AGW_PROXY_PORT: new URL(stack.proxyUrl).port,
    AGW_API_PORT: new URL(stack.apiUrl).port,
    AGW_FORWARD_PORT: String(stack.forwardPort),
    AGW_ADMIN_TOKEN,
    AGW_ENCRYPTION_KEY,
  }
  const args = [fromRoot('dist', 'cli', 'bin.js'), 'doctor', '--output', 'json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env }).catch(
    (error: { readonly stdout: string }) => error,
  )
  if (!stdout.includes('used by this gateway'))
    problems.push(`the doctor did not look at the proxy: ${stdout}`)
}
