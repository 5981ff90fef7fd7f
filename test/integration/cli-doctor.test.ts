import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { probeProxy } from '../../admin/status/probe-proxy.ts'
import { watchProxy } from '../../admin/status/watch-proxy.ts'
import { checkCertificates } from '../../cli/doctor/check-machine.ts'
import type { CheckResult } from '../../cli/doctor/check-result.ts'
import { runDoctor } from '../../cli/commands/doctor.ts'
import type { AdminOptions } from '../../cli/deployment/admin-access.ts'
import { issueProbePass, PROBE_HEADER } from '../../core/control/probe-pass.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { type Environment, readSettings } from '../../core/settings/settings.ts'
import { version } from '../../core/system/version.ts'
import { adminInProcess } from '../kit/admin-in-process.ts'
import { call } from '../kit/call.ts'
import { freePort } from '../kit/free-port.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import { startTestEdge, type TestEdge } from '../kit/test-edge.ts'

const BINARIES = ['ENVOY_BIN', 'VALKEY_BIN', 'AGW_CACHE_DIR', 'PATH', 'HOME']

const stack = await sharedStack()

/** Of a machine on which nothing was ever started. */
const nowhere = (proxyPort: number, apiPort: number): Environment => ({
  ...Object.fromEntries(BINARIES.map((name) => [name, process.env[name]])),
  AGW_DATA_DIR: join(tempFolder('doctor'), 'data'),
  AGW_PROXY_PORT: String(proxyPort),
  AGW_API_PORT: String(apiPort),
  AGW_FORWARD_PORT: 'off',
})
const aNewMachine = async (more: Environment = {}): Promise<Environment> => ({
  ...nowhere(await freePort(), await freePort()),
  ...more,
})

/** Of a machine on which the shared stack runs. */
const here: Environment = {
  ...nowhere(Number(new URL(stack.proxyUrl).port), Number(new URL(stack.apiUrl).port)),
  AGW_DATA_DIR: stack.dataDir,
  AGW_FORWARD_PORT: String(stack.forwardPort),
}

async function printed(options: AdminOptions, env: Environment) {
  let text = ''
  const out = new Writable({
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString()
      done()
    },
  })
  const code = await runDoctor(options, env, out)
  return { code, text }
}

async function doctor(options: AdminOptions, env: Environment) {
  const { code, text } = await printed({ output: 'json', ...options }, env)
  const { checks } = JSON.parse(text) as { checks: readonly CheckResult[] }
  const of = (check: string): CheckResult[] => checks.filter((finding) => finding.check === check)
  const failures = checks.filter(({ state }) => state === 'failed')
  return { code, checks, of, failures }
}

test('on the machine of a gateway that runs, every point is looked at and none has failed', async () => {
  const agent = await stack.operator.makeAgent()
  await stack.operator.send('POST', `/admin/agents/${agent.agent_id}/kill`)
  const { code, checks, of, failures } = await doctor({}, here)
  assert.deepEqual(failures, [])
  assert.equal(code, 0)
  for (const check of [
    'node',
    'settings',
    'data directory',
    'disk',
    'archive',
    'envoy',
    'valkey',
    'store',
  ])
    assert.equal(of(check)[0]?.state, 'ok', check)
  for (const check of ['clock', 'admin', 'ready: redis', 'ready: edges', 'ready: proxy'])
    assert.equal(of(check)[0]?.state, 'ok', check)
  assert.match(of('proxy port')[0]?.says ?? '', /is used by this gateway$/)
  assert.match(of('admin port')[0]?.says ?? '', /is used by this gateway$/)
  assert.match(of('forward port')[0]?.says ?? '', /is used by this gateway$/)
  assert.match(of('token')[0]?.says ?? '', /^admin@localhost, role admin, org_default$/)
  assert.equal(of('versions')[0]?.says, `all ${version}`)
  assert.match(of('last kill')[0]?.says ?? '', /in force everywhere after [\d.]+ ms$/)
  assert.ok(
    checks.some(({ check, says }) => check.startsWith('edge ') && says.startsWith('local, ')),
  )
  assert.equal(of('webhooks').length, 1)
})

/** Refused calls of no organization, as the security page counts them. */
async function unknownCalls(): Promise<number> {
  const { data } = await stack.operator.send('GET', '/admin/activity/unknown-calls')
  return data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
}

