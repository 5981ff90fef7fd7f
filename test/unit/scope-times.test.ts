import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { resolveAlerts } from '../../admin/alerts/resolve-alerts.ts'
import { planKeyNotice } from '../../admin/keys/key-ends.ts'
import { planEndNotice, tellDueEnds } from '../../admin/scopes/scope-ends.ts'
import { lookAtCertificates } from '../../admin/status/watch-certificates.ts'
import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { commit } from '../../core/change/commit.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { decideScope } from '../../core/decision/decide-scope.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { phaseAt, scopesInForce } from '../../core/decision/scopes-in-force.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { standingOf } from '../../ext-proc/call/review-call.ts'
import { StoreClock } from '../../core/control/store-clock.ts'
import { RestrictionBoard } from '../../ext-proc/kill/restriction-board.ts'
import { PolicyStore } from '../../ext-proc/policy/policy-store.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { FakePolicyRedis } from '../kit/fake-policy-redis.ts'
import { repetitions } from '../kit/repetitions.ts'
import { unitStore } from '../kit/unit-store.ts'
import { decide, ORG, toldOf } from './decision-kit.ts'
import { aScope, anAgent, anIntegration, targetOf } from './policy-kit.ts'

const at = (second: number): string => new Date(second * 1000).toISOString()
const TABLE = compileIntegrations([
  anIntegration('https://x', { integration_id: 'int_a' }),
  anIntegration('https://y', { integration_id: 'int_b' }),
])
const ONLY_GET = [{ methods: ['GET'], paths: ['/a'] }]

function decideAt(scopes: readonly Scope[], ms: number, url = 'https://x/a', method = 'GET') {
  const target = targetOf(url)
  const { integration } = matchIntegration(TABLE, target)
  assert.ok(integration !== null)
  const all = compileScopes(scopes)
  return decideScope(scopesInForce(all, ms), TABLE, { method, target, integration })
}

const told = (...asked: Parameters<typeof decideAt>): string => {
  const decision = decideAt(...asked)
  return decision.kind === 'allowed' ? decision.scope.name : decision.reason
}

test('a scope is in force from its first moment to the one before its end', () => {
  const grant = aScope({ not_before: at(10), expires_at: at(20) })
  for (const [ms, expected] of [
    [9_999, 'scope_not_yet'],
    [10_000, 'a'],
    [19_999, 'a'],
    [20_000, 'scope_expired'],
  ] as const)
    assert.equal(told([grant], ms), expected, String(ms))
})

test('only a scope that would have allowed the call is named as one that has ended', () => {
  const ended = aScope({ name: 'ended', rules: ONLY_GET, expires_at: at(5) })
  const other = aScope({ name: 'other', rules: [{ methods: ['GET'], paths: ['/b'] }] })
  assert.equal(told([ended, other], 6_000), 'scope_expired')
  assert.equal(told([ended, other], 6_000, 'https://x/c'), 'path_not_allowed')
  assert.equal(told([ended, other], 6_000, 'https://x/a', 'POST'), 'path_not_allowed')
  assert.equal(told([ended, other], 6_000, 'https://x/b', 'POST'), 'method_not_allowed')
  assert.equal(told([ended], 6_000, 'https://x/c'), 'no_scope')
  assert.equal(told([ended], 6_000, 'https://y/a'), 'no_scope')
  const decision = decideAt([ended, other], 6_000)
  assert.ok(decision.kind === 'denied')
  assert.deepEqual(decision.agent_scopes, ['ended', 'other'])
})

test('a scope that is not in force neither governs a call nor tightens its settings', () => {
  const strict = aScope({ name: 'strict', priority: 1, max_body_bytes: 1, expires_at: at(5) })
  const weak = aScope({ name: 'weak', max_body_bytes: 9 })
  const before = decideAt([strict, weak], 4_999)
  const after = decideAt([strict, weak], 5_000)
  assert.ok(before.kind === 'allowed' && after.kind === 'allowed')
  assert.deepEqual([before.scope.name, before.settings.max_body_bytes], ['strict', 1])
  assert.deepEqual([after.scope.name, after.settings.max_body_bytes], ['weak', 9])
})

