import assert from 'node:assert/strict'
import { before, test as nodeTest } from 'node:test'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { SCOPE_DEFAULTS, type Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { tryOnHistory } from '../../admin/try/try-on-history.ts'
import { withUnsaved } from '../../admin/try/unsaved-scope.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { sharedPool } from '../kit/scan-fixture.ts'
import { unitStore } from '../kit/unit-store.ts'
import { anAgent, anIntegration, aScope } from './policy-kit.ts'

const ORG = 'org_default'
const NOW = Date.parse('2026-06-08T00:00:00.000Z')
let redis: RedisClient

before(async () => {
  redis = (await unitStore()).redis
})

function test(name: string, run: () => Promise<void>): void {
  nodeTest(name, async () => {
    await redis.flushall()
    await run()
  })
}

const INTEGRATION = anIntegration('https://api.example.com/v1', { integration_id: 'int_a' })
const SCOPE = aScope({
  scope_id: 'scp_a',
  agent_id: 'agt_a',
  integration_id: 'int_a',
  rules: [{ methods: ['GET'], paths: ['/models/**'] }],
})
const POLICY = {
  agent: anAgent({ agent_id: 'agt_a' }),
  killed_at: null,
  locks: [],
  connections: [],
  unlisted_hosts: 'refuse' as const,
  scopes: [SCOPE],
  integrations: [INTEGRATION],
}
const BODY_MAX = 8_000_000
const withRules = (rules: Scope['rules']): readonly Scope[] => [{ ...SCOPE, rules }]

/** A call of the agent, so many ms ago. */
async function stored(change: Partial<ActivityEntry>, age_ms = 1000): Promise<void> {
  const made_ms = NOW - age_ms
  const entry = {
    ...activityEntry('request_allowed'),
    organization_id: ORG,
    agent_id: 'agt_a',
    integration_id: 'int_a',
    method: 'GET',
    endpoint: '/v1/models/a',
    timestamp: new Date(made_ms).toISOString(),
    ...change,
  }
  await redis.xadd(REDIS_KEYS.activity(ORG), `${made_ms}-*`, 'e', JSON.stringify(entry))
}

const trial = (scopes: readonly Scope[], from_ms = 0) =>
  tryOnHistory(
    { redis, nowMs: () => performance.now() },
    ORG,
    POLICY,
    scopes,
    { from_ms, to_ms: null },
    BODY_MAX,
  )

test('a trial counts the refused calls that would pass, by method and path, and no others', async () => {
  await stored({}, 9000)
  for (const age of [8000, 7000, 6000])
    await stored({ method: 'POST', endpoint: '/v1/refunds' }, age)
  await stored({ method: 'DELETE', endpoint: '/v1/refunds' }, 5000)
  await stored({ method: 'POST', endpoint: '/v1/refunds', agent_id: 'agt_b' }, 4000)
  await stored({ method: null, endpoint: null, event: 'agent_killed' }, 3000)
  await stored({ integration_id: 'int_deleted' }, 2000)
  const rules = [...SCOPE.rules, { methods: ['POST'], paths: ['/refunds'] }]
  const found = await trial(withRules(rules))
  assert.equal(found.calls, 5)
  assert.equal(found.would_pass, 3)
  assert.equal(found.would_be_refused, 0)
  assert.equal(found.complete, true)
  assert.deepEqual(
    found.changes.map(({ method, endpoint, before: was, after, error, count }) => [
      method,
      endpoint,
      was,
      after,
      error,
      count,
    ]),
    [['POST', '/v1/refunds', 'refused', 'allowed', 'permission_denied', 3]],
  )
})

test('a trial counts the calls that would be refused', async () => {
  await stored({}, 3000)
  await stored({ endpoint: '/v1/models/b' }, 2000)
  const found = await trial(withRules([{ methods: ['GET'], paths: ['/models/a'] }]))
  assert.equal(found.would_pass, 0)
  assert.equal(found.would_be_refused, 1)
  assert.equal(found.changes[0]?.endpoint, '/v1/models/b')
  assert.equal(found.changes[0]?.error, 'permission_denied')
})

test('a killed agent counts as active, since its scopes are what is tried', async () => {
  await stored({ method: 'POST', endpoint: '/v1/refunds' })
  const policy = { ...POLICY, killed_at: '2026-06-07T00:00:00.000Z' }
  const scopes = withRules([{ methods: ['POST'], paths: ['/refunds'] }])
  const range = { from_ms: 0, to_ms: null, now_ms: NOW }
  const parts = { redis, nowMs: () => performance.now() }
  assert.equal((await tryOnHistory(parts, ORG, policy, scopes, range, BODY_MAX)).would_pass, 1)
})

test('a trial looks only at its range', async () => {
  await stored({ method: 'POST', endpoint: '/v1/refunds' }, 3_600_000)
  await stored({ method: 'POST', endpoint: '/v1/refunds' }, 1000)
  const scopes = withRules([{ methods: ['POST'], paths: ['/refunds'] }])
  assert.equal((await trial(scopes)).would_pass, 2)
  assert.equal((await trial(scopes, NOW - 60_000)).would_pass, 1)
})

test('a trial judges again what its scope has refused: tools, rate, sizes, batches and sockets', async () => {
  const limits = {
    mcp_tools: { allow: ['read_*'], deny: [] },
    rate_limiting: { ...SCOPE.rate_limiting, requests_per_minute: 10 },
    max_body_bytes: 1_000,
  }
  const now = { ...SCOPE, ...limits }
  const blocked = (reason: Reason, more: Partial<ActivityEntry>): Promise<void> =>
    stored({ event: 'request_rejected', decision: 'blocked', reason, ...more })
  for (const tool_name of ['write_file', 'drop_table', null])
    await blocked('mcp_tool_blocked', { data: { tool_name } })
  for (const current_rpm of [11, 12, 40, undefined])
    await blocked('rate_limit_exceeded', { data: { current_rpm } })
  for (const bytes_in of [1_500, 9_000_000, null]) await blocked('request_too_large', { bytes_in })
  for (const batch of ['unread', 'elsewhere'])
    await blocked('permission_denied', { data: { batch } })
  await blocked('upgrade_not_supported', { status: 426 })
  // Not of the scope: it stays as it is.
  await blocked('upstream_timeout', {})
  const passing = async (change: Partial<Scope>): Promise<unknown> => {
    const policy = { ...POLICY, scopes: [now] }
    const parts = { redis, nowMs: () => performance.now() }
    const range = { from_ms: 0, to_ms: null }
    const found = await tryOnHistory(parts, ORG, policy, [{ ...now, ...change }], range, BODY_MAX)
    assert.equal(found.would_be_refused, 0)
    return found.would_pass
  }
  const upgrade = { methods: ['GET'], paths: ['/models/a'], upgrade: ['websocket'] }
  assert.equal(await passing({}), 0)
  assert.equal(await passing({ mcp_tools: { allow: ['read_*', 'write_file'], deny: [] } }), 1)
  assert.equal(
    await passing({ rate_limiting: { ...limits.rate_limiting, requests_per_minute: 12 } }),
    2,
  )
  assert.equal(await passing({ max_body_bytes: 1_500 }), 1)
  assert.equal(await passing({ max_body_bytes: null }), 1)
  assert.equal(await passing({ allow_batches: true }), 1)
  // A socket hides which tools are called.
  const rules = [...SCOPE.rules, upgrade] as Scope['rules']
  assert.equal(await passing({ rules }), 0)
  assert.equal(await passing({ rules, mcp_tools: SCOPE_DEFAULTS.mcp_tools }), 4)
})

test('a trial ends with its time, and says how far it came', async () => {
  for (let i = 0; i < 450; i++) await stored({}, 10_000 - i)
  let now_ms = 0
  const parts = { redis, nowMs: () => (now_ms += 900) }
  const range = { from_ms: 0, to_ms: null, now_ms: NOW }
  const found = await tryOnHistory(parts, ORG, POLICY, [SCOPE], range, BODY_MAX)
  assert.equal(found.complete, false)
  assert.ok(found.calls < 450, String(found.calls))
  assert.ok(found.since !== null && Date.parse(found.since) > NOW - 10_000)
})

test('a trial lists at most 50 different calls and counts all', async () => {
  for (let i = 0; i < 70; i++) await stored({ method: 'POST', endpoint: `/v1/x${i}` }, 1000 - i)
  const found = await trial(withRules([{ methods: ['*'], paths: ['/**'] }]))
  assert.equal(found.would_pass, 70)
  assert.equal(found.changes.length, 50)
})

const OWNER = {
  organization_id: ORG,
  agent_id: 'agt_a',
  max_body_bytes: 1000,
  created_at: '2026-06-08T00:00:00.000Z',
  checker: {
    scans: sharedPool(),
    owner: { organization_id: ORG, agent_id: 'tok_a', isGone: () => false },
  },
}
const unsaved = { name: 'n', integration_id: 'int_a', rules: [] }

test('an unsaved scope replaces the one that it names, and has the defaults of a saved one', async () => {
  const replaced = await withUnsaved([SCOPE], { ...unsaved, scope_id: 'scp_a' }, OWNER)
  assert.ok(replaced.ok)
  assert.equal(replaced.scopes.length, 1)
  assert.equal(replaced.scopes[0]?.scope_id, 'scp_a')
  assert.equal(replaced.scopes[0]?.created_at, SCOPE.created_at)
  assert.deepEqual(replaced.scopes[0]?.rate_limiting, SCOPE_DEFAULTS.rate_limiting)
  const added = await withUnsaved(
    [SCOPE],
    { ...unsaved, rules: [{ methods: ['get'], paths: ['/'] }] },
    OWNER,
  )
  assert.ok(added.ok)
  assert.equal(added.scopes.length, 2)
  assert.deepEqual(added.scopes[1]?.rules, [{ methods: ['GET'], paths: ['/'] }])
})

test('an unsaved scope is refused as a saved one would be', async () => {
  const rows: readonly [object, RegExp][] = [
    [{ rules: [{ methods: ['GET'], paths: ['models'] }] }, /^\/scope\/rules\/0\/paths\/0 /],
    [{ rules: [{ methods: ['GET'], paths: ['/a?b'] }] }, /^\/scope\/rules\/0\/paths\/0 /],
    [{ max_body_bytes: 1001 }, /^\/scope\/max_body_bytes /],
    [{ scope_id: 'scp_other' }, /^\/scope\/scope_id /],
    [{ scope_id: 'scp_a', integration_id: 'int_b' }, /^\/scope\/scope_id /],
    [
      {
        injection_detection: { ...SCOPE_DEFAULTS.injection_detection, custom_patterns: ['('] },
      },
      /^\/scope\/injection_detection\/custom_patterns\/0 /,
    ],
  ]
  for (const [change, problem] of rows) {
    const tried = await withUnsaved([SCOPE], { ...unsaved, ...change }, OWNER)
    assert.equal(tried.ok, false, JSON.stringify(change))
    if (tried.ok) continue
    const { issues } = tried.refusal.details as {
      issues: readonly { path: string; message: string }[]
    }
    assert.match(`${issues[0]?.path} ${issues[0]?.message}`, problem)
  }
})
