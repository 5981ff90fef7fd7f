import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fromRoot } from '../../core/system/root.ts'
import { freePort } from '../kit/free-port.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// Packs the product, installs the tarball into an empty prefix, and runs `agw` from there in an empty folder: help, version,
// doctor, and the whole gateway with a call through it. It installs packages, so it is no part of `npm test`:
//   node dist/test/witness/package.js
// The binary of re2 is copied from this checkout where it has one, since compiling it takes minutes.

const run = promisify(execFile)
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const began = performance.now()
const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`

const place = tempFolder('package')
const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', place], {
  cwd: fromRoot(),
  maxBuffer: 64 * 1024 ** 2,
})
const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as {
  filename: string
  size: number
  files: { path: string }[]
}[]
if (packed === undefined) throw new Error('npm has packed nothing')
const strange = packed.files.filter(({ path }) =>
  /(^|\/)(test|bench|\.ci|node_modules)\//.test(path),
)
if (strange.length > 0)
  throw new Error(`the tarball has ${strange.map(({ path }) => path).join(', ')}`)
say(
  `${packed.files.length} files, ${(packed.size / 1024 ** 2).toFixed(1)} MiB, no tests (${seconds()})`,
)

const prefix = join(place, 'prefix')
const flags = ['--ignore-scripts', '--no-audit', '--no-fund']
await run('npm', ['install', '-g', '--prefix', prefix, ...flags, join(place, packed.filename)])
const installed = join(prefix, 'lib', 'node_modules', 'agent-access-gateway')
const re2 = join('node_modules', 're2', 'build')
if (existsSync(fromRoot(re2))) cpSync(fromRoot(re2), join(installed, re2), { recursive: true })
say(`installed (${seconds()})`)

const agw = join(prefix, 'bin', 'agw')
const elsewhere = tempFolder('elsewhere')
const [proxy, api, echo] = await Promise.all([freePort(), freePort(), freePort()])
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ENVOY_BIN: process.env['ENVOY_BIN'],
  VALKEY_BIN: process.env['VALKEY_BIN'],
  AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'],
  AGW_PROXY_PORT: String(proxy),
  AGW_API_PORT: String(api),
  AGW_ECHO_PORT: String(echo),
  AGW_FORWARD_PORT: 'off',
}
for (const args of [['--version'], ['--help'], ['envoy-config', '--help']]) {
  const { stdout: text } = await run(agw, args, { cwd: elsewhere, env })
  say(`agw ${args.join(' ')}: ${text.split('\n')[0]}`)
}
const child = spawn(agw, ['start'], { cwd: elsewhere, env, stdio: ['ignore', 'pipe', 'pipe'] })
let log = ''
for (const output of [child.stdout, child.stderr])
  output.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
process.once('exit', () => child.kill('SIGTERM'))
const LIMIT_MS = 120_000
await until(
  'agw start is ready',
  async () => {
    if (child.exitCode !== null) throw new Error(`agw start ended with ${child.exitCode}:\n${log}`)
    const answer = await fetch(`http://127.0.0.1:${api}/readyz`).catch(() => null)
    return answer?.status === 200
  },
  LIMIT_MS,
)
say(`agw start is ready in ${elsewhere} (${seconds()})`)
const unknown = await fetch(`http://127.0.0.1:${proxy}/https://api.example.com/v1/models`)
const page = await fetch(`http://127.0.0.1:${api}/`)
const body = (await unknown.json()) as { error: string }
if (unknown.status !== 404 || body.error !== 'integration_not_found' || page.status !== 200)
  throw new Error(`${unknown.status} ${JSON.stringify(body)}, console ${page.status}`)
const parts = [...(await page.text()).matchAll(/(?:href|src)="(\/[^"]+)"/g)]
for (const [, path = ''] of parts) {
  const part = await fetch(`http://127.0.0.1:${api}${path}`, {
    headers: { 'accept-encoding': 'br' },
  })
  const size = (await part.arrayBuffer()).byteLength
  if (part.status !== 200 || part.headers.get('content-encoding') !== 'br' || size === 0)
    throw new Error(`${path}: ${part.status}, ${size} bytes`)
}
say(
  `a call is decided (${unknown.status} ${body.error}), the console and its ${parts.length} files are served`,
)
child.kill('SIGTERM')
const code = await ended
if (code !== 0) throw new Error(`agw start ended with ${code}:\n${log}`)
say(`stopped with 0 (${seconds()})`)