test('the view of a moment has exactly the scopes in force then', () => {
  const time = fc.option(fc.integer({ min: 0, max: 6 }), { nil: null })
  const scopes = fc.array(
    fc.record({
      not_before: time,
      expires_at: time,
      integration_id: fc.constantFrom('int_a', 'int_b'),
    }),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(
      scopes,
      fc.array(fc.integer({ min: 0, max: 7_000 }), { minLength: 1 }),
      (some, moments) => {
        const all = compileScopes(
          some.map(({ not_before, expires_at, integration_id }, i) =>
            aScope({
              scope_id: `scp_${i}`,
              integration_id,
              not_before: not_before === null ? null : at(not_before),
              expires_at: expires_at === null ? null : at(expires_at),
            }),
          ),
        )
        for (const ms of moments) {
          const found = [...scopesInForce(all, ms).by_integration.values()]
            .flatMap(({ scopes: there }) => there.map(({ scope }) => scope.scope_id))
            .sort()
          const expected = some.flatMap(({ not_before, expires_at }, i) =>
            (not_before ?? -1) * 1000 <= ms && (expires_at === null || ms < expires_at * 1000)
              ? [`scp_${i}`]
              : [],
          )
          assert.deepEqual(found, expected.sort())
          assert.equal(phaseAt(all, ms), phaseAt(all, Math.floor(ms / 1000) * 1000))
        }
      },
    ),
    { numRuns: repetitions(300) },
  )
  const timeless = compileScopes([aScope()])
  assert.equal(scopesInForce(timeless, 0), timeless)
})

const NOW = Date.parse('2026-06-01T00:00:00.000Z')
const ago = (ms: number): string => new Date(NOW - ms).toISOString()

test('a call of a scope that has ended is refused before anything is spent on it', async () => {
  const { verdict, events } = await decide({ scope: { expires_at: ago(0) } })
  assert.equal(toldOf(verdict), 'scope: permission_denied scope_expired')
  assert.deepEqual(
    events.filter((event) => /^(rate|token|body)/.test(event)),
    [],
  )
  assert.ok(verdict.kind === 'deny')
  const { scope, expires_at } = verdict.denial.details
  assert.deepEqual([scope, expires_at], ['write', ago(0)])
  const early = await decide({ scope: { not_before: ago(-1) } })
  assert.equal(toldOf(early.verdict), 'scope: permission_denied scope_not_yet')
  assert.equal(toldOf((await decide({ scope: { expires_at: ago(-1) } })).verdict), 'forward')
})

/** A call that was admitted at NOW, and what its review says at another time and with other scopes. */
async function review(admitted: Scope, later: readonly Scope[], now_ms: number) {
  const redis = new FakePolicyRedis()
  const killBoard = new RestrictionBoard(() => undefined)
  const keyRing = parseKeyRing(Buffer.alloc(32).toString('base64'))
  const key = {
    key_id: 'key_a',
    organization_id: ORG,
    agent_id: 'agt_a',
    hash: 'h',
    last4: '',
    name: '',
    agent_ids: null,
    uses: ['proxy'],
    created_at: ago(0),
    expires_at: null,
    revoked_at: null,
    revoked_by: null,
  } as const
  redis.keys.set('h', key)
  redis.agents.set('agt_a', anAgent())
  redis.scopes.set('agt_a', later)
  redis.integrations = [anIntegration('https://x', { integration_id: 'int_a' })]
  const policy = new PolicyStore({ redis: redis.client, keyRing, killBoard })
  const { scope_id, not_before = null, expires_at = null } = admitted
  const standing = standingOf(
    { policy, killBoard, nowMs: () => now_ms },
    {
      facts: {
        request: {
          method: 'GET',
          target: { ok: true, target: targetOf('https://x/a') },
          headers: [],
          upgrade: null,
          named_agents: [],
          named_users: [],
          is_proxied: false,
          installation: '',
        },
        caller: { kind: 'known', key, place: { kind: 'authorization' } },
        said: undefined,
        now_ms: NOW,
        scope: { scope_id, not_before, expires_at },
        connection_id: null,
      },
      agent: anAgent(),
      integration: { integration: anIntegration('https://x') } as never,
      scope: admitted,
      is_socket: false,
      settings: {} as never,
    },
    null,
    false,
  )
  const denial = await standing.review()
  const reason = denial === null ? 'stands' : JSON.stringify(denial.details['reason'])
  return `${reason.replaceAll('"', '')} ${standing.ends_ms ?? 'without end'}`
}