test('probes of the gateway and of the doctor are not counted, and a caller that sends what they send is', async () => {
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  try {
    const before = await unknownCalls()
    const { hostname: proxyHost, port } = new URL(stack.proxyUrl)
    const place = { proxyHost, proxyPort: Number(port), tlsCertFile: null, proxyProbeUrl: null }
    for (let i = 0; i < 20; i++) {
      const probes = Array.from({ length: 10 }, () => probeProxy(place, redis))
      assert.deepEqual(new Set(await Promise.all(probes)), new Set([null]))
    }
    assert.equal((await fetch(`${stack.apiUrl}/readyz`)).status, 200)
    const { of } = await doctor({}, here)
    for (const port of ['proxy port', 'forward port'])
      assert.match(of(port)[0]?.says ?? '', /used by this gateway/)
    assert.equal(await unknownCalls(), before)

    const ask = (secret: string) =>
      call({ to: stack.proxyUrl, path: '/', headers: { [PROBE_HEADER]: secret } })
    const used = (await issueProbePass(redis)) ?? ''
    const secrets = [used, used, 'f'.repeat(64), '1', '', `${used}, ${used}`, '*']
    const answers = await Promise.all(secrets.map((secret) => ask(secret)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([400]))
    assert.equal(await unknownCalls(), before + secrets.length - 1, 'all but the first')
  } finally {
    redis.disconnect()
  }
})

test('with the URL of a listener of somebody else, its port is not looked at', async () => {
  const { code, of } = await doctor(
    {},
    { ...here, AGW_PROXY_PROBE_URL: `${stack.proxyUrl}/https:/` },
  )
  assert.equal(code, 0)
  assert.deepEqual(of('proxy port'), [])
  const wrong = await doctor({}, await aNewMachine({ AGW_PROXY_PROBE_URL: 'agents.example.com' }))
  assert.match(wrong.of('settings')[0]?.says ?? '', /AGW_PROXY_PROBE_URL is not http/)
})

test('a deployment elsewhere is looked at by its URL, also through its proxy, and with any role', async () => {
  const { token } = await stack.operator.send('POST', '/admin/tokens', {
    email: 'viewer@example.com',
    role: 'viewer',
    name: 'doctor',
  })
  const direct = await doctor({ url: stack.apiUrl, token }, {})
  assert.deepEqual(direct.failures, [])
  assert.match(direct.of('token')[0]?.says ?? '', /^viewer@example.com, role viewer/)
  assert.equal(direct.of('data directory').length, 0)
  const proxied = await doctor({ url: stack.proxyUrl, token }, {})
  assert.deepEqual(proxied.failures, [])
  assert.match(proxied.of('admin')[0]?.says ?? '', /through the proxy/)
  assert.equal(proxied.of('webhooks')[0]?.state, 'warning')
})

test('a deployment that only AGW_URL names is said to be all that was checked', async () => {
  const only = /^Only the deployment that AGW_URL names was checked, not this machine\./m
  const token = stack.adminToken
  assert.match((await printed({ token }, { AGW_URL: stack.apiUrl })).text, only)
  assert.doesNotMatch((await printed({ url: stack.apiUrl, token }, {})).text, only)
  assert.doesNotMatch((await printed({ token }, here)).text, only)
})

test('a machine on which nothing runs is said to be one, and is no failure', async () => {
  const { code, of, failures } = await doctor({}, await aNewMachine())
  assert.deepEqual([code, failures], [0, []])
  assert.match(of('gateway')[0]?.says ?? '', /^not running on this machine/)
  assert.match(of('data directory')[0]?.says ?? '', /does not exist yet/)
  assert.match(of('proxy port')[0]?.says ?? '', /is free$/)
})

/** A data directory as a first start leaves it, with one thing changed. */
function dataDirWith(change: (folder: string) => void): Environment {
  const folder = tempFolder('doctor')
  mkdirSync(join(folder, 'valkey'))
  for (const name of ['admin-token', 'encryption-key', 'valkey/aof'])
    writeFileSync(join(folder, name), 'x', { mode: 0o600 })
  change(folder)
  return { AGW_DATA_DIR: folder }
}

const faulty: readonly [what: string, env: () => Environment, check: string, says: RegExp][] = [
  [
    'a folder that others may enter',
    () => dataDirWith((folder) => chmodSync(folder, 0o755)),
    'data directory',
    /^other users can read/,
  ],
  [
    'a key that others may read',
    () => dataDirWith((folder) => chmodSync(join(folder, 'encryption-key'), 0o640)),
    'data directory',
    /^other users can read .*encryption-key/,
  ],
  [
    'an empty token',
    () => dataDirWith((folder) => writeFileSync(join(folder, 'admin-token'), '')),
    'data directory',
    /admin-token is empty/,
  ],
  [
    'a setting that cannot be read',
    () => ({ AGW_KILL_LEASE_MS: 'x' }),
    'settings',
    /^AGW_KILL_LEASE_MS is not/,
  ],
  [
    'a program that is no Envoy',
    () => ({ ENVOY_BIN: process.execPath }),
    'envoy',
    /Envoy 1\.39 or 1\.40 is required/,
  ],
  [
    'a store that does not answer',
    () => ({ REDIS_URL: 'redis://127.0.0.1:1' }),
    'store',
    /ECONNREFUSED/,
  ],
]
for (const [what, env, check, says] of faulty)
  test(`the doctor finds ${what}, and says what to do`, async () => {
    const { code, failures } = await doctor({}, await aNewMachine(env()))
    assert.equal(code, 1)
    assert.deepEqual(
      failures.map((finding) => finding.check),
      [check],
    )
    assert.match(failures[0]?.says ?? '', says)
    assert.ok(failures[0]?.advice)
  })

test('a port used by another program is distinguished from one used by the gateway', async (t) => {
  const other = createServer((_, answer) => answer.end('hello'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    other.closeAllConnections()
    other.close()
  })
  const port = String((other.address() as AddressInfo).port)
  for (const [setting, check] of [
    ['AGW_PROXY_PORT', 'proxy port'],
    ['AGW_FORWARD_PORT', 'forward port'],
  ] as const) {
    const { failures } = await doctor({}, await aNewMachine({ [setting]: port }))
    assert.deepEqual(
      failures.map((failure) => [failure.check, failure.says]),
      [[check, `127.0.0.1:${port} is not available: the port is in use`]],
    )
  }
})

test('a proxy that answers no probe is an alert until it answers again', async (t) => {
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'commands' })
  let reason = 'agent_killed'
  const proxy = createServer((_, answer) => answer.writeHead(400, { 'x-agw-reason': reason }).end())
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const settings = {
    proxyHost: '127.0.0.1',
    proxyPort: (proxy.address() as AddressInfo).port,
    tlsCertFile: null,
    proxyProbeUrl: null,
  }
  const log = { error: () => undefined, warn: () => undefined }
  const parts = { redis, settings, organization_id: 'org_default', log, interval_ms: 5 }
  const stop = watchProxy(parts)
  t.after(async () => {
    await stop()
    redis.disconnect()
    proxy.close()
  })
  const alerts = async (status: string): Promise<any[]> => {
    const { data } = await stack.operator.send('GET', `/admin/alerts?status=${status}`)
    return data.filter(({ kind }: { kind: string }) => kind === 'proxy_unanswered')
  }
  const [alert] = await until('the alert', async () => {
    const found = await alerts('open')
    return found.length > 0 ? found : null
  })
  assert.equal(alert.severity, 'critical')
  assert.match(alert.title, /the proxy responded with 400 agent_killed/)
  reason = 'invalid_target_url'
  await until('it is resolved', async () => (await alerts('resolved')).length === 1)
})

