import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { runWith } from './run-with.ts'

/** What a client does, each call with these headers. */
export interface Order {
  readonly headers: Readonly<Record<string, string>>
  /** Called one by one, without cookies. */
  readonly redirects: readonly string[]
  /** Called one by one; what their headers refer to (`Link`, `Refresh`, …) is called too, by clients that have a way to resolve URLs. */
  readonly references: readonly string[]
  /** Lists of URLs that are called in order with one cookie jar, by clients that have one. */
  readonly jars: readonly (readonly string[])[]
}

/** Runs a client on an order and returns its version. */
export type Client = (order: Order) => Promise<string>

const CLIENTS = fromRoot('test', 'witness', 'clients')
const FOLDER = join(process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness'), 'redirects')
const PYTHON_PACKAGES = [
  'requests==2.34.2',
  'httpx==0.28.1',
  'aiohttp==3.14.5',
  'mechanize==0.4.10',
]
const NODE_PACKAGES = [
  'got@14.6.6',
  'axios@1.21.1',
  'node-fetch@3.3.2',
  'superagent@10.4.2',
  'tough-cookie@6.1.0',
]
const run = promisify(execFile)

const python =
  (client: string): Client =>
  async (order) => {
    const bin = join(FOLDER, 'python', 'bin')
    if (!existsSync(join(bin, 'ready'))) {
      await run('python3', ['-m', 'venv', join(FOLDER, 'python')])
      await run(join(bin, 'python'), ['-m', 'pip', 'install', '-q', ...PYTHON_PACKAGES])
      copyFileSync(join(CLIENTS, 'redirects.py'), join(bin, 'ready'))
    }
    const text = await runWith(
      join(bin, 'python'),
      [join(CLIENTS, 'redirects.py'), client],
      JSON.stringify(order),
    )
    return text.trim()
  }

const node =
  (client: string): Client =>
  async (order) => {
    const folder = join(FOLDER, 'node')
    if (!existsSync(join(folder, 'node_modules', 'tough-cookie'))) {
      mkdirSync(folder, { recursive: true })
      await run(
        'npm',
        ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...NODE_PACKAGES],
        {
          cwd: folder,
        },
      )
    }
    copyFileSync(join(CLIENTS, 'redirects.mjs'), join(folder, 'redirects.mjs'))
    const text = await runWith(
      process.execPath,
      [join(folder, 'redirects.mjs'), client],
      JSON.stringify(order),
    )
    return text.trim()
  }

const onInput =
  (command: string, args: readonly string[], inputOf: (order: Order) => string = JSON.stringify) =>
  async (order: Order): Promise<string> =>
    (await runWith(command, args, inputOf(order))).trim()

/** A command that takes its URLs as arguments: one process a redirect, one a jar. */
const onArguments =
  (
    command: string,
    fixed: (jar: string | null) => readonly string[],
    header: (name: string, value: string) => readonly string[],
  ): Client =>
  async ({ headers, redirects, jars }) => {
    const { stdout } = await run(command, ['--version'])
    const given = Object.entries(headers).flatMap(([name, value]) => header(name, value))
    const get = (jar: string | null, urls: readonly string[]): Promise<unknown> =>
      run(command, [...fixed(jar), ...given, ...urls], { timeout: 20_000 }).catch(() => null)
    for (const url of redirects) await get(null, [url])
    for (const urls of jars) {
      const jar = join(tempFolder('jar'), 'jar')
      // A process for each, so that cookies pass through the file.
      for (const url of urls) await get(jar, [url])
    }
    return stdout.split('\n', 1)[0]?.split(' ').slice(0, 3).join(' ') ?? ''
  }

const javaLines = ({ headers, redirects, jars }: Order): string =>
  [
    ...Object.entries(headers).map(([name, value]) => `header\t${name}\t${value}`),
    ...redirects.map((url) => `redirect\t${url}`),
    ...jars.flatMap((urls) => ['jar\t', ...urls.map((url) => `cookie\t${url}`)]),
  ].join('\n')

const java = (client: string): Client =>
  onInput('java', [join(CLIENTS, 'Redirects.java'), client], javaLines)

/** `fetch` of a page of the gateway's origin, as a page that an API serves through the gateway can call it. */
const browser: Client = async ({ headers, redirects, references, jars }) => {
  const executablePath = process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium'
  const chrome = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  const visit = async (urls: readonly string[]): Promise<void> => {
    const page = await (await chrome.newContext()).newPage()
    await page.goto(new URL(urls[0] ?? '').origin)
    // Chromium limits the redirects of a fetch, but not its time.
    const call = (one: readonly [string, Readonly<Record<string, string>>]): Promise<unknown> =>
      page.evaluate(
        ([url, given]) =>
          fetch(url, { headers: given, signal: AbortSignal.timeout(10_000) })
            .then((answer) => answer.text())
            .catch(() => null),
        one,
      )
    for (const url of urls) await call([url, headers])
    await page.context().close()
  }
  try {
    await visit([...redirects, ...references])
    for (const urls of jars) await visit(urls)
    return `Chromium ${chrome.version()}`
  } finally {
    await chrome.close()
  }
}

export const redirectClients: Readonly<Record<string, Client>> = {
  curl: onArguments(
    'curl',
    (jar) => [
      '-sSL',
      '-o',
      '/dev/null',
      '-m',
      '10',
      '--max-redirs',
      '10',
      ...(jar === null ? [] : ['-b', jar, '-c', jar]),
    ],
    (name, value) => ['-H', `${name}: ${value}`],
  ),
  wget: onArguments(
    'wget',
    (jar) => [
      '-q',
      '-O',
      '/dev/null',
      '-T10',
      '-t1',
      '--max-redirect=10',
      ...(jar === null
        ? []
        : ['--load-cookies', jar, '--save-cookies', jar, '--keep-session-cookies']),
    ],
    (name, value) => ['--header', `${name}: ${value}`],
  ),
  requests: python('requests'),
  httpx: python('httpx'),
  aiohttp: python('aiohttp'),
  mechanize: python('mechanize'),
  urllib: python('urllib'),
  fetch: node('fetch'),
  got: node('got'),
  axios: node('axios'),
  'node-fetch': node('node-fetch'),
  superagent: node('superagent'),
  go: onInput('go', ['run', join(CLIENTS, 'go', 'redirects.go')]),
  java: java('java.net.http'),
  'java-url': java('HttpURLConnection'),
  ruby: onInput('ruby', [join(CLIENTS, 'redirects.rb')]),
  php: onInput('php', [join(CLIENTS, 'redirects.php')]),
  perl: onInput('perl', [join(CLIENTS, 'redirects.pl')]),
  chromium: browser,
}
