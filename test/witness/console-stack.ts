import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { dashboardFiles } from '../../admin/assets/dashboard-files.ts'
import { fromRoot } from '../../core/root.ts'
import { signIn } from '../kit/sign-in.ts'
import { newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { SLOW_LINE } from '../kit/slow-line.ts'

// node dist/test/witness/console-stack.js: the shell of a console with other libraries (decision 12), built by Vite and served
// under the policy of our console: its size, what the policy reports of it, and how long until it is usable on a slow line, beside
// our console. It installs packages from the registry into a temporary folder.

const PACKAGES = [
  'vite@8.3.8',
  '@vitejs/plugin-react@6.3.0',
  'react@19.3.1',
  'react-dom@19.3.1',
  '@tanstack/react-query@5.108.0',
  '@tanstack/react-router@1.170.46',
  '@tanstack/react-virtual@3.14.26',
  'uplot@1.6.32',
  'react-aria-components@1.22.1',
]
const REPEATS = 5
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
}
const STATS = JSON.stringify({
  times: Array.from({ length: 96 }, (_, i) => 1_790_000_000 + i * 900),
  refused: Array.from({ length: 96 }, (_, i) => (i * 7) % 13),
  agents: Array.from({ length: 10 }, (_, i) => ({ id: `a${i}`, name: `agent ${i}`, calls: i })),
})

const run = promisify(execFile)
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const console_ = dashboardFiles()
if (console_ === null) throw new Error('the console is not built')
const { policy } = console_

const folder = tempFolder('console-stack')
cpSync(fromRoot('test', 'witness', 'console-stack'), folder, { recursive: true })
cpSync(join(folder, 'page.html'), join(folder, 'index.html'))
writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES], {
  cwd: folder,
})
await run(join(folder, 'node_modules', '.bin', 'vite'), ['build', '--target', 'es2022'], {
  cwd: folder,
})
const files = new Map<string, { readonly type: string; readonly br: Buffer }>()
say('bytes                          plain    gzip  brotli')
for (const name of ['index.html', ...namesIn('assets')]) {
  const bytes = readFileSync(join(folder, 'dist', name))
  const br = brotliCompressSync(bytes)
  files.set(name === 'index.html' ? '/' : `/${name}`, { type: TYPES[extname(name)] ?? '', br })
  saySize(
    `proposal ${basename(name)}`,
    bytes.length,
    gzipSync(bytes, { level: 9 }).length,
    br.length,
  )
}
for (const { path, plain, gzip, br } of console_.files)
  saySize(`console ${basename(path) || 'index.html'}`, plain.length, gzip.length, br.length)

const server = createServer((request, response) => {
  if (request.url === '/stats') return send(response, 'application/json', Buffer.from(STATS))
  const file = files.get(request.url ?? '')
  if (file === undefined) return void response.writeHead(404).end()
  send(response, file.type, file.br, { 'content-encoding': 'br' })
}).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const proposal = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const valkey = await startValkey()
const admin = await startAdmin(valkey.url, newAdminIdentity())
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  await sayViolations(browser)
  const enter = async (page: Page): Promise<void> => {
    await page.goto(admin.url)
    await signIn(page, admin.token)
  }
  say(`400 kbit/s, round trips of 100 ms, nothing cached; ms: fastest and median of ${REPEATS}`)
  say(`  proposal, chart and table        ${await timesOf(proposal, '[role=row]')}`)
  say(`  console, sign-in form            ${await timesOf(admin.url, 'input')}`)
  say(
    `  console, agents                  ${await timesOf(`${admin.url}/#/agents`, '.empty', enter)}`,
  )
  say(`  console, overview with figures   ${await timesOf(admin.url, '.figures strong', enter)}`)
} finally {
  await browser.close()
  await admin.stop()
  await valkey.stop()
  server.close()
}

function namesIn(part: string): readonly string[] {
  return readdirSync(join(folder, 'dist', part)).map((name) => `${part}/${name}`)
}

function saySize(name: string, ...sizes: readonly number[]): void {
  say(name.padEnd(28) + sizes.map((size) => String(size).padStart(8)).join(''))
}

function send(response: ServerResponse, type: string, body: Buffer, more = {}): void {
  response.writeHead(200, { 'content-type': type, 'content-security-policy': policy, ...more })
  response.end(body)
}

/** Uses each part once, and prints what the policy has reported meanwhile. */
async function sayViolations(chrome: Browser): Promise<void> {
  const page = await chrome.newPage()
  await page.addInitScript(
    `window.reported = []; document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => reported.push(effectiveDirective + ' ' + blockedURI))`,
  )
  await page.goto(proposal)
  await page.locator('.u-over').waitFor({ state: 'attached' })
  await page.getByRole('columnheader', { name: 'Calls' }).click()
  await page.getByRole('button', { name: 'Show agents' }).click()
  await page.getByRole('option').nth(2).click()
  await page.getByRole('button', { name: 'Kill' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: 'Activity' }).click()
  await page.locator('.row').first().hover()
  await page.mouse.wheel(0, 5000)
  await page.getByRole('link', { name: 'Agent', exact: true }).click()
  await page.getByRole('heading', { name: 'Agent a1' }).waitFor()
  say(`violations of the policy: ${JSON.stringify(await page.evaluate('reported'))}`)
  await page.close()
}

async function timesOf(
  url: string,
  selector: string,
  enter: (page: Page) => Promise<void> = async () => undefined,
): Promise<string> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await enter(page)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', SLOW_LINE)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const times: number[] = []
  for (let i = 0; i < REPEATS; i++) {
    await page.goto('about:blank')
    const began_ms = performance.now()
    await page.goto(url, { waitUntil: 'commit' })
    await page.locator(selector).first().waitFor({ state: 'attached' })
    times.push(performance.now() - began_ms)
  }
  await page.close()
  times.sort((a, b) => a - b)
  // Other work on the machine only adds to a time.
  return [times[0] ?? 0, times[Math.floor(REPEATS / 2)] ?? 0]
    .map((ms) => ms.toFixed(0).padStart(6))
    .join(' ')
}
