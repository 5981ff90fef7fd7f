import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, createServer as createTcp } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { after, test } from 'node:test'
import { runKeysRotate } from '../../cli/commands/keys-rotate.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import type { Access } from '../kit/operator.ts'
import { runCommand } from '../kit/run-command.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { TEST_UPSTREAM_HOSTS } from '../kit/test-upstream.ts'
import { findLeaks } from '../kit/find-leaks.ts'
import { until } from '../kit/until.ts'

// How Envoy connects to an API: time-outs, retries, a private CA and a client certificate.

const stack = await sharedStack()
const TEST_HOST = TEST_UPSTREAM_HOSTS.plain
const { operator } = stack

const read = (file: string): string => readFileSync(file, 'utf8')

/** A CA that only one API uses, and clients of it. */
const own = await makeCertificates([TEST_HOST])
const [client, nextClient, stranger] = await Promise.all([
  issueCertificate(own, ['client-1.test']),
  issueCertificate(own, ['client-2.test']),
  makeCertificates(['stranger.test']),
])
const pairOf = ({ cert_file, key_file }: { cert_file: string; key_file: string }) => ({
  client_certificate: read(cert_file),
  client_key: read(key_file),
})
const ca_certificates = read(own.ca_file)

/** Paths with the name in the client's certificate, or none. */
const arrived: string[] = []
const nameOf = (socket: TLSSocket): string => {
  const { subjectaltname } = socket.getPeerCertificate()
  return subjectaltname?.replace('DNS:', '') ?? 'none'
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `https://${TEST_HOST}:${(server.address() as AddressInfo).port}`
}

const options = { cert: own.cert, key: own.key, ca: own.ca, requestCert: true }
const answerWithName: Parameters<typeof createServer>[1] = (request, response) => {
  const name = nameOf(request.socket as TLSSocket)
  arrived.push(`${request.url} ${name}`)
  response.end(name)
}
/** Requires a client certificate of its CA, and another that takes any caller and says who it was. */
const strict = await listen(createServer(options, answerWithName))
const lenient = await listen(
  createServer({ ...options, rejectUnauthorized: false }, answerWithName),
)

let number = 0
const accessTo = (origin: string, upstream?: object): Promise<Access> =>
  operator.makeAccess(`${origin}/u${++number}`, {
    integration: upstream === undefined ? {} : { upstream },
  })
const send = async (access: Access, path = '/ok', method = 'GET') => {
  const before = arrived.length
  const to = `/${access.base_url}${path}`
  const answer = await call({ to: stack.proxyUrl, path: to, method, headers: access.headers })
  return { answer, arrivals: arrived.slice(before) }
}

test('an API with a certificate of a private CA is called only where the integration has that CA', async () => {
  const without = await send(await accessTo(lenient))
  assertRefusal(without.answer, 502, 'upstream_unreachable')
  assert.deepEqual(without.arrivals, [])
  const other = await send(await accessTo(lenient, { ca_certificates: stranger.ca }))
  assertRefusal(other.answer, 502, 'upstream_unreachable')
  assert.deepEqual(other.arrivals, [])
  const { answer } = await send(await accessTo(lenient, { ca_certificates }))
  assert.deepEqual([answer.status, answer.body.toString()], [200, 'none'])
})

test('only its own CA is trusted, not that of all other APIs', async () => {
  const usual = stack.origin('plain')
  const { answer, arrivals } = await send(await accessTo(usual, { ca_certificates }))
  assertRefusal(answer, 502, 'upstream_unreachable')
  assert.deepEqual(arrivals, [])
  const withUsual = await send(await accessTo(usual, { connect_timeout_ms: 5_000 }))
  assert.equal(withUsual.answer.status, 200)
})

test('an API that requires a client certificate gets that of its integration', async () => {
  const none = await send(await accessTo(strict, { ca_certificates }))
  assert.ok(none.answer.status === 502, String(none.answer.status))
  const wrong = await send(await accessTo(strict, { ca_certificates, ...pairOf(stranger) }))
  assert.ok(wrong.answer.status === 502, String(wrong.answer.status))
  assert.deepEqual([...none.arrivals, ...wrong.arrivals], [])
  const { answer } = await send(await accessTo(strict, { ca_certificates, ...pairOf(client) }))
  assert.deepEqual([answer.status, answer.body.toString()], [200, 'client-1.test'])
})

test('a client certificate is presented by calls of its integration alone, on the same host too', async () => {
  const first = await accessTo(lenient, { ca_certificates, ...pairOf(client) })
  const second = await accessTo(lenient, { ca_certificates, ...pairOf(nextClient) })
  const without = await accessTo(lenient, { ca_certificates })
  const names = []
  for (const access of [first, second, without, first, without, second])
    names.push((await send(access)).answer.body.toString())
  assert.deepEqual(names, [
    'client-1.test',
    'client-2.test',
    'none',
    'client-1.test',
    'none',
    'client-2.test',
  ])
})

