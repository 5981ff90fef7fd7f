import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { fetch as fetchOver, ProxyAgent } from 'undici'
import { after, test } from 'node:test'
import { type AuthorityFiles, makeAuthority } from '../../core/certificate/make-authority.ts'
import { call } from '../kit/call.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { operatorAt, STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// Small limits, a CA of files, TLS on the listeners, and a processor that is killed: not for the stack that all share.
const run = promisify(execFile)
const folder = tempFolder('forward-ca')
const [caCertFile, caKeyFile] = [join(folder, 'ca.pem'), join(folder, 'ca.key')]
const putAuthority = ({ certificate, key }: AuthorityFiles): void => {
  writeFileSync(caCertFile, certificate)
  writeFileSync(caKeyFile, key)
}
putAuthority(makeAuthority(Date.now()))
const server = await makeCertificates(['127.0.0.1'])
const stack = await startAll({
  AGW_TLS_CERT_FILE: server.cert_file,
  AGW_TLS_KEY_FILE: server.key_file,
  AGW_FORWARD_TLS: 'on',
  AGW_CA_CERT_FILE: caCertFile,
  AGW_CA_KEY_FILE: caKeyFile,
  AGW_FORWARD_TUNNELS_PER_AGENT: '3',
  AGW_FORWARD_CONNECTS_PER_MINUTE: '12',
  AGW_ACTIVITY_STRICT: 'on',
  // A tunnel ends by itself after two thirds of it.
  AGW_DRAIN_TIMEOUT: '10m',
})
after(() => stopAll(stack))
const { api, origin } = stack
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
const client = new ForwardClient(stack.forwardPort ?? 0, ca, server.ca)
after(() => client.close())
const to = origin('plain')
const { host, hostname } = new URL(to)

/** Connections to the listener in which tunnels end. */
const INSIDE = 'listener.envoy_internal_forward_inside.downstream_cx_active'

/** The sum of Envoy's own numbers of this name. */
async function envoyCount(name: string): Promise<number> {
  const text = await stack.envoyAdmin(`/stats?filter=${name}$`)
  return [...text.matchAll(/: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** What a client with `HTTPS_PROXY=https://…` shows of a call. */
interface Shown {
  readonly status: number
  readonly body: string
}

const throughCurl = async (proxy: string, url: string): Promise<Shown> => {
  const files = ['--proxy-cacert', server.ca_file, '--cacert', caCertFile]
  const { stdout } = await run('curl', ['-sS', '-w', '\n%{http_code}', ...files, url], {
    env: { PATH: process.env['PATH'], HTTPS_PROXY: proxy },
  })
  const [body = '', status] = stdout.split('\n')
  return { status: Number(status), body }
}

const throughUndici = async (proxy: string, url: string): Promise<Shown> => {
  const { origin: uri, username, password } = new URL(proxy)
  const token = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const dispatcher = new ProxyAgent({ uri, token, proxyTls: { ca: server.ca }, requestTls: { ca } })
  const answer = await fetchOver(url, { dispatcher }).catch((error: Error) => {
    throw error.cause
  })
  const shown = { status: answer.status, body: await answer.text() }
  await dispatcher.close()
  return shown
}

// curl is there wherever git is fetched with it; undici is that of the lockfile.
for (const [name, ask] of Object.entries({ undici: throughUndici, curl: throughCurl }))
  test(`${name} calls through a proxy that itself has TLS, and reads why a call is refused`, async (t) => {
    if (name === 'curl' && (await run('curl', ['--version']).catch(() => null)) === null)
      return t.skip('curl is not installed')
    const rules = [{ methods: ['GET'], paths: ['/echo'] }]
    const { agent, base_url } = await operator.makeAccess(stack.ownBaseUrl(), { rules })
    const proxy = (key: string) => `https://agent:${key}@127.0.0.1:${stack.forwardPort}`
    const sent = api.mark()
    const answer = await ask(proxy(agent.api_key), `${base_url}/echo`)
    assert.equal(answer.status, 200, answer.body)
    assert.deepEqual(
      sent().map((one) => one.header('authorization')),
      [`Bearer ${STORED_CREDENTIAL}`],
    )
    const refused = await ask(proxy(agent.api_key), `${base_url}/other`)
    assert.equal(refused.status, 403)
    assert.equal(JSON.parse(refused.body).error, 'permission_denied')
    await assert.rejects(ask(proxy('unknown'), `${base_url}/echo`), /407|cancelled/)
    await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})
    await assert.rejects(ask(proxy(agent.api_key), `${base_url}/echo`), /403|cancelled/)
    assert.equal(sent().length, 1)
  })

test('the tunnels of an agent are bounded, and those of another are not affected', async () => {
  const [one, other] = [await operator.makeAgent(), await operator.makeAccess(to)]
  const open = await Promise.all([1, 2, 3].map(() => client.tunnel(host, { key: one.api_key })))
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200, 200],
  )
  const more = await client.tunnel(host, { key: one.api_key })
  assert.equal(more.status, 429)
  assert.match(more.head, /x-agw-reason: tunnel_limit_exceeded/)
  assert.match(more.head, /retry-after: \d/)
  const connections = client.agent({ key: other.agent.api_key })
  assert.equal((await call({ to, path: '/echo', connections })).status, 200)
  connections.destroy()
  open[0]?.socket.destroy()
  // Envoy tells of the end of a tunnel when it has seen it.
  await until('a tunnel is free', async () => {
    const { status, socket } = await client.tunnel(host, { key: one.api_key })
    socket.destroy()
    return status === 200
  })
})

