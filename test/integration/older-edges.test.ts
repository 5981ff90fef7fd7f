import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { EDGE_MEMBERS, type EdgeMember } from '../../core/store/edge-members.ts'
import { type AdminOnStore, adminOnStore } from '../kit/admin-on-store.ts'
import type { Json } from '../kit/admin-in-process.ts'
import { startTestEdge, type TestEdge } from '../kit/test-edge.ts'

// A deployment whose edges are not all of one version yet, by the admin API.

let store: AdminOnStore
let old: TestEdge
let today: TestEdge
const made: Json = {}
const members = Object.keys(EDGE_MEMBERS) as EdgeMember[]

before(async () => {
  store = await adminOnStore()
  const { call } = store.admin
  made.agent = (await call('POST', '/admin/agents', { body: { agent_name: 'bot' } })).body
  const api = { name: 'api', base_url: 'https://api.example.com', auth: { type: 'none' } }
  made.api = (await call('POST', '/admin/integrations', { body: api })).body
  today = await startTestEdge(store.valkey.url, 'edge-of-today', { knows: members })
  old = await startTestEdge(store.valkey.url, 'edge-of-old', { version: '0.2.0' })
})
after(async () => {
  await today.stop()
  await old.stop().catch(() => undefined)
  await store.stop()
})

test('what an older edge would ignore is refused, and nothing is stored, until that edge is gone', async () => {
  const { agent_id } = made.agent
  const { integration_id } = made.api
  const rules = [{ methods: ['GET'], paths: ['/**'] }]
  const scope = { name: 'x', agent_id, integration_id, rules }
  const selector = { match_labels: { team: 'x' } }
  const { agent_id: _, ...by_labels } = { ...scope, agent_selector: selector }
  const { integration_id: __, ...of_labels } = { ...scope, integration_selector: selector }
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const connections = `/admin/integrations/${integration_id}/connections`
  const rows: readonly [EdgeMember, string, object][] = [
    ['scope_expires_at', '/admin/scopes', { ...scope, expires_at: later }],
    ['scope_not_before', '/admin/scopes', { ...scope, not_before: later }],
    ['rule_approval', '/admin/scopes', { ...scope, rules: [{ ...rules[0], approval: {} }] }],
    ['rate_per_scope', '/admin/scopes', { ...scope, rate_limiting: { per: 'scope' } }],
    ['agent_selector', '/admin/scopes', by_labels],
    ['integration_selector', '/admin/scopes', of_labels],
    ['connections', connections, { name: 'x', auth: { type: 'none' } }],
  ]
  const send = (path: string, body: object) => store.admin.call('POST', path, { body })
  for (const [member, path, body] of rows) {
    const refused = await send(path, body)
    assert.equal(refused.status, 409, JSON.stringify(refused.body))
    assert.deepEqual(refused.body.details, {
      reason: 'edges_too_old',
      members: [member],
      edges: [{ edge_id: 'edge-of-old', version: '0.2.0' }],
    })
    assert.deepEqual((await store.admin.call('GET', path)).body.data, [], member)
  }
  // It forbids less than nothing, so it is not refused.
  assert.equal((await send('/admin/scopes', scope)).status, 201)
})

test('a lock is made, and its receipt names the edge that does not know it, also when it is asked for again', async () => {
  const body = { target: { agent_id: made.agent.agent_id } }
  const headers = { 'idempotency-key': 'lock-1' }
  const ids = new Set<string>()
  for (const isAgain of [false, true]) {
    const { status, body: lock } = await store.admin.call('POST', '/admin/locks', { body, headers })
    ids.add(lock.lock_id)
    assert.deepEqual([status, lock.complete], [201, false], String(isAgain))
    const told = lock.edges.map((one: Json) => [one.edge_id, one.is_too_old])
    assert.deepEqual(
      new Map(told),
      new Map([
        ['edge-of-today', undefined],
        ['edge-of-old', true],
      ]),
    )
  }
  assert.equal(ids.size, 1)
  await old.stop()
  const { body: later } = await store.admin.call('POST', '/admin/locks', { body })
  assert.equal(later.complete, true)
})