test('a change of the certificate is in force when it is answered', async () => {
  const access = await accessTo(lenient, { ca_certificates, ...pairOf(client) })
  const path = `/admin/integrations/${access.integration.integration_id}`
  const names = [(await send(access)).answer.body.toString()]
  for (const upstream of [pairOf(nextClient), pairOf(client), { client_certificate: null }]) {
    await operator.send('PUT', path, { upstream })
    names.push((await send(access)).answer.body.toString())
  }
  assert.deepEqual(names, ['client-1.test', 'client-2.test', 'client-1.test', 'none'])
  await operator.send('PUT', path, { upstream: { ca_certificates: null } })
  assertRefusal((await send(access)).answer, 502, 'upstream_unreachable')
})

test('a new origin requires the private key again', async () => {
  const access = await accessTo(lenient, { ca_certificates, ...pairOf(client) })
  const path = `/admin/integrations/${access.integration.integration_id}`
  const auth = { type: 'none' }
  const base_url = `${strict}/moved`
  const refused = await operator.send('PUT', path, { base_url, auth }, 400)
  assert.deepEqual(
    refused.details.issues.map((issue: { path: string }) => issue.path),
    ['/upstream/client_key'],
  )
  const { client_key } = pairOf(client)
  await operator.send('PUT', path, { base_url, auth, upstream: { client_key } })
  const { answer } = await send({ ...access, base_url })
  assert.equal(answer.body.toString(), 'client-1.test')
})

test('the private key is nowhere in the clear', async () => {
  const { client_key } = pairOf(client)
  const lines = client_key.split('\n').filter((line) => line.length > 40)
  assert.ok(lines.length > 0)
  assert.deepEqual(await findLeaks(stack, lines), [])
})

test('calls through a tunnel of the forward proxy use the CA and the client certificate of the integration', async () => {
  const { host } = new URL(strict)
  const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
  const proxy = new ForwardClient(stack.forwardPort ?? 0, ca)
  after(() => proxy.close())
  const rows: readonly (readonly [upstream: object, status: number, body: string | null])[] = [
    [{ ca_certificates, ...pairOf(client) }, 200, 'client-1.test'],
    [{ ca_certificates, ...pairOf(nextClient) }, 200, 'client-2.test'],
    [{ ca_certificates }, 502, null],
    [pairOf(client), 502, null],
    [{ ca_certificates, ...pairOf(stranger) }, 502, null],
    [{ ca_certificates: stranger.ca, ...pairOf(client) }, 502, null],
  ]
  for (const [i, [upstream, status, body]] of rows.entries()) {
    const access = await accessTo(strict, upstream)
    const before = arrived.length
    const connections = proxy.agent({ key: access.agent.api_key })
    const path = `${new URL(access.base_url).pathname}/tunnel`
    const answer = await call({ to: `https://${host}`, path, connections })
    connections.destroy()
    assert.equal(answer.status, status, `row ${i}: ${answer.body.toString()}`)
    const expected = body === null ? [] : [`${path} ${body}`]
    assert.deepEqual(arrived.slice(before), expected, `row ${i}`)
    if (body === null) assertRefusal(answer, 502, 'upstream_unreachable')
    else assert.equal(answer.body.toString(), body)
  }
})

test('a private key is used as before after a rotation of the encryption key, by old and by new clusters', async () => {
  const access = await accessTo(strict, { ca_certificates, ...pairOf(client) })
  const unused = await accessTo(strict, { ca_certificates, ...pairOf(nextClient) })
  assert.equal((await send(access)).answer.body.toString(), 'client-1.test')
  const env = {
    AGW_DATA_DIR: stack.dataDir,
    AGW_PROXY_PORT: new URL(stack.proxyUrl).port,
    AGW_API_PORT: new URL(stack.apiUrl).port,
  }
  const { code, text } = await runCommand((out) => runKeysRotate({ timeout_s: 60 }, env, out))
  assert.equal(code, 0, text)
  assert.equal((await send(access)).answer.body.toString(), 'client-1.test')
  assert.equal((await send(unused)).answer.body.toString(), 'client-2.test')
  // A cluster for other settings, made from the key that was encrypted again.
  const path = `/admin/integrations/${access.integration.integration_id}`
  await operator.send('PUT', path, { upstream: { connect_timeout_ms: 4_000 } })
  assert.equal((await send(access)).answer.body.toString(), 'client-1.test')
})

