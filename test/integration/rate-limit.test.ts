import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { RATE_WINDOW_MS, RateTaker } from '../../ext-proc/rate/rate-taker.ts'
import { logEntries } from '../kit/log-entries.ts'
import { type OpenCallEnd, closeOpenCalls, openCall } from '../kit/open-call.ts'
import type { Access } from '../kit/operator.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

let fleet: Fleet
let taker: RateTaker
const ORG = 'org_default'

before(async () => {
  fleet = await startFleet({ edges: [{}, {}], envoys: 'each' })
  taker = new RateTaker(fleet.redis)
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
})

let count = 0
const makeAccess = (rate_limiting: object, more: object = {}): Promise<Access> =>
  fleet.operator.makeAccess(`${fleet.upstream.origin}/r${++count}`, {
    scope: { rate_limiting, ...more },
  })

const call = (edge: number, access: Access, path: string, body?: string): Promise<OpenCallEnd> =>
  openCall(
    fleet.edges[edge]?.url ?? '',
    `${access.base_url}${path}`,
    { ...access.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body,
  ).ended

const storeTime_ms = async (): Promise<number> => {
  const [seconds, micros] = await fleet.redis.time()
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}

/** As if the calls of a minute had been made at these times. */
async function fillLog({ agent, scope_id }: Access, times_ms: readonly number[]): Promise<void> {
  await fleet.redis.rpush(REDIS_KEYS.rateLog(ORG, agent.agent_id, scope_id), ...times_ms)
}

test('a limit per scope is shared by all agents that the scope selects', async () => {
  const labels = { crew: `c${Date.now()}` }
  const { integration } = await makeAccess({ requests_per_minute: 5 })
  const agents = await Promise.all([1, 2].map(() => fleet.operator.makeAgent({ labels })))
  for (const [per, limit, statuses] of [
    ['agent', 2, [200, 200, 200, 200, 429, 429]],
    ['scope', 3, [200, 200, 200, 429, 429, 429]],
  ] as const) {
    const scope = await fleet.operator.send('POST', '/admin/scopes', {
      name: `crew ${per}`,
      agent_selector: { match_labels: labels },
      integration_id: integration.integration_id,
      rules: [{ methods: ['GET'], paths: [`/${per}`] }],
      rate_limiting: { requests_per_minute: limit, per },
    })
    assert.equal(scope.rate_limiting.per, per)
    const made: number[] = []
    for (let i = 0; i < statuses.length; i++) {
      const headers = { authorization: `Bearer ${agents[i % 2]?.api_key}` }
      const edge = fleet.edges[i % 2]?.url
      made.push((await fetch(`${edge}/${integration.base_url}/${per}`, { headers })).status)
    }
    assert.deepEqual(made, statuses)
  }
})

test('a limit holds across edges and for one scope alone; the refusal says when to come back', async () => {
  const access = await makeAccess({ requests_per_minute: 5 })
  const other = await makeAccess({ requests_per_minute: 5 })
  for (const [i, edge] of [0, 1, 0, 1, 0].entries()) {
    const answer = await fetch(`${fleet.edges[edge]?.url}/${access.base_url}/a`, {
      headers: access.headers,
    })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('ratelimit-policy'), '"scope";q=5;w=60')
    assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`^"scope";r=${4 - i};t=\\d+$`))
  }
  for (const edge of [0, 1]) {
    const answer = await fetch(`${fleet.edges[edge]?.url}/${access.base_url}/over`, {
      headers: access.headers,
    })
    const body = (await answer.json()) as any
    assert.equal(answer.status, 429)
    assert.equal(body.error, 'rate_limit_exceeded')
    assert.equal(body.details.limit, 5)
    const wait_s = body.details.retry_after_seconds
    assert.ok(wait_s >= 1 && wait_s <= 61)
    assert.equal(answer.headers.get('x-agw-reason'), 'rate_limit_exceeded')
    assert.equal(answer.headers.get('retry-after'), String(wait_s))
    assert.equal(answer.headers.get('ratelimit-policy'), '"scope";q=5;w=60')
    assert.equal(answer.headers.get('ratelimit'), `"scope";r=0;t=${wait_s}`)
  }
  assert.equal((await call(0, other, '/a')).status, 200)
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/over')))
})

