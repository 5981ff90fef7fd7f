import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { WebSocket } from 'ws'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { CONNECT_TOKEN_MS, sealConnectToken } from '../../core/store/connect-token.ts'
import { call, type HttpAnswer } from '../kit/call.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import type { MadeAgent } from '../kit/operator.ts'
import { operatorAt, STORED_CREDENTIAL } from '../kit/operator.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { startSocketApi } from '../kit/start-socket-api.ts'
import { until } from '../kit/until.ts'

// Several credentials for one API: which one a call gets.

const stack = await sharedStack()
const { operator, api } = stack
const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
const client = new ForwardClient(stack.forwardPort ?? 0, ca)
after(() => {
  client.close()
  closeOpenCalls()
})

interface Api {
  readonly integration_id: string
  readonly base_url: string
}

const makeApi = async (auth: object, base_url = stack.ownBaseUrl()): Promise<Api> =>
  await operator.makeIntegration(base_url, { auth })

/** No other text of the run has it, so that a search for secrets finds secrets alone. */
const MARK = '-zq81uvw'
const plain = (seen: string | undefined): string | undefined => seen?.replace(MARK, '')

const connect = async ({ integration_id }: Api, token: string, subject = 'shared', name = token) =>
  await operator.send('POST', `/admin/integrations/${integration_id}/connections`, {
    name,
    subject,
    auth: { type: 'bearer', token: token + MARK },
  })

type Sent = readonly (readonly [string, string])[]

/** The answer, and the credential that the API saw. */
async function get(
  { base_url }: Api,
  { api_key }: MadeAgent,
  more: Sent = [],
): Promise<{ readonly answer: HttpAnswer; readonly seen: string | null | undefined }> {
  const sent = api.mark()
  const answer = await call({
    to: stack.proxyUrl,
    path: `/${base_url}/a`,
    headers: [['authorization', `Bearer ${api_key}`], ...more],
  })
  const [received] = sent()
  for (const [name] of received?.headers ?? [])
    assert.doesNotMatch(name.replaceAll('_', '-').toLowerCase(), /agw-user/)
  return { answer, seen: received === undefined ? null : plain(received.header('authorization')) }
}

const scopeFor = async (agent: MadeAgent, { integration_id }: Api, more: object = {}) =>
  await operator.makeScope(agent.agent_id, integration_id, more)

test('two agents with two keys for one API: each gets its own, a third that of the integration', async () => {
  const own = await makeApi({ type: 'bearer', token: STORED_CREDENTIAL })
  const [billing, support, other] = await Promise.all([1, 2, 3].map(() => operator.makeAgent()))
  assert.ok(billing && support && other)
  for (const agent of [billing, support, other]) await scopeFor(agent, own)
  const first = await connect(own, 'key-of-billing', `agent:${billing.agent_id}`)
  await connect(own, 'key-of-support', `agent:${support.agent_id}`)
  assert.equal((await get(own, billing)).seen, 'Bearer key-of-billing')
  assert.equal((await get(own, support)).seen, 'Bearer key-of-support')
  assert.equal((await get(own, other)).seen, `Bearer ${STORED_CREDENTIAL}`)
  const id = (await get(own, billing)).answer.header('x-agw-request-id')
  const entry = await until('the call is in the log', async () => {
    const { data } = await operator.send('GET', `/admin/activity?request_id=${id}`)
    return data[0]
  })
  assert.equal(entry.data.connection_id, first.connection_id)
  const path = `/admin/integrations/${own.integration_id}/connections/${first.connection_id}`
  await until('its use is noted', async () => (await operator.send('GET', path)).last_used_at)
  const explained = await operator.send('POST', '/admin/explain', {
    agent_id: billing.agent_id,
    method: 'GET',
    url: `${own.base_url}/a`,
  })
  const { connection_id, name, subject, status } = first
  assert.deepEqual(explained.connection, { connection_id, name, subject, status })
  // Refused, never with the wider credential of the integration.
  await operator.send('PATCH', path, { status: 'revoked' })
  const { answer, seen } = await get(own, billing)
  assert.deepEqual([answer.status, seen], [403, null])
  const { error, details } = answer.json()
  assert.deepEqual([error, details.status], ['connection_required', 'revoked'])
  const refused = await operator.send('POST', '/admin/explain', {
    agent_id: billing.agent_id,
    method: 'GET',
    url: `${own.base_url}/a`,
  })
  assert.deepEqual([refused.answer, refused.error], ['refused', 'connection_required'])
})

