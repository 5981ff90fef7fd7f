import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { operatorAt } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'

/** A stack without exemptions: no private address, and no admin API on the listener of agents. */
const stack = await startAll({ AGW_EGRESS_ALLOW_CIDRS: '', AGW_PROXY_ADMIN: 'off' })
after(() => stopAll(stack))
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const { agent_id, api_key } = await operator.makeAgent()
const headers = { authorization: `Bearer ${api_key}` }
const port = stack.api.ports.http

/** Hosts whose addresses no integration may reach, though an operator has set them up. */
const hosts: Record<string, readonly string[]> = {
  '127.0.0.1': [],
  localhost: [],
  '10.0.0.1': [],
  '172.16.0.1': [],
  '192.168.1.1': [],
  '100.64.0.1': [],
  '169.254.169.254': [],
  '168.63.129.16': [],
  '0.0.0.0': [],
  '224.0.0.1': [],
  '255.255.255.255': [],
  '[::1]': [],
  '[::]': [],
  '[fd00::1]': [],
  '[fe80::1]': [],
  '[64:ff9b::7f00:1]': [],
  '[2002:7f00:1::]': [],
  '[ff02::1]': [],
  'loopback.test': ['127.0.0.1'],
  'loopback6.test': ['::1'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:7f00:1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'mixed.test': ['127.0.0.1', '10.0.0.1'],
  'unique-local.test': ['fd00::1'],
}

const isName = (host: string): boolean => /[a-z]$/.test(host)
const explain = (url: string) =>
  operator.send('POST', '/admin/explain', { agent_id, method: 'GET', url })

for (const [host, addresses] of Object.entries(hosts)) {
  test(`threat 6: an integration at ${host} reaches nothing`, async () => {
    if (addresses.length > 0) stack.dns.set(host, addresses)
    const base_url = `http://${host}:${port}`
    const { integration_id } = await operator.makeIntegration(base_url)
    await operator.makeScope(agent_id, integration_id)
    const connections = stack.api.connections()
    for (const http_version of ['1.1', '2'] as const) {
      const answer = await call({
        to: stack.proxyUrl,
        path: `/${base_url}/x`,
        headers,
        http_version,
      })
      assertRefusal(answer, 502, 'upstream_unreachable', { base_url })
    }
    assert.equal(stack.api.connections(), connections, 'a connection was opened')
    const explained = await explain(`${base_url}/x`)
    if (isName(host)) {
      assert.deepEqual([explained.answer, explained.details], ['allowed', {}])
      return
    }
    assert.deepEqual([explained.answer, explained.error], ['refused', 'upstream_unreachable'])
    assert.equal(explained.details.base_url, base_url)
    assert.match(explained.details.cause, / Connections to it are refused/)
    assert.notEqual(explained.scope, null)
  })
}

for (const host of [
  '127.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[fe80::1%25lo]',
]) {
  test(`an address is taken in its one plain spelling, not as ${host}`, async () => {
    const connections = stack.api.connections()
    const answer = await call({ to: stack.proxyUrl, path: `/http://${host}:${port}/x`, headers })
    assert.ok([400, 502].includes(answer.status), answer.body.toString())
    if (answer.status === 400) {
      assertRefusal(answer, 400, 'invalid_target_url')
      const body = {
        name: `as ${host}`,
        base_url: `http://${host}:${port}`,
        auth: { type: 'none' },
      }
      await operator.send('POST', '/admin/integrations', body, 400)
    }
    assert.equal(stack.api.connections(), connections)
  })
}

test('the echo API of the stack is exempt, at its exact address alone', async () => {
  const { integration_id } = await operator.makeIntegration(stack.echoOrigin, {
    name: 'echo of a test',
  })
  await operator.makeScope(agent_id, integration_id)
  const answer = await call({ to: stack.proxyUrl, path: `/${stack.echoOrigin}/anything`, headers })
  assert.equal(answer.status, 200)
  assert.equal((await explain(`${stack.echoOrigin}/anything`)).answer, 'allowed')
  const neighbour = `http://localhost:${new URL(stack.echoOrigin).port}`
  const other = await operator.makeIntegration(neighbour)
  await operator.makeScope(agent_id, other.integration_id)
  const refused = await call({ to: stack.proxyUrl, path: `/${neighbour}/anything`, headers })
  assertRefusal(refused, 502, 'upstream_unreachable')
})

test('threat 6: /admin on the proxy can be switched off', async () => {
  for (const path of ['/admin/agents', '/admin', '/admin/']) {
    const answer = await call({
      to: stack.proxyUrl,
      path,
      headers: { authorization: `Bearer ${stack.adminToken}` },
    })
    assertRefusal(answer, 400, 'invalid_target_url')
  }
  assert.equal((await operator.send('GET', '/admin/agents')).data.length, 1)
  // The door for agents is there, and leads nowhere else.
  const me = await call({ to: stack.proxyUrl, path: '/.well-known/agw/me', headers })
  assert.equal(me.json().agent_id, agent_id)
})

test('threat 6: sign-ins that fail are slowed down, whatever address the caller claims', async () => {
  let refused = 0
  for (let i = 0; i < 40; i++) {
    const answer = await fetch(`${stack.apiUrl}/admin/agents`, {
      headers: {
        authorization: `Bearer guess-number-${i}`,
        'x-forwarded-for': `203.0.113.${i}`,
        forwarded: `for=203.0.113.${i}`,
      },
    })
    if (answer.status === 429) {
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
      refused++
    } else assert.equal(answer.status, 401)
    await answer.arrayBuffer()
  }
  assert.ok(refused >= 15, `${refused} of 40 were slowed down`)
})
