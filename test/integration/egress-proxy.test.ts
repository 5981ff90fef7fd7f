import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { WebSocket } from 'ws'
import { checkEnvoy } from '../../cli/doctor/envoy/check-envoy.ts'
import { envoyAdminSocket } from '../../cli/launcher/child-specs.ts'
import { openDataDir } from '../../cli/launcher/data-dir.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call, type HttpAnswer } from '../kit/call.ts'
import { findLeaks } from '../kit/find-leaks.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { type Access, operatorAt, STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { startConnectProxy } from '../kit/start-connect-proxy.ts'
import { startSocketApi } from '../kit/start-socket-api.ts'
import { startTokenEndpoint } from '../kit/start-token-endpoint.ts'
import { TEST_UPSTREAM_HOSTS as HOSTS } from '../kit/test-upstream.ts'
import { until } from '../kit/until.ts'

// Everything that the gateway connects to through an HTTP proxy. The hosts have public addresses, at which nothing would be reached;
// only the proxy knows that they are on this machine.

const PASSWORD = 'p@ss:word/of-the-proxy'
const proxy = await startConnectProxy('gateway', PASSWORD)

const exported: string[] = []
const receiver = createHttp((request, response) => {
  exported.push(`${request.headers.host} ${request.url}`)
  request.resume().once('end', () => response.writeHead(200).end('{}'))
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const receiverPort = (receiver.address() as AddressInfo).port
const LOGS = `logs.test:${receiverPort}`
const TRACES = `traces.test:${receiverPort}`

const stack = await startAll({
  AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  AGW_EGRESS_PROXY: proxy.url,
  AGW_EGRESS_NO_PROXY: 'direct.test, .payments.test',
  AGW_LOG_EXPORT_URL: `http://${LOGS}/v1/logs`,
  AGW_TRACE_URL: `http://${TRACES}/v1/traces`,
  AGW_TRACE_SAMPLE: '100',
  // The echo API of the launcher has an address of this machine, too.
  AGW_EXT_PROC_WORKERS: '1',
})
const sockets = [await startSocketApi(stack.api.certificates), await startSocketApi()]
after(async () => {
  for (const one of sockets) await one.stop()
  await stopAll(stack)
  receiver.close()
  receiver.closeAllConnections()
  await proxy.stop()
})
const { operator, api, dns } = stack
const PUBLIC = '93.184.215.14'
for (const host of Object.values(HOSTS)) dns.set(host, [PUBLIC])
const tokens = await startTokenEndpoint(api.certificates, HOSTS.other)
after(() => tokens.stop())

/** Targets of CONNECT since, without those of the exports. */
function mark(): () => readonly string[] {
  const before = proxy.asked.length
  return () => proxy.asked.slice(before).filter((to) => to !== LOGS && to !== TRACES)
}

let number = 0
const accessTo = (origin: string, more: object = {}): Promise<Access> =>
  operator.makeAccess(`${origin}/e${++number}`, more)
const send = ({ base_url, headers }: Access, more: Record<string, string> = {}) =>
  call({ to: stack.proxyUrl, path: `/${base_url}/x`, headers: { ...headers, ...more } })
const targetOf = (origin: string): string => origin.slice(origin.indexOf('//') + 2)

test('calls over HTTPS, HTTP/2 and HTTP go by CONNECT, with the credential of the API inside alone', async () => {
  for (const over of ['https', 'https2', 'http'] as const) {
    const origin = stack.origin('plain', over)
    const access = await accessTo(origin)
    const [asked, sent] = [mark(), api.mark()]
    const answer = await send(access)
    assert.equal(answer.status, 200, answer.body.toString())
    assert.deepEqual(asked(), [targetOf(origin)])
    const [one] = sent()
    assert.equal(one?.header('authorization'), `Bearer ${STORED_CREDENTIAL}`)
    assert.deepEqual(
      one?.headers.filter(([name]) => /^x-agw|proxy/.test(name)),
      [],
    )
  }
})

test('a tunnel is used again for the same host and port alone', async () => {
  const [first, second] = [stack.origin('plain', 'http'), stack.origin('chat', 'http')]
  const accesses = [await accessTo(first), await accessTo(second)]
  const sent = api.mark()
  for (const access of [...accesses, ...accesses]) await send(access)
  assert.deepEqual(
    sent().map((one) => one.header('host')),
    [first, second, first, second].map(targetOf),
  )
})

test('an integration with connection settings of its own goes through the proxy too', async () => {
  for (const over of ['https', 'http'] as const) {
    const origin = stack.origin('plain', over)
    const access = await accessTo(origin, {
      integration: { upstream: { connect_timeout_ms: 9_000 } },
    })
    const asked = mark()
    const answer = await send(access)
    assert.equal(answer.status, 200, answer.body.toString())
    assert.deepEqual(asked(), [targetOf(origin)])
  }
})

test('the certificate of the API is verified inside the tunnel', async () => {
  const access = await accessTo(`https://wrong-name.test:${api.ports.https}`)
  dns.set('wrong-name.test', [PUBLIC])
  const [asked, sent] = [mark(), api.mark()]
  assertRefusal(await send(access), 502, 'upstream_unreachable')
  assert.ok(asked().length > 0)
  assert.deepEqual(sent(), [])
})

test('a WebSocket goes through the proxy', async () => {
  const RULES = [{ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }]
  for (const [i, { port }] of sockets.entries()) {
    const origin = `${i === 0 ? 'https' : 'http'}://${HOSTS.plain}:${port}`
    for (const integration of [{}, { upstream: { connect_timeout_ms: 9_000 } }]) {
      const { base_url, headers } = await accessTo(origin, { rules: RULES, integration })
      const asked = mark()
      const to = `${stack.proxyUrl.replace('http', 'ws')}/${base_url}/x`
      const socket = new WebSocket(to, { headers: { ...headers } })
      await once(socket, 'open')
      const echo = once(socket, 'message')
      socket.send('hello')
      assert.equal(String((await echo)[0]), 'hello')
      assert.deepEqual(asked(), [targetOf(origin)])
      socket.close()
      await once(socket, 'close')
    }
  }
})

test('the forward proxy goes through it: calls, hosts in no integration, and what is passed through unread', async () => {
  const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
  const port = stack.forwardPort ?? 0
  const client = new ForwardClient(port, ca)
  const { agent, base_url } = await accessTo(stack.origin('plain', 'https2'))
  await operator.send('PATCH', `/admin/agents/${agent.agent_id}`, { unlisted_hosts: 'allow' })
  const connections = client.agent({ key: agent.api_key })
  const unlisted = stack.origin('uploads')
  for (const to of [new URL(`${base_url}/x`), new URL(`${unlisted}/x`)]) {
    const sent = api.mark()
    const answer = await call({ to: to.origin, path: to.pathname, connections })
    assert.equal(answer.status, 200, answer.body.toString())
    assert.equal(sent().length, 1)
    assert.ok(proxy.asked.includes(to.host))
  }
  // A public name that leads to a private address, though integrations may reach it.
  dns.set('rebound.test', ['127.0.0.1'])
  const asked = mark()
  const to = `https://rebound.test:${api.ports.https}`
  assertRefusal(await call({ to, path: '/x', connections }), 502, 'upstream_unreachable')
  assert.deepEqual(asked(), [])
  const blind = targetOf(stack.origin('blind'))
  const { status, socket } = await client.tunnel(blind, { key: agent.api_key })
  assert.equal(status, 200)
  const trusting = new ForwardClient(port, api.certificates.ca)
  const secure = await trusting.tls(socket, { servername: HOSTS.blind })
  assert.deepEqual(asked(), [blind])
  secure.destroy()
  connections.destroy()
  client.close()
})

test('a token endpoint and a webhook are reached through it', async () => {
  const auth = {
    type: 'oauth2_client_credentials',
    token_url: tokens.url('t'),
    client_id: 'client',
    client_secret: 'client-secret-through-the-proxy',
  }
  const origin = stack.origin('plain')
  const access = await accessTo(origin, { auth })
  const asked = mark()
  const answer = await send(access)
  assert.equal(answer.status, 200, answer.body.toString())
  assert.equal(asked()[0], new URL(tokens.url('t')).host)
  const atApi = operatorAt(stack.apiUrl, stack.adminToken)
  const webhook = await atApi.send('POST', '/webhooks', {
    name: 'through the proxy',
    url: `${stack.origin('plain')}/hook`,
    events: ['permission_denied'],
  })
  const before = mark()
  const tried = await atApi.send('POST', `/webhooks/${webhook.webhook_id}/test`)
  assert.deepEqual(before(), [targetOf(origin)])
  // This process does not trust the CA of the tests; it is that of the receiver, and not of the proxy, that counts.
  assert.equal(tried.attempts[0].error, 'tls_failed', JSON.stringify(tried))
})

test('the log and traces are exported through it', async () => {
  for (const to of [`${LOGS} /v1/logs`, `${TRACES} /v1/traces`])
    await until(`${to} has received something`, () => exported.includes(to))
  assert.ok(proxy.asked.includes(LOGS) && proxy.asked.includes(TRACES))
})

test('exceptions and this machine are connected to directly', async () => {
  dns.set('direct.test', ['127.0.0.1'])
  dns.set('sub.payments.test', ['127.0.0.1'])
  for (const host of ['direct.test', 'sub.payments.test', '127.0.0.1']) {
    const access = await accessTo(`http://${host}:${api.ports.http}`)
    const asked = mark()
    assert.equal((await send(access)).status, 200, host)
    assert.deepEqual(asked(), [])
  }
})

test('a kill cuts what runs in a tunnel', async () => {
  const RULES = [{ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }]
  const origin = `https://${HOSTS.plain}:${sockets[0]?.port}`
  const { agent, base_url, headers } = await accessTo(origin, { rules: RULES })
  const socket = new WebSocket(`${stack.proxyUrl.replace('http', 'ws')}/${base_url}/x`, {
    headers: { ...headers },
  })
  socket.on('error', () => undefined)
  await once(socket, 'open')
  const closed = once(socket, 'close')
  const receipt = await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})
  assert.equal(receipt.complete, true)
  await closed
})

