import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
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
 * archive needs, and agents send injections of many kinds. The first three rows of the overview have to be the gateway's own, and the
 * page has to say all totals. Then the store is stopped while `/readyz` is asked: probes must leave no entry and no count.
 *
 *     node dist/test/witness/overview-attack.js [--calls 10000] [--kinds 100] [--probes 200]
 */
const words = process.argv.slice(2)
const numberOf = (name: string, fallback: number): number =>
  words.includes(name) ? Number(words[words.indexOf(name) + 1]) : fallback
const CALLS = numberOf('--calls', 10_000)
const KINDS = numberOf('--kinds', 100)
const PROBES = numberOf('--probes', 200)
const AGENTS = 28
const AT_ONCE = 32
const LIMIT_MS = 300_000
const say = (line: string): void => void process.stdout.write(`${line}\n`)

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
})
const operator = operatorAt(stack.apiUrl, AGW_ADMIN_TOKEN)
const problems: string[] = []
try {
  await killEdge()
  const url = receiver.url('/pager')
  await operator.send('POST', '/webhooks', { name: 'pager', url, events: ['injection_blocked'] })
  await attack()
  await readOverview()
  await probeWithoutStore()
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

async function attack(): Promise<void> {
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
  const started_ms = Date.now()
  let blocked = kinds.length
  const send = async (): Promise<void> => {
    while (sent < CALLS) if ((await statusOf(kinds[sent % kinds.length] ?? '')) === 403) blocked++
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  say(
    `${sent} calls, ${blocked} blocked, ${kinds.length} kinds, in ${Math.round((Date.now() - started_ms) / 1000)} s`,
  )
}

async function readOverview(): Promise<void> {
  for (const kind of ['webhook_failing', 'edge_lost'])
    await until(
      `the alert ${kind}`,
      async () => {
        const { totals } = await operator.send('GET', '/admin/alerts/causes?status=open')
        return totals.gateway.kinds[kind] > 0
      },
      LIMIT_MS,
    )
  const { totals } = await operator.send('GET', '/admin/alerts/causes?status=open')
  say(`open alerts: ${JSON.stringify(totals)}`)
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(stack.apiUrl)
  await signIn(page, AGW_ADMIN_TOKEN)
  const needs = page.locator('.needs')
  const rows = needs.getByRole('table', { name: 'What needs you' }).getByRole('row')
  await rows.filter({ hasText: 'Refused by the gateway' }).waitFor({ timeout: 60_000 })
  const texts = (await rows.allInnerTexts()).slice(1).map((text) => text.replaceAll(/\s+/g, ' '))
  for (const text of texts) say(`  ${text.slice(0, 150)}`)
  const own = [/edge/i, /webhook/i, /disk|archiv/i]
  const first = texts.slice(0, own.length)
  if (!own.every((sign) => first.some((text) => sign.test(text))))
    problems.push(`the first rows are not the gateway's own: ${first.join(' | ')}`)
  const sums = (await needs.innerText())
    .split('\n')
    .filter((line) => /^(?:The gateway|Agents|Handled)/.test(line))
  say(`totals on the page: ${sums.join(' ')}`)
  if (!sums.join(' ').includes(totals.handled.alerts.toLocaleString()))
    problems.push('the page does not say how many alerts were handled')
  await page.screenshot({ path: join(tempFolder('overview'), 'overview.png') })
  await browser.close()
}

async function probeWithoutStore(): Promise<void> {
  const counts = async (): Promise<string> => {
    const { activity } = await operator.send('GET', '/admin/stats')
    const metrics = await (await fetch(`${stack.apiUrl}/metrics`)).text()
    const calls = metrics.split('\n').filter((line) => line.startsWith('agw_calls_total'))
    return JSON.stringify([activity.entries, activity.by_decision, calls])
  }
  // What was counted before has to be written.
  let before = ''
  await until('nothing is counted any more', async () => {
    const [was, is] = [before, await counts()]
    before = is
    return was === is
  })
  await valkey.kill()
  const statuses = new Map<number, number>()
  for (let n = 0; n < PROBES; n++) {
    const { status } = await fetch(`${stack.apiUrl}/readyz`)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  await valkey.start()
  await stack.ready()
  for (let n = 0; n < PROBES; n++) await fetch(`${stack.apiUrl}/readyz`)
  const after = await counts()
  say(`/readyz without store: ${JSON.stringify([...statuses])}; then ${PROBES} with it`)
  say(`entries and counts before: ${before}`)
  say(`entries and counts after:  ${after}`)
  if (after !== before) problems.push('probes were logged or counted')
}