test('a call is allowed when the one that is as many ago as the limit is older than the window', async () => {
  const access = await makeAccess({ requests_per_minute: 3 })
  const counter = { organization_id: ORG, ...access.agent, scope_id: access.scope_id, limit: 3 }
  const now_ms = await storeTime_ms()
  const taker = new RateTaker(fleet.redis, () => now_ms)
  await fillLog(access, [now_ms - 1_000, now_ms - 2_000, now_ms - 30_000])
  const refused = await taker.take(counter)
  assert.equal(refused.kind, 'refused')
  if (refused.kind === 'refused') {
    assert.equal(refused.retry_after_s, 31)
    assert.equal(refused.current_rpm, 4)
  }
  await fleet.redis.lset(
    REDIS_KEYS.rateLog(ORG, access.agent.agent_id, access.scope_id),
    2,
    now_ms - RATE_WINDOW_MS,
  )
  assert.equal((await taker.take(counter)).kind, 'allowed')
  assert.equal((await taker.take(counter)).kind, 'refused')
  // A higher limit makes room at once, a lower one takes it.
  assert.equal((await taker.take({ ...counter, limit: 4 })).kind, 'allowed')
  assert.equal((await taker.take({ ...counter, limit: 2 })).kind, 'refused')
})

test('a call that is slightly too early is delayed until it is allowed', async () => {
  const access = await makeAccess({ requests_per_minute: 2 })
  const counter = { organization_id: ORG, ...access.agent, scope_id: access.scope_id, limit: 2 }
  const log = REDIS_KEYS.rateLog(ORG, access.agent.agent_id, access.scope_id)
  const oldest_ms = (await storeTime_ms()) - RATE_WINDOW_MS + 200
  await fillLog(access, [oldest_ms + 30_000, oldest_ms])
  assert.equal((await taker.take(counter)).kind, 'allowed')
  assert.ok((await storeTime_ms()) >= oldest_ms + RATE_WINDOW_MS - 1)
  // The same at a time that stands still: what is noted of a call is the time until which it is held.
  const atOnce = new RateTaker(fleet.redis, () => oldest_ms + RATE_WINDOW_MS - 200)
  await fleet.redis.del(log)
  await fillLog(access, [oldest_ms + 30_000, oldest_ms])
  assert.equal((await atOnce.take(counter)).kind, 'allowed')
  assert.deepEqual((await fleet.redis.lrange(log, 0, -1)).map(Number), [
    oldest_ms + RATE_WINDOW_MS,
    oldest_ms + 30_000,
  ])
  assert.equal((await atOnce.take(counter)).kind, 'refused')
  // Of many that are early at once, no more are held than there are places.
  await fleet.redis.del(log)
  await fillLog(access, [oldest_ms, oldest_ms])
  const taken = await Promise.all(Array.from({ length: 20 }, () => atOnce.take(counter)))
  assert.equal(taken.filter(({ kind }) => kind === 'allowed').length, 2)
})

test('a very high limit is counted in shares and never passed', async () => {
  const counter = {
    organization_id: ORG,
    agent_id: 'agt_many',
    scope_id: 'scp_many',
    limit: 25_000,
  }
  let allowed = 0
  for (let i = 0; i < 26; i++) {
    const all = await Promise.all(Array.from({ length: 1000 }, () => taker.take(counter)))
    allowed += all.filter(({ kind }) => kind === 'allowed').length
  }
  // What is taken in advance and not used is a 500th, and more on a slow machine, where the time of a share may end.
  assert.ok(allowed <= 25_000 && allowed >= 24_500, String(allowed))
  assert.ok((await fleet.redis.llen(REDIS_KEYS.rateLog(ORG, 'agt_many', 'scp_many'))) <= 10_000)
})

test('spelling does not choose a weaker limit, nor a second one', async () => {
  const access = await makeAccess(
    { requests_per_minute: 2 },
    { rules: [{ methods: ['GET'], paths: ['/models'] }], priority: 1 },
  )
  await fleet.operator.makeScope(access.agent.agent_id, access.integration.integration_id, {
    rate_limiting: { requests_per_minute: 100 },
  })
  assert.equal((await call(0, access, '/models')).status, 200)
  assert.equal((await call(1, access, '/Models')).status, 200)
  assert.equal((await call(0, access, '/MODELS')).status, 429)
  assert.equal((await call(0, access, '/models')).status, 429)
  assert.equal((await call(0, access, '/other')).status, 200)
})

test('no key, method or spelling of the target gives a second allowance', async () => {
  const access = await makeAccess({ requests_per_minute: 7 })
  const shared = await fleet.operator.makeOrganizationKey()
  const second = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/keys`, {
    name: 'second',
  })
  const target = new URL(access.base_url)
  const own = access.headers
  const agent = { 'x-agw-agent-id': access.agent.agent_id }
  const ways: [method: string, target: string, headers: Record<string, string>][] = [
    ['GET', `${access.base_url}/a`, own],
    ['HEAD', `${access.base_url}/a`, own],
    ['DELETE', `HTTP://127.0.0.1:${target.port}${target.pathname}/a`, own],
    ['GET', `http:/127.0.0.1:${target.port}${target.pathname}/a?x=1`, own],
    ['GET', `${access.base_url}/%61/`, own],
    ['GET', `${access.base_url}/a`, { authorization: `Bearer ${second.key}` }],
    ['GET', `${access.base_url}/a`, { authorization: `Bearer ${shared.key}`, ...agent }],
  ]
  const statusOf = async ([method, url, headers]: (typeof ways)[number], edge: number) =>
    (await fetch(`${fleet.edges[edge]?.url}/${url}`, { method, headers })).status
  for (const [i, way] of ways.entries()) assert.equal(await statusOf(way, i % 2), 200, way[1])
  for (const [i, way] of ways.entries()) assert.equal(await statusOf(way, i % 2), 429, way[1])
})

