import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { RateShares } from '../../ext-proc/rate/rate-shares.ts'
import { RATE_WINDOW_MS, RateTaker, type RateTaken } from '../../ext-proc/rate/rate-taker.ts'
import { unitStore } from '../kit/unit-store.ts'

// Calls that a busy scope takes in advance. The clocks of store and edge are the test's own.

let redis: RedisClient
before(async () => {
  ;({ redis } = await unitStore())
  // Loads the script.
  await new RateTaker(redis).take({ ...newScope(), limit: 1 })
})

const START_MS = 1_800_000_047_000
let agents = 0

/** An edge with a clock of its own, and how often it asked the store. */
function edge(clock: { ms: number }): { taker: RateTaker; asked: () => number } {
  let asked = 0
  const counted: RedisClient = Object.create(redis, {
    evalsha: {
      value: (...args: Parameters<RedisClient['evalsha']>) => {
        asked++
        return redis.evalsha(...args)
      },
    },
  })
  const taker = new RateTaker(
    counted,
    () => START_MS + Math.round(clock.ms),
    counted,
    () => clock.ms,
  )
  return { taker, asked: () => asked }
}

const newScope = () => ({
  organization_id: 'org_s',
  agent_id: `agt_${++agents}`,
  scope_id: 'scp_1',
})

const leftOf = (taken: RateTaken): number => (taken.kind === 'allowed' ? taken.left : -1)

test('a busy scope asks the store a few times a second, and each call says what is left', async () => {
  const clock = { ms: 0 }
  const { taker, asked } = edge(clock)
  const scope = newScope()
  const limit = 60_000
  let allowed = 0
  let before_left = limit
  for (; clock.ms < 500; clock.ms += 1) {
    const taken = await taker.take({ ...scope, limit })
    assert.equal(taken.kind, 'allowed')
    allowed++
    assert.ok(leftOf(taken) < before_left && leftOf(taken) <= limit - allowed)
    before_left = leftOf(taken)
  }
  // The first period is counted call by call.
  assert.ok(asked() <= 50 + 30, String(asked()))
  assert.ok(limit - before_left - allowed <= limit / 500, `${before_left} left after ${allowed}`)
})

test('who asks the store', async () => {
  const rows: readonly (readonly [
    name: string,
    limit: number,
    calls_per_s: number,
    isEachAsked: boolean,
  ])[] = [
    ['a busy scope', 60_000, 1_000, false],
    ['a busy scope with a very high limit', 10_000_000, 1_000, false],
    ['a low limit', 900, 1_000, true],
    ['a scope with few calls', 60_000, 50, true],
    ['no calls left', 0, 1_000, true],
  ]
  for (const [name, limit, calls_per_s, isEachAsked] of rows) {
    const clock = { ms: 0 }
    const { taker, asked } = edge(clock)
    const scope = newScope()
    const calls = Math.floor(calls_per_s / 4)
    for (let i = 0; i < calls; i++, clock.ms += 1_000 / calls_per_s)
      await taker.take({ ...scope, limit })
    assert.equal(asked() === calls, isEachAsked, `${name}: ${asked()} of ${calls}`)
  }
})

test('a share ends 50 ms after the store was asked, in the middle of a period too', () => {
  for (const [after_ms, has] of [
    [49, true],
    [50, false],
  ] as const) {
    let now_ms = 0
    const shares = new RateShares(() => now_ms)
    for (let i = 0; i < 10; i++) assert.equal(shares.take('scope'), null)
    now_ms = 60
    assert.equal(shares.take('scope'), null)
    const asked = shares.ask('scope', 60_000)
    shares.keep('scope', asked, { calls: asked, left: 100, reset_ms: 1_000 }, now_ms)
    // The first call after the period.
    now_ms = 101
    assert.notEqual(shares.take('scope'), null)
    now_ms = 60 + after_ms
    assert.equal(shares.take('scope') !== null, has, `after ${after_ms} ms`)
  }
})

test('the last tenth of a limit is counted call by call, to the last one', async () => {
  const clock = { ms: 0 }
  const { taker, asked } = edge(clock)
  const scope = newScope()
  const limit = 2_000
  const used = 1_700
  const log = REDIS_KEYS.rateLog(scope.organization_id, scope.agent_id, scope.scope_id)
  await redis.rpush(log, ...Array.from({ length: used }, () => START_MS))
  let allowed = 0
  let asked_early = 0
  for (; clock.ms < 400; clock.ms += 1) {
    if (clock.ms === 110) asked_early = asked()
    if ((await taker.take({ ...scope, limit })).kind === 'allowed') allowed++
  }
  // Two calls of each share, after a period without shares.
  assert.ok(asked_early < 90, String(asked_early))
  assert.equal(asked() - asked_early, 400 - 110)
  assert.ok(allowed <= limit - used && allowed >= limit - used - limit / 500, String(allowed))
})