async function refusedHere(host: string, cause: string): Promise<void> {
  const access = await accessTo(`https://${host}:${api.ports.https}`)
  const asked = mark()
  const answer: HttpAnswer = await send(access)
  assertRefusal(answer, 502, 'upstream_unreachable')
  assert.deepEqual(asked(), [], host)
  const entry = await until('the entry is in the log', async () => {
    const { data } = await operator.send(
      'GET',
      `/admin/activity?agent_id=${access.agent.agent_id}&event=request_rejected`,
    )
    return data[0]
  })
  assert.equal(entry.data.upstream.details, `egress_proxy{${cause}}`)
}

test('private addresses are refused before the proxy is asked, as literals and behind names', async () => {
  dns.set('private.test', ['10.1.2.3'])
  dns.set('mixed.test', [PUBLIC, '10.1.2.3'])
  for (const host of ['10.1.2.3', '169.254.169.254', '[fd00::1]', 'private.test', 'mixed.test'])
    await refusedHere(host, 'address_denied')
  await refusedHere('metadata.google.internal', 'address_denied')
  await refusedHere('unknown-name.test', 'dns_failed')
})

test('a proxy that does not connect is an API that is unreachable', async () => {
  const origin = `https://${HOSTS.git}:${api.ports.https}`
  proxy.deny(targetOf(origin), 403)
  assertRefusal(await send(await accessTo(origin)), 502, 'upstream_unreachable')
})