test('a user is named by X-Agw-User in one spelling alone, and only where the scope lists the user', async () => {
  const own = await makeApi({ type: 'bearer', token: STORED_CREDENTIAL })
  const agent = await operator.makeAgent()
  const { scope_id } = await scopeFor(agent, own, { users: ['alice'] })
  await connect(own, 'key-of-alice', 'user:alice')
  await connect(own, 'key-of-bob', 'user:bob')
  const of = async (...more: Sent): Promise<string | null | undefined> =>
    (await get(own, agent, more)).seen
  assert.equal(await of(['X-Agw-User', 'alice']), 'Bearer key-of-alice')
  const wide = `Bearer ${STORED_CREDENTIAL}`
  for (const value of ['bob', 'Alice', '*', '', 'al%69ce', 'alice,bob', 'bob, alice', 'user:alice'])
    assert.equal(await of(['X-Agw-User', value]), wide, value)
  for (const name of ['x_agw_user', 'x-agw_user', 'x-agw-users', 'x-user'])
    if (name !== 'x-user') assert.equal(await of([name, 'alice']), wide, name)
  for (const twice of [
    [
      ['X-Agw-User', 'alice'],
      ['X-Agw-User', 'alice'],
    ],
    [
      ['X-Agw-User', 'bob'],
      ['x-agw-user', 'alice'],
    ],
  ] as Sent[]) {
    const { answer, seen } = await get(own, agent, twice)
    const isRefused = answer.status === 400 && answer.json().error === 'ambiguous_request'
    // Envoy may join both to one value, which no list has.
    assert.ok(isRefused ? seen === null : seen === wide, answer.body.toString())
  }
  const folded = await rawHttp(
    stack.proxyUrl,
    `GET /${own.base_url}/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.api_key}\r\nX-Agw-User: bob\r\n alice\r\nConnection: close\r\n\r\n`,
  )
  assert.ok(!folded.answers.some(({ body }) => body.includes('key-of')))
  await operator.send('PATCH', `/admin/scopes/${scope_id}`, { users: [] })
  assert.equal(await of(['X-Agw-User', 'alice']), wide)
})

test('through the forward proxy and for a WebSocket the same connection is chosen', async () => {
  const proxied = await makeApi({ type: 'bearer', token: STORED_CREDENTIAL })
  const { origin: to, pathname } = new URL(proxied.base_url)
  const [agent, other] = [await operator.makeAgent(), await operator.makeAgent()]
  await scopeFor(agent, proxied, { users: ['alice'] })
  await scopeFor(other, proxied)
  await connect(proxied, 'forward-alice', 'user:alice')
  await connect(proxied, 'forward-other', `agent:${other.agent_id}`)
  const through = async ({ api_key }: MadeAgent, headers: Record<string, string>) => {
    const connections = client.agent({ key: api_key })
    const sent = api.mark()
    const { status } = await call({ to, path: `${pathname}/a`, connections, headers })
    connections.destroy()
    assert.equal(status, 200)
    assert.equal(sent()[0]?.header('x-agw-user'), undefined)
    return plain(sent()[0]?.header('authorization'))
  }
  assert.equal(await through(agent, { 'x-agw-user': 'alice' }), 'Bearer forward-alice')
  assert.equal(await through(agent, {}), `Bearer ${STORED_CREDENTIAL}`)
  assert.equal(await through(other, { 'x-agw-user': 'alice' }), 'Bearer forward-other')
  const sockets = await startSocketApi()
  const rules = [{ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }]
  const socketApi = await makeApi({ type: 'none' }, `http://127.0.0.1:${sockets.port}/c`)
  await scopeFor(agent, socketApi, { rules, users: ['alice'] })
  const own = await connect(socketApi, 'socket-alice', 'user:alice')
  const dial = (headers: Record<string, string>): WebSocket =>
    new WebSocket(`${stack.proxyUrl.replace('http', 'ws')}/${socketApi.base_url}/s`, {
      headers: { authorization: `Bearer ${agent.api_key}`, ...headers },
    })
  const refused = dial({})
  const [, response] = await once(refused, 'unexpected-response')
  assert.equal(response.statusCode, 403)
  refused.on('error', () => undefined)
  refused.terminate()
  const socket = dial({ 'x-agw-user': 'alice' })
  await once(socket, 'open')
  const [opened] = sockets.opened
  assert.equal(plain(opened?.headers.authorization), 'Bearer socket-alice')
  assert.equal(opened?.headers['x-agw-user'], undefined)
  const closed = once(socket, 'close')
  const path = `/admin/integrations/${socketApi.integration_id}/connections/${own.connection_id}`
  await operator.send('PATCH', path, { status: 'revoked' })
  await closed
  await sockets.stop()
})

