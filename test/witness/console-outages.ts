import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { mintKey } from '../../core/keys/api-key.ts'
import { operatorAt } from '../kit/operator.ts'
import { signIn } from '../kit/sign-in.ts'
import { startStack } from '../kit/start-stack.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'
import { writePicture } from './write-picture.ts'
import { SLOW_LINE } from '../kit/slow-line.ts'

// node dist/test/witness/console-outages.js [FOLDER]: pictures of the console while something is missing, on the real stack with
// calls: a slow line, a session that is over, a second tab that has signed out, no live edge, no store, no service.

const [folder = 'docs/pictures'] = process.argv.slice(2)
const CALLS = 40
/** For a while, so that what is old would be seen to look new. */
const STALE_MS = 20_000
const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const
type Size = keyof typeof SIZES

const AGW_ADMIN_TOKEN = mintKey('admin')
const valkey = await startValkey()
const stack = await startStack({ REDIS_URL: valkey.url, AGW_ADMIN_TOKEN })
const operator = operatorAt(stack.apiUrl, AGW_ADMIN_TOKEN)
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
mkdirSync(folder, { recursive: true })
try {
  await makeCalls()
  await slowLine()
  await sessions()
  const pages = await openPages(browser)
  const picture = async (state: string): Promise<void> => {
    for (const { name, size, page } of pages)
      await writePicture(page, join(folder, `outage-${state}-${name}-${size}.webp`))
  }
  const banner = async (text: RegExp): Promise<void> => {
    for (const { page } of pages)
      await page.getByRole('alert').filter({ hasText: text }).first().waitFor({ timeout: 60_000 })
  }
  const processors = await stack.pids('ext-proc')
  for (const pid of processors) process.kill(pid, 'SIGSTOP')
  await banner(/No edge holds its lease/)
  await picture('edges')
  for (const pid of processors) process.kill(pid, 'SIGCONT')
  await stack.ready()
  await valkey.kill()
  await banner(/The store is unavailable/)
  await pages[0]?.page.waitForTimeout(STALE_MS)
  await picture('store')
  await valkey.start()
  await stack.ready()
  // The launcher would start a service again that does not answer.
  for (const { page } of pages) await page.route('**/*', () => undefined)
  await banner(/The admin service is unreachable/)
  await picture('service')
} finally {
  await browser.close()
  await stack.stop()
  await valkey.stop()
}

async function makeCalls(): Promise<void> {
  const { headers, base_url, agent } = await operator.makeAccess(`${stack.echoOrigin}/anything`, {
    rules: [{ methods: ['GET'], paths: ['/reports/*'] }],
  })
  for (let i = 0; i < CALLS; i++) {
    const path = i % 5 === 4 ? 'refunds/re_1' : `reports/${i}`
    await fetch(`${stack.proxyUrl}/${base_url}/${path}`, { headers })
  }
  await until('the calls are in the log', async () => {
    const path = `/admin/activity?agent_id=${agent.agent_id}&limit=200`
    return (await operator.send('GET', path)).data.length >= CALLS
  })
}

async function openPage(in_: Browser, size: Size, token: string): Promise<Page> {
  const context = await in_.newContext({ viewport: SIZES[size] })
  const page = await context.newPage()
  await page.goto(stack.apiUrl)
  await signIn(page, token)
  return page
}

/** What an operator has open when something goes away. */
async function openPages(in_: Browser) {
  const pages: { name: string; size: Size; page: Page }[] = []
  for (const size of ['wide', 'narrow'] as const)
    for (const [name, hash] of [
      ['overview', ''],
      ['activity', 'activity?live=1'],
      ['agents', 'agents'],
    ] as const) {
      const page = await openPage(in_, size, AGW_ADMIN_TOKEN)
      await page.goto(`${stack.apiUrl}/#/${hash}`)
      await page.getByRole('row').nth(1).waitFor()
      pages.push({ name, size, page })
    }
  return pages
}

async function slowLine(): Promise<void> {
  for (const size of ['wide', 'narrow'] as const) {
    const page = await openPage(browser, size, AGW_ADMIN_TOKEN)
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await session.send('Network.emulateNetworkConditions', SLOW_LINE)
    for (const after_ms of [1_000, 3_000]) {
      await page.goto('about:blank')
      await page.goto(stack.apiUrl, { waitUntil: 'commit' })
      await page.waitForTimeout(after_ms)
      await writePicture(page, join(folder, `outage-slow-${after_ms / 1000}s-${size}.webp`))
    }
    await page.context().close()
  }
}

/** A token that is deleted ends its session; a sign-out in one tab shows in the other. */
async function sessions(): Promise<void> {
  const made = { email: 'night@example.com', role: 'operator' }
  for (const size of ['wide', 'narrow'] as const) {
    const { token, token_id } = await operator.send('POST', '/admin/tokens', made)
    const page = await openPage(browser, size, token)
    const second = await page.context().newPage()
    await second.goto(`${stack.apiUrl}/#/agents`)
    await second.getByRole('row').nth(1).waitFor()
    await operator.send('DELETE', `/admin/tokens/${token_id}`)
    await page.getByLabel('Admin token').waitFor()
    await writePicture(page, join(folder, `outage-session-${size}.webp`))
    await page.context().close()
    const first = await openPage(browser, size, AGW_ADMIN_TOKEN)
    const other = await first.context().newPage()
    await other.goto(`${stack.apiUrl}/#/agents`)
    await other.getByRole('row').nth(1).waitFor()
    if (size === 'narrow') await first.getByText('admin@localhost').click()
    await first.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('Admin token').waitFor()
    await writePicture(other, join(folder, `outage-tabs-${size}.webp`))
    await first.context().close()
  }
}
