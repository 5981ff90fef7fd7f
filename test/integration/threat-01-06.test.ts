import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { lstatSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { Client, credentials } from '@grpc/grpc-js'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { fromRoot } from '../../core/system/root.ts'
import { logEntries } from '../kit/log-entries.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { freePort } from '../kit/free-port.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { type Access, STORED_CREDENTIAL } from '../kit/operator.ts'
import { rewriteRecord } from '../kit/rewrite-record.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

const run = promisify(execFile)
const stack = await sharedStack()
const { operator } = stack
const ORGANIZATION = 'org_default'

test('threat 1: every socket and every secret file is for its owner alone', () => {
  const folders = [stack.dataDir, join(stack.dataDir, 'run')]
  for (const folder of folders) assert.equal(lstatSync(folder).mode & 0o777, 0o700, folder)
  const sockets: string[] = []
  for (const folder of folders) {
    for (const entry of readdirSync(folder)) {
      const file = join(folder, entry)
      const found = lstatSync(file)
      if (found.isDirectory()) continue
      assert.equal(found.mode & 0o077, 0, `${entry} is open to others`)
      if (found.isSocket()) sockets.push(entry)
    }
  }
  for (const name of ['ext-proc', 'envoy-admin', 'valkey', 'admin'])
    assert.ok(
      sockets.some((socket) => socket.startsWith(name)),
      `no socket of ${name}`,
    )
})

test('threat 1: no command line holds a secret', async () => {
  const { stdout } = await run('ps', ['-A', '-o', 'args='], { maxBuffer: 1 << 26 })
  const key = readFileSync(join(stack.dataDir, 'encryption-key'), 'utf8').trim()
  for (const secret of [stack.verdictSecret, stack.adminToken, key])
    assert.ok(secret.length >= 32 && !stdout.includes(secret))
})

/** ext-proc on its own, in an environment of the test's. */
function startExtProc(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [fromRoot('dist', 'ext-proc', 'main.js')], {
    env: {
      PATH: process.env['PATH'],
      REDIS_URL: stack.redisUrl,
      AGW_ENCRYPTION_KEY: readFileSync(join(stack.dataDir, 'encryption-key'), 'utf8').trim(),
      AGW_VERDICT_SECRET: 'a-verdict-secret-of-this-test',
      AGW_EDGE_ID: 'threat-1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  process.once('exit', () => child.kill('SIGKILL'))
  return { child, exited, log: () => log }
}

test('threat 1: ext-proc on a TCP port refuses to start without mutual TLS', async () => {
  const { exited, log } = startExtProc({ AGW_EXT_PROC_ADDRESS: `127.0.0.1:${await freePort()}` })
  assert.notEqual(await exited, 0)
  assert.match(log(), /AGW_EXT_PROC_TLS_CERT_FILE/)
})

test('threat 1: over TCP only clients with a certificate of the CA are accepted', async () => {
  const [ours, theirs] = await Promise.all([
    makeCertificates(['127.0.0.1']),
    makeCertificates(['127.0.0.1']),
  ])
  const address = `127.0.0.1:${await freePort()}`
  const { child, exited, log } = startExtProc({
    AGW_EXT_PROC_ADDRESS: address,
    AGW_EXT_PROC_TLS_CERT_FILE: ours.cert_file,
    AGW_EXT_PROC_TLS_KEY_FILE: ours.key_file,
    AGW_EXT_PROC_TLS_CA_FILE: ours.ca_file,
  })
  await until('ext-proc serves', () => log().includes('"serving"'))
  const ca = Buffer.from(ours.ca)
  const pair = (of: typeof ours) =>
    credentials.createSsl(ca, Buffer.from(of.key), Buffer.from(of.cert))
  assert.equal(await isHeard(address, pair(ours)), true)
  assert.equal(await isHeard(address, pair(theirs)), false)
  assert.equal(await isHeard(address, credentials.createSsl(ca)), false)
  assert.equal(await isHeard(address, credentials.createInsecure()), false)
  child.kill('SIGTERM')
  await exited
})

/** Whether a stream that is opened and closed at once comes back with OK. */
function isHeard(address: string, as: ReturnType<typeof credentials.createInsecure>) {
  return new Promise<boolean>((resolve) => {
    const client = new Client(address, as)
    const same = (bytes: Buffer): Buffer => bytes
    const stream = client.makeBidiStreamRequest(
      '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
      same,
      same,
      { deadline: Date.now() + 30_000 },
    )
    stream.on('data', () => {})
    stream.on('error', () => {})
    stream.on('status', ({ code }) => {
      client.close()
      resolve(code === 0)
    })
    stream.end()
  })
}

test('threat 2: the verdict secret is new with every boot and shown on no port', async () => {
  assert.match(stack.verdictSecret, /^[0-9a-f]{64}$/)
  const config = await stack.envoyAdmin('/config_dump')
  assert.ok(config.includes(stack.verdictSecret), 'the admin socket would show it')
  for (const url of [stack.proxyUrl, stack.apiUrl]) {
    for (const path of ['/config_dump', '/stats', '/clusters', '/metrics', '/openapi.json']) {
      const text = await (await fetch(url + path)).text()
      assert.ok(!text.includes(stack.verdictSecret), `${url}${path}`)
    }
  }
})

test('threat 2: knowing the verdict secret does not open a route', async () => {
  const base = new URL(stack.ownBaseUrl('http'))
  const verdict = { 'x-agw-pass': stack.verdictSecret, 'x-agw-up': 'http', 'x-agw-host': base.host }
  const sent = stack.api.mark()
  for (const path of ['/', '/x', `/${base.href}/x`, '/admin', '/admin/agents', '/admin/../x']) {
    for (const http_version of ['1.1', '2'] as const) {
      const answer = await call({ to: stack.proxyUrl, path, headers: verdict, http_version })
      assert.ok(answer.status >= 400, `${path} answered ${answer.status}`)
    }
  }
  assert.equal(sent().length, 0)
})

test('threat 3: an allowed call whose target path begins with /admin/ reaches the upstream, never the admin service', async () => {
  const access = await operator.makeAccess(`${stack.origin('other')}/admin/api/2024-01`)
  const sent = stack.api.mark()
  const answer = await stack.callAs(access, '/agents', { method: 'POST', body: '{}' })
  assert.equal(answer.status, 200)
  assert.deepEqual(
    sent().map(({ path }) => path),
    ['/admin/api/2024-01/agents'],
  )
  assert.equal(sent()[0]?.header('authorization'), `Bearer ${STORED_CREDENTIAL}`)
})

test('threat 4: a new origin needs the credential again', async () => {
  const { integration } = await stack.makeAccess()
  const path = `/admin/integrations/${integration.integration_id}`
  for (const base_url of [
    stack.origin('other'),
    integration.base_url.replace('https:', 'http:'),
    integration.base_url.replace(/:\d+\//, ':1/'),
  ])
    await operator.send('PUT', path, { base_url }, 400)
  assert.equal((await operator.send('GET', path)).base_url, integration.base_url)
  await operator.send('PUT', path, { base_url: `${integration.base_url}/v2` })
})

const stored = () => REDIS_KEYS.integrations(ORGANIZATION)

/** A credential that does not open would remain encrypted with its key when another file rotates the keys of the stack. */
const removeAfterwards = (t: TestContext, { integration }: Access): void =>
  t.after(() =>
    operator.send('DELETE', `/admin/integrations/${integration.integration_id}?cascade=true`),
  )

test('threat 4: a sealed credential that is moved to another integration does not open', async (t) => {
  const [from, to] = [
    await stack.makeAccess({ auth: { type: 'bearer', token: 'precious' } }),
    await operator.makeAccess(`${stack.origin('other')}/moved`),
  ]
  removeAfterwards(t, to)
  let auth: unknown
  await rewriteRecord(stack.redisUrl, stored(), from.integration.integration_id, (record) => {
    auth = record.auth
    return record
  })
  await rewriteRecord(stack.redisUrl, stored(), to.integration.integration_id, (record) => ({
    ...record,
    auth,
  }))
  await operator.makeIntegration(stack.ownBaseUrl()) // the edges read the organization's integrations again
  const sent = stack.api.mark()
  const answer = await stack.callAs(to, '/x')
  assertRefusal(answer, 502, 'credential_unavailable')
  assert.equal(sent().length, 0)
})

test('threat 4: a base URL that is changed in the store takes no credential along', async (t) => {
  const access = await stack.makeAccess()
  removeAfterwards(t, access)
  const base_url = `${stack.origin('other')}/stolen`
  await rewriteRecord(stack.redisUrl, stored(), access.integration.integration_id, (record) => ({
    ...record,
    base_url,
  }))
  await operator.makeIntegration(stack.ownBaseUrl())
  const sent = stack.api.mark()
  const answer = await call({ to: stack.proxyUrl, path: `/${base_url}/x`, headers: access.headers })
  assertRefusal(answer, 502, 'credential_unavailable')
  assert.equal(sent().length, 0)
})

test('threat 4: host and port are the integration’s, however the caller spells them', async () => {
  const access = await operator.makeAccess(stack.ownBaseUrl('http'))
  const { host, hostname, port, pathname } = new URL(access.base_url)
  const sent = stack.api.mark()
  for (const target of [`HTTP://${hostname.toUpperCase()}.:${port}`, `http:/${host}`]) {
    const answer = await call({
      to: stack.proxyUrl,
      path: `/${target}${pathname}/x`,
      headers: { ...access.headers, host: 'evil.test', 'x-forwarded-host': 'evil.test' },
    })
    assert.equal(answer.status, 200, target)
  }
  assert.deepEqual(
    sent().map((one) => one.host),
    [host, host],
  )
})

test('threat 5: a key of the organization is for the proxy alone unless said otherwise, and a kill names those still in use', async () => {
  const key = await operator.makeOrganizationKey()
  const read = await operator.send('GET', `/admin/keys/${key.key_id}`)
  assert.deepEqual(read.uses, ['proxy'])
  const access = await stack.makeAccess()
  const answer = await call({
    to: stack.proxyUrl,
    path: `/${access.base_url}/x`,
    headers: { authorization: `Bearer ${key.key}`, 'x-agw-agent-id': access.agent.agent_id },
  })
  assert.equal(answer.status, 200)
  // Uses are written in batches.
  await until('the use of the key is known', async () => {
    const { last_used_at } = await operator.send('GET', `/admin/keys/${key.key_id}`)
    return last_used_at !== null
  })
  const path = `/admin/agents/${access.agent.agent_id}/kill`
  const receipt = await operator.send('POST', path, { reason: 'test' })
  assert.deepEqual(receipt.still_usable_keys, [key.key_id])
})

test('threat 6: a cookie opens nothing at the proxy, in neither direction', async () => {
  for (const cookie of [
    `agw_session=${stack.adminToken}`,
    `__Host-agw_session=${stack.adminToken}`,
  ]) {
    const answer = await call({ to: stack.proxyUrl, path: '/admin/agents', headers: { cookie } })
    assert.equal(answer.status, 401)
    assert.equal(answer.header('set-cookie'), undefined)
  }
})

test('threat 6: the session of the dashboard, which a browser sends to every port of the host, reaches no API', async () => {
  const access = await stack.makeAccess()
  const owner = await stack.makeAccess({
    auth: { type: 'header', name: 'Cookie', value: STORED_CREDENTIAL },
  })
  const session = `agw_session=${'s'.repeat(43)}`
  const rows = [
    [access, [`a=1; ${session}; b=2`], 'a=1; b=2'],
    [access, ['a=1', `__Host-${session}`, 'b=2'], 'a=1; b=2'],
    [access, [session], undefined],
    [owner, [`a=1; ${session}`], STORED_CREDENTIAL],
  ] as const
  for (const [{ base_url, headers }, cookies, expected] of rows)
    for (const http_version of ['1.1', '2'] as const) {
      const sent = stack.api.mark()
      const lines = cookies.map((value) => ['cookie', value] as const)
      const answer = await call({
        to: stack.proxyUrl,
        path: `/${base_url}/x`,
        http_version,
        headers: [['authorization', headers.authorization], ...lines],
      })
      assert.equal(answer.status, 200)
      const [received] = sent()
      assert.equal(received?.header('cookie'), expected)
      assert.equal(JSON.stringify(received?.headers).includes('agw_session'), false)
    }
})

test('threat 6: an address that a caller claims is not believed', async () => {
  const name = `claims an address ${Date.now()}`
  const claimed = '203.0.113.77'
  const access = await stack.makeAccess()
  const answer = await call({
    to: stack.proxyUrl,
    path: '/admin/agents',
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.adminToken}`,
      'content-type': 'application/json',
      'x-forwarded-for': claimed,
      'x-real-ip': claimed,
      forwarded: `for=${claimed}`,
      'x-envoy-external-address': claimed,
    },
    body: JSON.stringify({ agent_name: name }),
  })
  assert.equal(answer.status, 201)
  await stack.callAs(access, '/x', {
    headers: { 'x-forwarded-for': claimed, 'x-envoy-external-address': claimed },
  })
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  after(() => redis.disconnect())
  const entries = async (): Promise<string[]> =>
    (await logEntries(redis, ORGANIZATION)).map((entry) => JSON.stringify(entry))
  const log = await until('both are in the log', async () => {
    const all = await entries()
    const called = all.some(
      (text) => text.includes(access.agent.agent_id) && text.includes('request_allowed'),
    )
    return called && all.some((text) => text.includes(name)) ? all : null
  })
  assert.ok(log.every((text) => !text.includes(claimed)))
})