test('clusters that Envoy knows, and those that it does not, are used after the processor that named them has died', async () => {
  const known = await accessTo(strict, { ca_certificates, ...pairOf(client) })
  const unknown = await accessTo(strict, { ca_certificates, ...pairOf(nextClient) })
  assert.equal((await send(known)).answer.status, 200)
  const former = await stack.pids('ext-proc')
  for (const pid of former) process.kill(pid, 'SIGKILL')
  // Without a processor nothing reaches the API.
  const meanwhile = await send(unknown)
  if (meanwhile.answer.status !== 200) assert.deepEqual(meanwhile.arrivals, [])
  await until('new processors run', async () => {
    const pids = await stack.pids('ext-proc')
    return pids.length === former.length && pids.every((pid) => !former.includes(pid))
  })
  await stack.ready()
  for (const [access, name] of [
    [known, 'client-1.test'],
    [unknown, 'client-2.test'],
  ] as const) {
    const { answer } = await until('the call is served', async () => {
      const sent = await send(access)
      return sent.answer.status === 200 ? sent : null
    })
    assert.equal(answer.body.toString(), name)
  }
  // Changes reach Envoy by the new stream.
  const path = `/admin/integrations/${known.integration.integration_id}`
  await operator.send('PUT', path, { upstream: pairOf(nextClient) })
  assert.equal((await send(known)).answer.body.toString(), 'client-2.test')
  await operator.send('PUT', path, { upstream: { client_certificate: null } })
  const none = await send(known)
  assert.deepEqual([none.answer.status, none.arrivals], [502, []])
})

test('private addresses are refused with connection settings too', async () => {
  const access = await operator.makeAccess('https://10.255.255.1/u', {
    integration: { upstream: { connect_timeout_ms: 60_000, ca_certificates } },
  })
  assertRefusal((await send(access)).answer, 502, 'upstream_unreachable')
})

test('the connect time-out of an integration ends a handshake that hangs', async () => {
  const silent = createTcp(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const origin = `https://${TEST_HOST}:${port}`
  const limited = await accessTo(origin, { connect_timeout_ms: 100, retries: 0 })
  // Without the setting it would be 10 seconds.
  const isOver = (): string => 'the usual time-out'
  const usual = send(await accessTo(origin, { retries: 0 })).then(isOver, isOver)
  const first = await Promise.race([send(limited), usual])
  assert.ok(typeof first === 'object', 'the usual time-out came first')
  assertRefusal(first.answer, 502, 'upstream_unreachable')
})

test('the response time-out ends the wait for headers, and cuts no stream', async () => {
  const base = stack.origin('plain')
  for (const more of [{}, { connect_timeout_ms: 5_000 }]) {
    const access = await accessTo(base, { response_timeout_ms: 300, retries: 0, ...more })
    assertRefusal((await send(access, '/slow')).answer, 504, 'upstream_timeout')
    const { answer } = await send(access, '/sse?ticks=8&interval_ms=100')
    assert.equal(answer.status, 200)
    assert.ok(answer.body.includes('id: 7'))
  }
})

/** Ends the connection of the first requests for each path. */
const tries = new Map<string, number>()
const failing = createHttp((request, response) => {
  const path = request.url ?? ''
  const count = (tries.get(path) ?? 0) + 1
  tries.set(path, count)
  if (count <= Number(/fail-(\d+)/.exec(path)?.[1] ?? 0)) request.socket.destroy()
  else response.end('served')
})
await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve))
after(() => {
  failing.close()
  failing.closeAllConnections()
})
const failingOrigin = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`

const RETRIES: readonly (readonly [
  retries: number | null,
  method: string,
  failures: number,
  status: number,
  attempts: number,
])[] = [
  [null, 'GET', 1, 200, 2],
  [null, 'GET', 2, 502, 2],
  [0, 'GET', 1, 502, 1],
  [3, 'GET', 3, 200, 4],
  [3, 'GET', 4, 502, 4],
  [3, 'DELETE', 2, 200, 3],
  [5, 'POST', 1, 502, 1],
]

test('a call is repeated as often as the integration says, and only if that changes nothing', async () => {
  for (const more of [{}, { connect_timeout_ms: 5_000 }])
    for (const [retries, method, failures, status, attempts] of RETRIES) {
      const access = await accessTo(failingOrigin, { retries, ...more })
      const { answer } = await send(access, `/fail-${failures}`, method)
      const path = `${new URL(access.base_url).pathname}/fail-${failures}`
      const row = JSON.stringify({ retries, method, failures, ...more })
      assert.deepEqual([answer.status, tries.get(path)], [status, attempts], row)
    }
})

test('a caller cannot choose a cluster, a time-out or retries', async () => {
  const mine = await accessTo(lenient, { ca_certificates, ...pairOf(client) })
  assert.equal((await send(mine)).answer.status, 200)
  const dump = await stack.envoyAdmin('/config_dump')
  const [cluster = ''] = /own\.[\w.-]+/.exec(dump) ?? []
  assert.ok(cluster.includes(mine.integration.integration_id) || cluster !== '')
  const other = await accessTo(lenient, { ca_certificates })
  const headers = {
    ...other.headers,
    'x-agw-cluster': cluster,
    'x-envoy-upstream-rq-per-try-timeout-ms': '1',
    'x-envoy-max-retries': '9',
    'x-envoy-retry-on': '5xx',
  }
  const answer = await call({ to: stack.proxyUrl, path: `/${other.base_url}/ok`, headers })
  assert.deepEqual([answer.status, answer.body.toString()], [200, 'none'])
})