test('an admin service without edges, or with older ones, is found, and so is a wrong token', async (t) => {
  const valkey = await startValkey()
  const admin = await adminInProcess(valkey.url)
  let edge: TestEdge | null = null
  t.after(async () => {
    await edge?.stop()
    await admin.stop()
    await valkey.stop()
  })
  const url = `http://127.0.0.1:${admin.port}`
  const none = await doctor({ url, token: admin.token }, {})
  assert.equal(none.of('edge')[0]?.says, 'none is running')
  assert.equal(none.of('ready: edges')[0]?.state, 'failed')
  edge = await startTestEdge(valkey.url, 'old')
  const old = await doctor({ url, token: admin.token }, {})
  assert.match(old.of('edge old')[0]?.says ?? '', /^test, 0 calls in flight/)
  assert.match(old.of('versions')[0]?.says ?? '', /edge old unknown/)
  const wrong = await doctor({ url, token: `${admin.token}x` }, {})
  assert.equal(wrong.of('token')[0]?.state, 'failed')
})

test('a store that evicts is found', async (t) => {
  const store = await startValkey(['--maxmemory-policy', 'allkeys-lru'])
  t.after(() => store.stop())
  const { failures } = await doctor({}, await aNewMachine({ REDIS_URL: store.url }))
  assert.deepEqual(
    failures.map(({ check }) => check),
    ['store'],
  )
  assert.match(failures[0]?.says ?? '', /^The store evicts keys/)
})

test('a certificate is reported three weeks before it expires, and fails after it has', async () => {
  const { cert_file, key_file, ca_file } = await makeCertificates(['gateway.example.com'])
  const read = readSettings({ AGW_TLS_CERT_FILE: cert_file, AGW_TLS_KEY_FILE: key_file })
  assert.ok(read.ok)
  const at = (days: number): string | undefined =>
    checkCertificates(read.settings, new Date(Date.now() + days * 24 * 3600 * 1000))[0]?.state
  assert.deepEqual([at(-30), at(0), at(3)], ['ok', 'warning', 'failed'])
  const noCertificate = { ...read.settings, tlsCertFile: key_file, extProcTlsCaFile: ca_file }
  assert.deepEqual(
    checkCertificates(noCertificate, new Date()).map(({ state }) => state),
    ['failed', 'warning'],
  )
})