test('running calls end with their connection, and those of another one go on', async () => {
  const own = await makeApi({ type: 'bearer', token: STORED_CREDENTIAL })
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => operator.makeAgent()))
  assert.ok(first && second && third)
  const named = await connect(own, 'named')
  await scopeFor(first, own)
  await scopeFor(second, own)
  const { scope_id } = await scopeFor(third, own, { connection_id: named.connection_id })
  const connections = `/admin/integrations/${own.integration_id}/connections`
  const mine = await connect(own, 'mine', `agent:${first.agent_id}`)
  await connect(own, 'kept', `agent:${second.agent_id}`)
  const [lost, kept, moved] = [first, second, third].map(({ api_key }) =>
    openCall(stack.proxyUrl, `${own.base_url}/sse?ticks=100000&interval_ms=50`, {
      authorization: `Bearer ${api_key}`,
    }),
  )
  assert.ok(lost && kept && moved)
  for (const one of [lost, kept, moved]) assert.equal(await one.answered, 200)
  // Another credential of the same connection ends nothing.
  const auth = { type: 'bearer', token: `replaced${MARK}` }
  await operator.send('PATCH', `${connections}/${mine.connection_id}`, { auth })
  assert.equal((await get(own, first)).seen, 'Bearer replaced')
  await operator.send('DELETE', `${connections}/${mine.connection_id}`)
  assert.equal((await lost.ended).is_whole, false)
  await operator.send('PATCH', `/admin/scopes/${scope_id}`, { connection_id: null })
  assert.equal((await moved.ended).is_whole, false)
  assert.ok(kept.isOpen())
  assert.equal((await get(own, first)).seen, `Bearer ${STORED_CREDENTIAL}`)
  closeOpenCalls()
})

test('one integration has one shared connection of a name, by whatever way it gets the name', async () => {
  const [own, other] = [await makeApi({ type: 'none' }), await makeApi({ type: 'none' })]
  const agent = await operator.makeAgent()
  const { connection_id } = await connect(own, 'billing', 'shared')
  const second = await connect(own, 'support', 'shared')
  await connect(other, 'billing', 'shared')
  await connect(own, 'billing', `agent:${agent.agent_id}`)
  const path = `/admin/integrations/${own.integration_id}/connections`
  const auth = { type: 'none' }
  for (const [method, at, body] of [
    ['POST', path, { name: 'billing', auth }],
    ['PATCH', `${path}/${second.connection_id}`, { name: 'billing' }],
  ] as const) {
    const { error, details } = await operator.send(method, at, body, 409)
    assert.deepEqual([error, details], ['conflict', { reason: 'name_taken', connection_id }])
  }
  await operator.send('PATCH', `${path}/${connection_id}`, { name: 'billing', auth })
  await operator.send('PATCH', `${path}/${connection_id}`, { name: 'old billing' })
  await operator.send('PATCH', `${path}/${second.connection_id}`, { name: 'billing' })
  const at_once = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const answer = await fetch(stack.apiUrl + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stack.adminToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'at once', auth }),
      })
      return answer.status
    }),
  )
  const [created, ...others] = at_once.map(String).toSorted()
  assert.deepEqual([created, new Set(others)], ['201', new Set(['409'])])
})

