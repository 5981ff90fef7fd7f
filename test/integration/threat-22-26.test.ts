import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const { operator } = stack

/** A call of the admin API as it is, with whatever status. */
async function admin(
  method: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(stack.proxyUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${stack.adminToken}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, text, json: text === '' ? null : JSON.parse(text) }
}

test('threat 22: the id of a deleted agent is never given again', async () => {
  const { agent_id, api_key } = await operator.makeAgent({ agent_id: 'threat-22' })
  await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'test' })
  await operator.send('DELETE', `/admin/agents/${agent_id}`)
  const again = await admin('POST', '/admin/agents', { agent_name: 'again', agent_id })
  assert.equal(again.status, 409)
  assert.equal(again.json.error, 'conflict')
  const access = await stack.makeAccess()
  const answer = await call({
    to: stack.proxyUrl,
    path: `/${access.base_url}/x`,
    headers: { authorization: `Bearer ${api_key}` },
  })
  assertRefusal(answer, 401, 'invalid_api_key')
})

test('threat 22: a kill is ended by a reactivation alone', async () => {
  const access = await stack.makeAccess()
  const { agent_id } = access.agent
  const ask = () => stack.callAs(access, '/x')
  await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'test' })
  assertRefusal(await ask(), 403, 'agent_killed')
  for (const patch of [
    { status: 'active' },
    { killed_at: null },
    { revision: 99 },
    { agent_id: 'another' },
  ])
    assert.equal(
      (await admin('PATCH', `/admin/agents/${agent_id}`, patch)).status,
      400,
      JSON.stringify(patch),
    )
  const { status } = await admin('POST', `/admin/agents/${agent_id}/keys`, { name: 'new' })
  assert.equal(status, 409)
  await operator.send('PATCH', `/admin/agents/${agent_id}`, { agent_name: 'renamed' })
  const sent = stack.api.mark()
  assertRefusal(await ask(), 403, 'agent_killed')
  assert.equal(sent().length, 0)
  await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'test' })
  assert.equal((await ask()).status, 200)
})

test('threat 24: what headers alone decide is refused before the body comes', async () => {
  const access = await stack.makeAccess({
    rules: [{ methods: ['POST'], paths: ['/allowed'] }],
    scope: { mcp_tools: { allow: ['*'], deny: ['x'] }, max_body_bytes: 1000 },
  })
  const large = '8000000'
  const rows = [
    {
      path: `/${access.base_url}/denied`,
      key: access.headers.authorization,
      error: 'permission_denied',
    },
    {
      path: `/${access.base_url}/allowed`,
      key: access.headers.authorization,
      error: 'request_too_large',
    },
    { path: `/${access.base_url}/allowed`, key: 'Bearer nonsense', error: 'invalid_api_key' },
    {
      path: '/https://nobody.test/x',
      key: access.headers.authorization,
      error: 'integration_not_found',
    },
  ]
  for (const { path, key, error } of rows) {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}\r\nContent-Length: ${large}\r\n\r\n`
    const answer = await firstBytes(head)
    assert.ok(answer.includes(`x-agw-reason: ${error}`), `${error}: ${answer.slice(0, 300)}`)
  }
})

/** Sends a head and no body, and returns what comes back. */
function firstBytes(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(stack.proxyUrl)
    const socket = connect(Number(port), hostname, () => socket.write(head))
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer without the body')))
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(bytes.toString('latin1'))
    })
    socket.once('error', reject)
  })
}

test('threat 24: requests, connections and memory have bounds in Envoy', async () => {
  const config = await stack.envoyAdmin('/config_dump')
  for (const bound of [
    '"request_timeout"',
    '"stream_idle_timeout"',
    '"max_active_downstream_connections"',
    '"max_heap_size_bytes"',
    '"per_connection_buffer_limit_bytes"',
    '"max_concurrent_streams"',
  ])
    assert.ok(config.includes(bound), bound)
})

test('threat 24: a call that comes back is ended by its Via', async () => {
  const access = await stack.makeAccess()
  const sent = stack.api.mark()
  const ask = (via?: string) =>
    stack.callAs(access, '/x', { headers: via === undefined ? {} : { via } })
  await ask('1.1 somebody')
  const via = sent()[0]?.header('via') ?? ''
  assert.match(via, /^1\.1 somebody, 1\.1 agw-[\w-]+$/)
  assertRefusal(await ask(via), 508, 'loop_detected')
  assertRefusal(await ask(via.split(', ')[1]?.replace('1.1', '2')), 508, 'loop_detected')
  assert.equal(sent().length, 1)
})

test('threat 26: an Idempotency-Key belongs to one token and one request', async () => {
  const key = `threat-26-${Date.now()}`
  const body = { agent_name: 'made once' }
  const first = await admin('POST', '/admin/agents', body, { 'idempotency-key': key })
  assert.equal(first.status, 201)
  const again = await admin('POST', '/admin/agents', body, { 'idempotency-key': key })
  assert.deepEqual([again.status, again.json], [201, first.json])
  const other = await admin(
    'POST',
    '/admin/agents',
    { agent_name: 'another' },
    { 'idempotency-key': key },
  )
  assert.equal(other.status, 409)
  const path = await admin('POST', '/admin/keys', { name: 'x' }, { 'idempotency-key': key })
  assert.equal(path.status, 409)

  const { token } = await operator.send('POST', '/admin/tokens', {
    name: 'second',
    email: 'second@example.test',
    role: 'admin',
  })
  const second = await admin('POST', '/admin/agents', body, {
    'idempotency-key': key,
    authorization: `Bearer ${token}`,
  })
  assert.equal(second.status, 201)
  assert.notEqual(second.json.agent_id, first.json.agent_id)
  const nobody = await admin('POST', '/admin/agents', body, {
    'idempotency-key': key,
    authorization: 'Bearer nobody-at-all',
  })
  assert.equal(nobody.status, 401)
  assert.ok(!nobody.text.includes(first.json.api_key))
})

test('threat 26: a stored response is sealed and expires after ten minutes', async () => {
  const { json } = await admin(
    'POST',
    '/admin/agents',
    { agent_name: 'secret' },
    { 'idempotency-key': `sealed-${Date.now()}` },
  )
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  after(() => redis.disconnect())
  const names = await redis.keys('*idempotency*')
  assert.ok(names.length > 0)
  for (const name of names) {
    const left_s = await redis.ttl(name)
    assert.ok(left_s > 0 && left_s <= 600, `${left_s} s`)
    const kept = JSON.stringify(await redis.hgetall(name))
    assert.ok(!kept.includes(json.api_key) && !kept.includes('agw_live_'))
  }
})