test('a running call outlives the end of its scope, unless the scope says otherwise or is changed', async () => {
  const end = ago(-1_000)
  const later = NOW + 2_000
  const grant = aScope({ expires_at: end })
  const cutting = aScope({ expires_at: end, end_streams: true })
  const open = aScope({ name: 'open', scope_id: 'scp_open' })
  for (const [admitted, stored, expected] of [
    [grant, [grant], 'stands without end'],
    [cutting, [cutting], `scope_expired ${Date.parse(end)}`],
    [cutting, [cutting, open], 'stands without end'],
    // What an operator changes is judged by the time of the change.
    [grant, [cutting], 'scope_expired without end'],
    [aScope(), [grant], 'scope_expired without end'],
    [grant, [{ ...grant, rules: [] }], 'path_not_allowed without end'],
    [grant, [{ ...grant, scope_id: 'scp_other' }], 'scope_expired without end'],
    [grant, [{ ...cutting, expires_at: ago(-9_000) }], `stands ${NOW + 9_000}`],
  ] as const)
    assert.equal(await review(admitted, stored, later), expected)
  assert.equal(await review(cutting, [cutting], NOW + 999), `stands ${Date.parse(end)}`)
})

test('an edge knows the time of the store within the error of a heartbeat, and follows when it steps', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          out_ms: fc.double({ min: 0, max: 200, noNaN: true }),
          back_ms: fc.double({ min: 0, max: 200, noNaN: true }),
        }),
        { minLength: 1 },
      ),
      fc.array(fc.integer({ min: -10_000_000, max: 10_000_000 }), { minLength: 1, maxLength: 3 }),
      (trips, steps) => {
        let now_ms = 5_000
        const clock = new StoreClock(
          () => now_ms,
          () => 0,
        )
        for (const ahead_ms of steps)
          for (const { out_ms, back_ms } of trips) {
            const sent_ms = now_ms
            now_ms += out_ms
            const store_ms = now_ms + ahead_ms
            now_ms += back_ms
            clock.learn({ store_ms, sent_ms, heard_ms: now_ms })
            // The last sample is never contradicted: it errs by half of its way at most, and so does what is known.
            const error_ms = Math.abs(clock.nowMs() - now_ms - ahead_ms)
            assert.ok(error_ms <= 400 + 1, `${error_ms}`)
            now_ms += 400
          }
      },
    ),
    { numRuns: repetitions(300) },
  )
})

let redis: RedisClient
before(async () => {
  redis = (await unitStore()).redis
})

const DAY_MS = 24 * 3600_000

test('a day before a scope ends there is one alert, which is resolved when it has ended, is deleted or ends later', async () => {
  await redis.flushall()
  const scope = aScope({ name: 'grant' })
  const hash = REDIS_KEYS.agentScopes(ORG, 'agt_a')
  await redis.hset(REDIS_KEYS.scopeOwners(ORG), scope.scope_id, 'agt_a')
  let before: string | null = null
  let now_ms = Date.now()
  /** As the route of an edit does. */
  const endAt = async (expires_at: string | null): Promise<void> => {
    const edited = { ...scope, expires_at }
    const writes = planEndNotice(edited, before, new Date(now_ms))
    const change = {
      guards: [],
      writes: [['HSET', hash, scope.scope_id, JSON.stringify(edited)], ...writes] as const,
      targets: [],
    }
    await commit(redis, change, 3_000)
    before = expires_at
  }
  /** The store cannot be told what time it is, so what is due at the time of the test is made due now. */
  const look = async (ms: number): Promise<string[]> => {
    now_ms = ms
    for (const member of await redis.zrangebyscore(REDIS_KEYS.scopeEnds, '-inf', now_ms))
      await redis.zadd(REDIS_KEYS.scopeEnds, 0, member)
    await tellDueEnds({ redis, now: () => new Date(now_ms) })
    const ids = await redis.zrange(REDIS_KEYS.alertIndex(ORG), '0', '-1')
    return await Promise.all(
      ids.map(async (id) => {
        const { status, count, title } = await redis.hgetall(REDIS_KEYS.alert(ORG, id))
        assert.match(title ?? '', /^The scope grant ends at 20/)
        return `${status} ${count}`
      }),
    )
  }
  const start_ms = now_ms
  await endAt(new Date(start_ms + 3 * DAY_MS).toISOString())
  assert.deepEqual(await look(start_ms), [])
  assert.deepEqual(await look(start_ms + 2 * DAY_MS - 1), [])
  assert.deepEqual(await look(start_ms + 2 * DAY_MS), ['open 1'])
  assert.deepEqual(await look(start_ms + 2 * DAY_MS + 9), ['open 1'])
  await endAt(new Date(start_ms + 5 * DAY_MS).toISOString())
  assert.deepEqual(await look(start_ms + 2 * DAY_MS + 10), ['resolved 1'])
  assert.deepEqual(await look(start_ms + 4 * DAY_MS), ['resolved 1', 'open 1'])
  assert.deepEqual(await look(start_ms + 5 * DAY_MS), ['resolved 1', 'resolved 1'])
  assert.equal(await redis.zcard(REDIS_KEYS.scopeEnds), 0)
  // A grant for an hour needs no alert, and neither does one that no longer ends.
  await endAt(new Date(now_ms + 3600_000).toISOString())
  assert.deepEqual(await look(now_ms + 1), ['resolved 1', 'resolved 1'])
  await endAt(null)
  assert.deepEqual(await look(now_ms + 1), ['resolved 1', 'resolved 1'])
  assert.equal(await redis.zcard(REDIS_KEYS.scopeEnds), 0)
  await endAt(new Date(now_ms + 2 * DAY_MS).toISOString())
  assert.deepEqual(await look(now_ms + DAY_MS), ['resolved 1', 'resolved 1', 'open 1'])
  await redis.hdel(hash, scope.scope_id)
  assert.deepEqual(await look(now_ms + DAY_MS), ['resolved 1', 'resolved 1', 'resolved 1'])
})

