import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fromRoot } from '../../core/root.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { type KeyHeader, ORDINARY_NAMES, startRedirectApis } from '../kit/start-redirect-apis.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Lets clients of several languages follow redirects and keep cookies through the gateway, and compares what arrived at
 * which API with `redirects.json`: no client may reach the other API. A client that is not on this machine is named and
 * skipped; its part of the record stays. httpx is installed into a virtual environment.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/redirects.js [--record] [client ...]
 */
const RECORD = fromRoot('test', 'witness', 'redirects.json')
const CLIENTS = fromRoot('test', 'witness', 'clients')
const FOLDER = process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness')
const HTTPX = 'httpx==0.28.1'
const run = promisify(execFile)

interface Order {
  readonly headers: Readonly<Record<string, string>>
  readonly redirects: readonly string[]
  readonly cookies: readonly string[]
}

/** Runs a client on an order and returns its version. */
type Client = (order: Order) => Promise<string>

const onInput =
  (
    command: string,
    args: readonly string[],
    inputOf: (order: Order) => string = JSON.stringify,
  ): Client =>
  (order) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      child.once('error', reject)
      child.once('exit', (code) =>
        code === 0 ? resolve(text.trim()) : reject(new Error(`${command} ended with ${code}`)),
      )
      child.stdin.end(inputOf(order))
    })

const curl: Client = async ({ headers, redirects, cookies }) => {
  const { stdout } = await run('curl', ['--version'])
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const get = (url: string, more: readonly string[]): Promise<unknown> =>
    run('curl', ['-sSL', '-o', '/dev/null', '-m', '10', ...given, ...more, url]).catch(() => null)
  for (const url of redirects) await get(url, [])
  const jar = join(tempFolder('curl'), 'jar')
  for (const url of cookies) await get(url, ['-b', jar, '-c', jar])
  return stdout.split(' ', 2).join(' ')
}

const httpx: Client = async (order) => {
  const environment = join(FOLDER, 'httpx')
  const python = join(environment, 'bin', 'python')
  if (!existsSync(python)) {
    await run('python3', ['-m', 'venv', environment])
    await run(python, ['-m', 'pip', 'install', '-q', HTTPX])
  }
  return await onInput(python, [join(CLIENTS, 'redirects.py'), 'httpx'])(order)
}

const javaLines = ({ headers, redirects, cookies }: Order): string =>
  [
    ...Object.entries(headers).map(([name, value]) => `header\t${name}\t${value}`),
    ...redirects.map((url) => `redirect\t${url}`),
    ...cookies.map((url) => `cookie\t${url}`),
  ].join('\n')

const clients: Readonly<Record<string, Client>> = {
  curl,
  requests: onInput('python3', [join(CLIENTS, 'redirects.py'), 'requests']),
  httpx,
  urllib: onInput('python3', [join(CLIENTS, 'redirects.py'), 'urllib']),
  go: onInput('go', ['run', join(CLIENTS, 'go', 'redirects.go')]),
  java: onInput('java', [join(CLIENTS, 'Redirects.java')], javaLines),
}

interface ThirdParty {
  readonly got_key: boolean
  /** With the key: clients that keep it from other hosts may send it again to the first. */
  readonly reached_other_api: boolean
}

interface Seen {
  readonly version: string
  /** Cases of which a call arrived at the other API; none may. */
  readonly reached: Readonly<Record<KeyHeader, readonly string[]>>
  /** Ordinary redirects that did not arrive. */
  readonly missed: Readonly<Record<KeyHeader, readonly string[]>>
  /** What came of a redirect to another host that redirects back: what it got, and what was reached. */
  readonly third_party: Readonly<Record<KeyHeader, ThirdParty>>
  /** The cookies that came with a call to the API that set them, below a folder of it, and to the other API. */
  readonly cookies: Readonly<Record<'inside' | 'deep' | 'other', string>>
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const known = JSON.parse(readFileSync(RECORD, 'utf8')) as Record<string, Seen>
const seen: Record<string, Seen> = { ...known }
const fleet = await startFleet()
try {
  for (const [name, client] of Object.entries(clients)) {
    if (words.length > 0 && !words.includes(name)) continue
    const one = await observe(client).catch((error: unknown) => String(error))
    if (typeof one === 'string') {
      console.log(`${name.padEnd(10)} is not on this machine: ${one}`)
      continue
    }
    const { version, reached, missed, third_party, cookies } = one
    const count = reached.authorization.length + reached['x-api-key'].length
    console.log(`${name.padEnd(10)} reached the other API in ${count} cases (${version})`, {
      missed,
      third_party,
      cookies,
    })
    if (count > 0) process.exitCode = 1
    seen[name] = one
  }
} finally {
  await fleet.stop()
}
if (process.argv.includes('--record')) writeFileSync(RECORD, `${JSON.stringify(seen, null, 2)}\n`)
else
  for (const [name, one] of Object.entries(seen))
    if (
      JSON.stringify({ ...one, version: '' }) !== JSON.stringify({ ...known[name], version: '' })
    ) {
      console.log(`${name} differs from the record`)
      process.exitCode = 1
    }

async function observe(client: Client): Promise<Seen> {
  const gateway = fleet.envoys[0]?.url ?? ''
  const one = async (keyHeader: KeyHeader) => {
    const apis = await startRedirectApis(fleet.operator, gateway, keyHeader)
    const { login, inside, deep, other } = apis.urls
    try {
      const version = await client({
        headers: apis.headers,
        redirects: [...apis.cases.map(({ url }) => url), apis.third_party.url],
        cookies: [login, inside, deep, other],
      })
      const arrived = apis.arrived()
      const cookies = {
        inside: apis.cookiesAt('/inside').join(),
        deep: apis.cookiesAt('/deep/x').join(),
        other: apis.cookiesAt('/other').join(),
      }
      const missed = ORDINARY_NAMES.filter((name) => !arrived.includes(name))
      const third_party: ThirdParty = {
        got_key: apis.third_party.seen().with_key > 0,
        reached_other_api: apis.third_party.reached(),
      }
      return { version, reached: apis.reached(), missed, third_party, cookies }
    } finally {
      await apis.stop()
    }
  }
  const [bearer, header] = [await one('authorization'), await one('x-api-key')]
  return {
    version: bearer.version,
    reached: { authorization: bearer.reached, 'x-api-key': header.reached },
    missed: { authorization: bearer.missed, 'x-api-key': header.missed },
    third_party: { authorization: bearer.third_party, 'x-api-key': header.third_party },
    cookies: bearer.cookies,
  }
}