test('a call without a connection is refused with a link that an operator uses once', async () => {
  const own = await makeApi({ type: 'none' })
  const agent = await operator.makeAgent()
  const { scope_id } = await scopeFor(agent, own)
  // An API that needs no credential.
  assert.deepEqual((await get(own, agent)).seen, undefined)
  await connect(own, 'somebody', 'user:somebody')
  const { answer, seen } = await get(own, agent)
  assert.deepEqual([answer.status, seen], [403, null])
  const { error, details } = answer.json()
  assert.deepEqual([error, details.status], ['connection_required', 'missing'])
  // The model of an MCP client sees results alone. The body was read by then, or it was not.
  for (const deny of [[], ['other']]) {
    await operator.send('PATCH', `/admin/scopes/${scope_id}`, { mcp_tools: { allow: ['*'], deny } })
    const refused = await call({
      to: stack.proxyUrl,
      method: 'POST',
      path: `/${own.base_url}/a`,
      headers: {
        authorization: `Bearer ${agent.api_key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"pay"}}',
    })
    assert.equal(refused.header('x-agw-reason'), 'connection_required')
    const { id, result } = refused.json()
    assert.deepEqual([refused.status, id, result.isError], [200, 'x', true])
    assert.match(result.content[0].text, /"connect_url":"http[^"]+#\/connect\//)
  }
  const [, place, token = ''] = new URL(details.connect_url).hash.split('/')
  assert.equal(place, 'connect')
  const decoded = decodeURIComponent(token)
  const asked = await operator.send('POST', '/admin/connect', { token: decoded })
  assert.deepEqual(
    [asked.agent_id, asked.integration_id, asked.subject, asked.connection],
    [agent.agent_id, own.integration_id, `agent:${agent.agent_id}`, null],
  )
  const auth = { type: 'bearer', token: `given${MARK}` }
  const made = await operator.send('POST', '/admin/organizations', { name: 'stranger' })
  const stranger = operatorAt(stack.proxyUrl, made.admin_token)
  const ring = parseKeyRing(readFileSync(join(stack.dataDir, 'encryption-key'), 'utf8').trim())
  const sealed = (age_ms: number): string => {
    const { agent_id } = agent
    const { integration_id } = own
    const of = { organization_id: 'org_default', user: null, connection_id: null }
    return sealConnectToken(ring, { ...of, agent_id, integration_id }, Date.now() - age_ms)
  }
  await operator.send('POST', '/admin/connect', { token: sealed(CONNECT_TOKEN_MS / 2) })
  await operator.send('POST', '/admin/connect', { token: sealed(CONNECT_TOKEN_MS) }, 404)
  for (const body of [{ token: decoded }, { token: decoded, auth }])
    await stranger.send('POST', '/admin/connect', body, 404)
  await operator.send('POST', '/admin/connect', { token: `${decoded}A`, auth }, 404)
  const viewer = await operator.send('POST', '/admin/tokens', {
    email: 'viewer@example.com',
    role: 'viewer',
  })
  const viewing = operatorAt(stack.proxyUrl, viewer.token)
  await viewing.send('POST', '/admin/connect', { token: decoded }, 403)
  // A credential decides where its secrets are sent, so whose secret it names is for an administrator.
  const hand = await operator.send('POST', '/admin/tokens', {
    email: 'hand@example.com',
    role: 'operator',
  })
  const ref = {
    type: 'oauth2_client_credentials',
    token_url: 'https://collector.example/token',
    client_id: 'us',
    client_secret: { ref: 'env:AGW_SECRET_PAYMENTS' },
  }
  const handing = operatorAt(stack.proxyUrl, hand.token)
  const refused = await handing.send('POST', '/admin/connect', { token: decoded, auth: ref }, 403)
  assert.equal(refused.details.role, 'admin')
  const given = await handing.send('POST', '/admin/connect', { token: decoded, auth })
  assert.equal((await get(own, agent)).seen, 'Bearer given')
  await operator.send('POST', '/admin/connect', { token: decoded, auth }, 404)

  // A link for one that cannot be used any more gives that one another credential.
  const path = `/admin/integrations/${own.integration_id}/connections/${given.connection_id}`
  await operator.send('PATCH', path, { status: 'revoked' })
  const again = (await get(own, agent)).answer.json().details
  assert.equal(again.connection_id, given.connection_id)
  const [, , next = ''] = new URL(again.connect_url).hash.split('/')
  const renewed = {
    token: decodeURIComponent(next),
    auth: { type: 'bearer', token: `renewed${MARK}` },
  }
  await operator.send('POST', '/admin/connect', renewed)
  assert.equal((await get(own, agent)).seen, 'Bearer renewed')

  // The scope names another one, which is then deleted behind its back.
  const named = await connect(own, 'named')
  const { connection_id } = named
  await operator.send('PATCH', `/admin/scopes/${scope_id}`, { connection_id })
  assert.equal((await get(own, agent)).seen, 'Bearer named')
})
