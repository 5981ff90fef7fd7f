import { chromium, type CDPSession, type Page } from 'playwright-core'
import { recordEntries } from '../core/change/record-entries.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { signIn } from '../test/kit/sign-in.ts'
import { newAdminIdentity, startAdmin } from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { until } from '../test/kit/until.ts'
import { fillActivity } from './fill-activity.ts'
import { SLOW_LINE } from '../test/kit/slow-line.ts'

// `npm run bench -- console`: the console in a real Chromium over a log of a million entries (BENCH_ENTRIES): how long until a
// page shows its data, tasks of the main thread while scrolling and while entries come, facets, and a line of 400 kbit/s.

const ORG = 'org_default'
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000)
const REPEATS = 5
const ROW = '[data-entry]'
const CHART = '.chart path'
/** Notes when each is first there. A locator of Playwright looks only twice a second. */
const NOTE_FIRST = `window.seen = {}; new MutationObserver(() => {
  for (const each of ['${ROW}', '${CHART}'])
    if (document.querySelector(each) !== null) window.seen[each] ??= performance.now()
}).observe(document, { childList: true, subtree: true })`
const LIVE_RATE = 200
const LIVE_MS = 15_000
const INDEX_LIMIT_MS = 900_000

const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
const made = await fillActivity(redis, ENTRIES)
const admin = await startAdmin(valkey.url, newAdminIdentity())
await until(
  'all is indexed',
  async () => {
    const [last] = await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
    return (await redis.hget(REDIS_KEYS.activityDigest(ORG), 'position')) === last?.[0]
  },
  INDEX_LIMIT_MS,
)
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const session = await page.context().newCDPSession(page)
  await page.addInitScript(NOTE_FIRST)
  await page.goto(admin.url)
  await signIn(page, admin.token)
  print(`${ENTRIES.toLocaleString('en')} entries; ms: median and slowest of ${REPEATS}`)
  print(`  home, warm, refusals drawn        ${await timesOf(() => load(page, '', CHART))}`)
  print(`  activity, warm, first row         ${await timesOf(() => load(page, 'activity', ROW))}`)
  print(`  facets at the client              ${await timesOf(() => facets())}`)
  const { longest_ms, cpu_ms } = await scroll(page)
  print(
    `  longest task while scrolling      ${longest_ms.toFixed(0)} ms, ${cpu_ms.toFixed(0)} of CPU`,
  )
  print(
    `  main thread, live at ${LIVE_RATE}/s        ${(await follow(page, session)).toFixed(1)} % of a core`,
  )
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', SLOW_LINE)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  print('400 kbit/s, 100 ms, nothing cached')
  print(`  home, refusals drawn              ${await timesOf(() => load(page, '', CHART))}`)
  print(`  activity, first row               ${await timesOf(() => load(page, 'activity', ROW))}`)
} finally {
  await browser.close()
  await admin.stop()
  redis.disconnect()
  await valkey.stop()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function timesOf(measure: () => Promise<number>): Promise<string> {
  const times: number[] = []
  for (let i = 0; i < REPEATS; i++) times.push(await measure())
  times.sort((a, b) => a - b)
  const shown = [times[Math.floor(REPEATS / 2)] ?? 0, times.at(-1) ?? 0]
  return shown.map((ms) => ms.toFixed(0).padStart(6)).join(' ')
}

/** From a load of the whole page until an element with data is there, in ms. */
async function load(page: Page, hash: string, selector: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(`${admin.url}/#/${hash}`, { waitUntil: 'commit' })
  await page.locator(selector).first().waitFor({ state: 'attached' })
  return Number(await page.evaluate(`window.seen[${JSON.stringify(selector)}]`))
}

async function facets(): Promise<number> {
  const began_ms = performance.now()
  const answer = await fetch(`${admin.url}/admin/activity/facets`, {
    headers: { authorization: `Bearer ${admin.token}` },
  })
  await answer.text()
  return performance.now() - began_ms
}

/**
 * The longest task of the main thread while one scrolls through thousands of entries, which are loaded meanwhile; and the most
 * CPU time of a task, which other jobs of the machine do not change.
 */
async function scroll(page: Page): Promise<{ longest_ms: number; cpu_ms: number }> {
  await load(page, 'activity', ROW)
  await page.evaluate(
    `window.longest = 0; new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration) }).observe({ type: 'longtask' })`,
  )
  await page.locator(ROW).first().hover()
  await browser.startTracing(page, { categories: ['toplevel'] })
  for (let i = 0; i < 100; i++) {
    await page.mouse.wheel(0, 800)
    await page.waitForTimeout(30)
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as Trace
  const isMain = new Set(
    traceEvents
      .filter(({ args }) => args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = traceEvents.filter(({ pid, tid }) => isMain.has(`${pid} ${tid}`))
  return {
    longest_ms: Number(await page.evaluate('window.longest')),
    cpu_ms: Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000)),
  }
}

interface Trace {
  readonly traceEvents: readonly {
    readonly pid: number
    readonly tid: number
    readonly args?: { readonly name?: string }
    /** Microseconds of CPU time. */
    readonly tdur?: number
  }[]
}

/** The share of its time that the main thread works while entries come. */
async function follow(page: Page, session: CDPSession): Promise<number> {
  await load(page, 'activity?live=1', ROW)
  await page.getByText('Live:').waitFor()
  await session.send('Performance.enable')
  const worked = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  }
  const before_s = await worked()
  const began_ms = performance.now()
  for (let sent = 0; performance.now() - began_ms < LIVE_MS; ) {
    const due = Math.floor(((performance.now() - began_ms) / 1000) * LIVE_RATE)
    const batch = Array.from({ length: due - sent }, (_, i) => made(ENTRIES + sent + i, Date.now()))
    await recordEntries(redis, ORG, batch)
    sent = due
    await page.waitForTimeout(100)
  }
  const wall_s = (performance.now() - began_ms) / 1000
  return (100 * ((await worked()) - before_s)) / wall_s
}