test('callers do not choose the target of a tunnel', async () => {
  const origin = stack.origin('plain')
  const access = await accessTo(origin)
  const asked = mark()
  await send(access, { 'x-agw-connect': 'evil.test:443', 'x-agw-cluster': 'own.proxied.https' })
  assert.ok(asked().every((to) => to === targetOf(origin)))
  assert.ok(proxy.asked.every((to) => !to.includes('evil')))
})

test('user and password of the proxy are nowhere but in the configuration of Envoy', async () => {
  const basic = Buffer.from(`gateway:${PASSWORD}`).toString('base64')
  const leaks = await findLeaks(stack, [PASSWORD, encodeURIComponent(PASSWORD), basic])
  assert.deepEqual(
    leaks.filter((leak) => !/ in (envoy \/config_dump|file .*envoy\.yaml)$/.test(leak)),
    [],
  )
  const args = execFileSync('ps', ['-A', '-o', 'args=']).toString()
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), basic])
    assert.ok(!args.includes(secret))
})

test('agw doctor finds nothing to correct in the clusters and filters of this configuration', async () => {
  const socket = `unix:${envoyAdminSocket(openDataDir(stack.dataDir))}`
  const found = await checkEnvoy(socket, {
    egress_allow_cidrs: ['127.0.0.0/8'],
    verdict_secrets: [stack.verdictSecret],
  })
  assert.deepEqual(
    found.filter(({ state }) => state !== 'ok'),
    [],
  )
})