test('a call with a body is limited before its body is looked at, and without a limit nothing is counted', async () => {
  const access = await makeAccess(
    { requests_per_minute: 1 },
    { injection_detection: { enabled: true }, max_body_bytes: 100 },
  )
  assert.equal((await call(0, access, '/body', '{"a":1}')).status, 200)
  assert.equal((await call(0, access, '/body', '{"a":1}')).status, 429)
  assert.equal((await call(0, access, '/body', 'x'.repeat(1000))).status, 429)
  const unlimited = await makeAccess({ requests_per_minute: null })
  const free = await fetch(`${fleet.edges[0]?.url}/${unlimited.base_url}/free`, {
    headers: unlimited.headers,
  })
  assert.equal(free.status, 200)
  for (const name of ['ratelimit', 'ratelimit-policy']) assert.equal(free.headers.has(name), false)
  const log = REDIS_KEYS.rateLog(ORG, unlimited.agent.agent_id, unlimited.scope_id)
  assert.equal(await fleet.redis.exists(log), 0)
})

test('a sustained violation kills the agent; the call that completes it is answered 429', async () => {
  const access = await makeAccess({
    requests_per_minute: 1,
    auto_kill_on_sustained_violation: true,
    violation_window_minutes: 3,
  })
  const { agent_id } = access.agent
  const violations = REDIS_KEYS.rateViolations(ORG, agent_id)
  /** As if each minute of the last ones had had a refusal, the latest of them half a minute ago. */
  const refuseAfter = async (seconds: number): Promise<void> => {
    const now_ms = await storeTime_ms()
    await fleet.redis.del(REDIS_KEYS.rateLog(ORG, agent_id, access.scope_id))
    await fillLog(access, [now_ms])
    const record = `${now_ms - seconds * 1000} ${now_ms - 30_000} 0 0 0`
    await fleet.redis.hset(violations, access.scope_id, record)
  }
  // Refusals in three minutes of the clock are not three minutes.
  await refuseAfter(175)
  assert.equal((await call(0, access, '/second-minute')).status, 429)
  assert.equal((await call(0, access, '/second-minute')).status, 429)
  await fleet.redis.del(REDIS_KEYS.rateLog(ORG, agent_id, access.scope_id))
  const running = openCall(fleet.edges[1]?.url ?? '', `${access.base_url}/sse`, access.headers)
  assert.equal(await running.answered, 200)
  await refuseAfter(180)
  const last = await call(0, access, '/third-minute')
  assert.equal(last.status, 429)
  // Before the next call, which the kill would otherwise end and count as well.
  assert.equal((await running.ended).is_whole, false)
  assert.equal((await call(1, access, '/after')).reason, 'agent_killed')
  const entries = async (event: string): Promise<any[]> => {
    const all = await logEntries(fleet.redis, ORG)
    return all.filter((entry) => entry.event === event && entry.agent_id === agent_id)
  }
  const [event] = await until('the event of the kill is written', async () => {
    const found = await entries('agent_killed')
    return found.length > 0 && found
  })
  assert.equal(event.data.kill_method, 'auto_rate_limit')
  assert.equal(event.data.triggered_by, 'system')
  assert.equal(event.data.requests_terminated, 1)
  const violation = (await entries('rate_limit_exceeded')).at(-1)
  assert.equal(violation.data.violation_minutes, 3)
  assert.equal(violation.data.action_taken, 'killed')
  assert.equal(violation.data.service, access.integration.name)
  // A reactivation forgets the violations: the next refusal does not kill again.
  await fleet.operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'test' })
  await fillLog(access, [await storeTime_ms()])
  assert.equal((await call(0, access, '/again')).status, 429)
  assert.equal((await call(0, access, '/again')).status, 429)
})

test('without the store a limited call is refused and not forwarded', async () => {
  const access = await makeAccess({ requests_per_minute: 100 })
  assert.equal((await call(0, access, '/before')).status, 200)
  await fleet.valkey.kill()
  const refused = await call(0, access, '/without-store')
  assert.equal(refused.status, 503)
  assert.equal(refused.reason, 'gateway_unavailable')
  assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/without-store')))
  await fleet.valkey.start()
  await until('calls go through again', async () => (await call(0, access, '/back')).status === 200)
})