test('CONNECTs are counted, also those that were closed', async () => {
  const { api_key: key } = await operator.makeAgent()
  const statuses: number[] = []
  for (let i = 0; i < 13; i++) {
    const { status, socket, head } = await client.tunnel(host, { key })
    statuses.push(/tunnels_per_agent/.test(head) ? 0 : status)
    socket.destroy()
    if (status === 429) break
  }
  assert.equal(statuses.at(-1), 429)
})

test('when the processor dies, tunnels end, and nothing is opened until it is back', async () => {
  const { agent, base_url } = await operator.makeAccess(stack.ownBaseUrl())
  const { socket } = await client.tunnel(host, { key: agent.api_key })
  const secure = await client.tls(socket, { servername: hostname })
  // An idle connection would end by itself, after two thirds of the time for a drain.
  const path = `${new URL(base_url).pathname}/sse?ticks=100000&interval_ms=20`
  let received = ''
  secure.on('error', () => undefined).on('data', (bytes: Buffer) => (received += String(bytes)))
  secure.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await until('a response is streaming', () => received.includes('tick'))
  const [pid] = await stack.pids('ext-proc')
  process.kill(pid ?? 0, 'SIGKILL')
  await until('the tunnel has ended', () => secure.closed)
  const statuses = new Set<number>()
  await until('tunnels can be opened again', async () => {
    const again = await client.tunnel(host, { key: agent.api_key }).catch(() => null)
    statuses.add(again?.status ?? 0)
    again?.socket.destroy()
    return again?.status === 200
  })
  for (const status of statuses) assert.ok([0, 200, 429, 503].includes(status), String(status))
})

// While the processor is stopped, no certificate can come: every handshake pends when it is torn down.
test('handshakes that are torn down while their certificate pends do no harm, kills among them', async () => {
  const agents = await Promise.all(Array.from({ length: 8 }, () => operator.makeAgent()))
  const killed = agents.slice(0, 2)
  const [envoy] = await stack.pids('envoy')
  const before = await envoyCount(INSIDE)
  const opened = await Promise.all(
    agents.flatMap(({ agent_id, api_key: key }) =>
      [0, 1, 2].map(async (n) => {
        const servername = `pending-${n}.${agent_id.replaceAll('_', '-').toLowerCase()}.test`
        const { status, socket } = await client.tunnel(`${servername}:443`, { key })
        assert.equal(status, 200)
        return { agent_id, n, socket, servername }
      }),
    ),
  )
  const asked = await envoyCount('cert_requested')
  const [pid = 0] = await stack.pids('ext-proc')
  process.kill(pid, 'SIGSTOP')
  const kills: Promise<unknown>[] = []
  try {
    for (const { socket, servername } of opened)
      connectTls({ socket, servername }).on('error', () => undefined)
    await until('Envoy waits for all certificates', async () => {
      return (await envoyCount('cert_requested')) >= asked + opened.length
    })
    for (const { agent_id, n, socket } of opened) {
      if (killed.some((one) => one.agent_id === agent_id)) continue
      if (n === 0) client.reset(socket)
      else if (n === 1) socket.destroy()
      else socket.end()
    }
    kills.push(
      ...killed.map(({ agent_id }) => operator.send('POST', `/admin/agents/${agent_id}/kill`, {})),
    )
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  for (const receipt of await Promise.all(kills))
    assert.equal((receipt as { complete: boolean }).complete, true)
  assert.deepEqual(await stack.pids('envoy'), [envoy])
  const { agent, base_url } = await operator.makeAccess(stack.ownBaseUrl())
  const connections = client.agent({ key: agent.api_key })
  const path = `${new URL(base_url).pathname}/x`
  assert.equal((await call({ to, path, connections })).status, 200)
  connections.destroy()
  await until('no connection is left', async () => (await envoyCount(INSIDE)) <= before)
})

test('a CA that is replaced is used for the next handshake, and open tunnels stay', async () => {
  const { agent, base_url } = await operator.makeAccess(stack.ownBaseUrl())
  const path = `${new URL(base_url).pathname}/x`
  const kept = client.agent({ key: agent.api_key })
  kept.maxSockets = 1
  const ask = async () => (await call({ to, path, connections: kept })).status
  assert.equal(await ask(), 200)
  const [opened] = Object.values(kept.freeSockets).flat()
  const next = makeAuthority(Date.now())
  putAuthority(next)
  const trusting = new ForwardClient(stack.forwardPort ?? 0, next.certificate, server.ca)
  await until('a certificate of the new CA is presented', async () => {
    assert.equal(await ask(), 200)
    // An agent of its own for each, since CONNECTs are limited.
    const { api_key } = await operator.makeAgent()
    const { socket } = await trusting.tunnel(host, { key: api_key })
    const secure = await trusting.tls(socket, { servername: hostname }).catch(() => null)
    socket.destroy()
    return secure !== null
  })
  assert.equal(await ask(), 200)
  assert.ok(Object.values(kept.freeSockets).flat().includes(opened), 'it is the same tunnel')
  assert.equal(await (await fetch(`${stack.apiUrl}/ca.pem`)).text(), next.certificate)
  kept.destroy()
  trusting.close()
})