test('a key, a token and each certificate raise one alert before they end, which closes when they are gone', async () => {
  await redis.flushall()
  const now_ms = Date.now()
  const open = async (): Promise<string[]> => {
    const abouts = await redis.hkeys(REDIS_KEYS.alertsOpen(ORG))
    return abouts.map((about) => about.replace(/ [0-9A-F:]+ /, ' ')).sort()
  }
  const life = (days: number, left: number) => ({
    organization_id: ORG,
    name: 'k',
    created_at: new Date(now_ms - (days - left) * DAY_MS).toISOString(),
    expires_at: new Date(now_ms + left * DAY_MS).toISOString(),
  })
  const made = {
    key_year: life(365, 6),
    key_week: life(5, 0.9),
    key_hour: life(0.1, 0.05),
    key_far: life(90, 9),
    tok_a: life(30, 6),
  }
  for (const [id, record] of Object.entries(made)) {
    const key = id.startsWith('tok_') ? REDIS_KEYS.adminTokens(ORG) : REDIS_KEYS.apiKeys(ORG)
    const writes = [
      ['HSET', key, id, JSON.stringify(record)],
      ...planKeyNotice(id, record),
    ] as const
    await commit(redis, { guards: [], writes, targets: [] }, 3_000)
  }
  const now = (): Date => new Date(now_ms)
  await tellDueEnds({ redis, now })
  await tellDueEnds({ redis, now })
  assert.deepEqual(await open(), [
    'key_expiring key_week',
    'key_expiring key_year',
    'token_expiring tok_a',
  ])
  await redis.hdel(REDIS_KEYS.apiKeys(ORG), 'key_year')
  await resolveAlerts(redis, [ORG], now())
  assert.deepEqual(await open(), ['key_expiring key_week', 'token_expiring tok_a'])
  await resolveAlerts(redis, [ORG], new Date(now_ms + DAY_MS))
  assert.deepEqual(await open(), ['token_expiring tok_a'])
  await redis.del(REDIS_KEYS.alertsOpen(ORG))

  const [old, fresh] = [makeAuthority(now_ms - 3_621 * DAY_MS), makeAuthority(now_ms)]
  await redis.zadd(REDIS_KEYS.organizationIndex, 1, ORG)
  await redis.hset(REDIS_KEYS.forwardCa, 'ca', JSON.stringify({ certificate: old.certificate }))
  const save = (ca: string) =>
    redis.hset(
      REDIS_KEYS.webhooks(ORG),
      'whk_1',
      JSON.stringify({ name: 'w', ca_certificates: ca }),
    )
  await save(old.certificate)
  const settings = { tlsCertFile: null, caCertFile: null, organizationId: ORG }
  const look = () => lookAtCertificates({ redis, settings, now })
  await look()
  await look()
  const ca = 'certificate_expiring the CA of the forward proxy'
  assert.deepEqual(await open(), [ca, 'certificate_expiring the receiver of webhook w'])
  // Beside its successor an old CA may end, and an acknowledged alert is not raised again.
  await save(old.certificate + fresh.certificate)
  await look()
  assert.deepEqual(await open(), [ca])
  await redis.del(REDIS_KEYS.alertsOpen(ORG))
  await look()
  assert.deepEqual(await open(), [])
})