test('no minute has more calls than the limit, and few places are lost, whatever the pattern of the calls', async () => {
  const patterns: Readonly<Record<string, (step: number) => number>> = {
    steady: () => 5,
    bursts: (step) => (step % 20 < 4 ? 25 : 0),
    'every other period': (step) => (step % 10 < 5 ? 10 : 0),
    growing: (step) => Math.floor(step / 20),
  }
  for (const [name, callsAt] of Object.entries(patterns)) {
    const clock = { ms: 0 }
    // Two edges share the limit.
    const edges = [edge(clock), edge(clock)]
    const scope = newScope()
    const limit = 1_000
    const times: number[] = []
    let first_refusal = Number.POSITIVE_INFINITY
    for (let step = 0; step < 330; step++, clock.ms += step % 110 === 0 ? 40_000 : 10) {
      const takes = Array.from({ length: callsAt(step) }, (_, i) =>
        (edges[i % 2] as ReturnType<typeof edge>).taker.take({ ...scope, limit }),
      )
      for (const { kind } of await Promise.all(takes)) {
        if (kind === 'allowed') times.push(clock.ms)
        else first_refusal = Math.min(first_refusal, times.length)
      }
    }
    assert.ok(times.length > limit, name)
    for (const [i, at] of times.entries()) {
      const earlier = times[i - limit]
      if (earlier !== undefined) assert.ok(at - earlier >= 60_000, name)
    }
    // Two edges, and a minute that spans two of the clock.
    assert.ok(first_refusal >= limit * (1 - 4 / 500), `${name}: refused after ${first_refusal}`)
  }
})

test('a share is used for 50 ms, and not under another limit', () => {
  const clock = { ms: 1_000 }
  const shares = new RateShares(() => clock.ms)
  const callAll = (): void => {
    for (let i = 0; i < 10; i++) shares.take('a')
  }
  callAll()
  clock.ms = 1_050
  callAll()
  assert.equal(shares.ask('a', 100_000), 5)
  assert.equal(shares.ask('b', 100_000), 0)
  shares.keep('a', 5, { calls: 3, left: 7, reset_ms: 90 }, clock.ms)
  assert.deepEqual(shares.take('a'), { left: 9, reset_ms: 90 })
  assert.equal(shares.take('a of another limit'), null)
  clock.ms = 1_099.9
  assert.deepEqual(shares.take('a'), { left: 8, reset_ms: 90 })
  clock.ms = 1_100
  assert.equal(shares.take('a'), null)
})

test('a share is asked for once, until the store has answered or failed', () => {
  const clock = { ms: 60_000 }
  const shares = new RateShares(() => clock.ms)
  const call = (): void => {
    for (let i = 0; i < 8; i++) shares.take('a')
  }
  call()
  clock.ms += 50
  call()
  assert.equal(shares.ask('a', 50_000), 4)
  assert.equal(shares.ask('a', 50_000), 0)
  shares.giveUp('a')
  assert.equal(shares.ask('a', 50_000), 4)
  // A script that asked for nothing has no share, whatever it answers.
  shares.keep('a', 0, { calls: 1, left: 1, reset_ms: 1 }, clock.ms)
  assert.equal(shares.ask('a', 50_000), 0)
  assert.equal(shares.take('a'), null)
  shares.keep('a', 4, { calls: 0, left: 0, reset_ms: 1 }, clock.ms)
  assert.equal(shares.take('a'), null)
})

test('what is taken in advance and not used stays below its bound', () => {
  const clock = { ms: 60_000 }
  const shares = new RateShares(() => clock.ms)
  let asked = 0
  for (; clock.ms < 119_000; clock.ms += 50) {
    for (let i = 0; i < 100; i++) shares.take('a')
    const calls = shares.ask('a', 50_000)
    asked += calls
    // Nothing of it is used: the share is over before the next call.
    shares.keep('a', calls, { calls, left: 1, reset_ms: 1 }, clock.ms - 50)
  }
  assert.equal(asked, 100)
  // A minute later there may be more.
  clock.ms = 120_050
  for (let i = 0; i < 100; i++) shares.take('a')
  clock.ms += 50
  shares.take('a')
  assert.ok(shares.ask('a', 50_000) > 0)
})

test('calls in advance never count as refused', async () => {
  const clock = { ms: 0 }
  const { taker } = edge(clock)
  const other = edge(clock)
  const scope = newScope()
  const limit = 1_000
  for (; clock.ms < 900; clock.ms += 1) await taker.take({ ...scope, limit })
  // Another edge uses up the rest, so that what this one asks for in advance is not there.
  await Promise.all(Array.from({ length: 120 }, () => other.taker.take({ ...scope, limit: limit })))
  const { agent_id } = scope
  const violations = await redis.hgetall(REDIS_KEYS.rateViolations('org_s', agent_id))
  const used = await redis.llen(REDIS_KEYS.rateLog('org_s', agent_id, 'scp_1'))
  assert.equal(used, limit)
  assert.match(violations['scp_1'] ?? '', /^\d+ \d+ \d+ \d+ 0$/)
  assert.ok(Number((violations['scp_1'] ?? '').split(' ')[3]) <= 120 - 98)
  assert.ok(RATE_WINDOW_MS - 60_000 > 50)
})
