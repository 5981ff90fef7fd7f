import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import {
  RATE_WINDOW_MS,
  type RateCounter,
  RateTaker,
  type RateTaken,
} from '../../ext-proc/rate/rate-taker.ts'
import { until } from '../kit/until.ts'
import { unitStore } from '../kit/unit-store.ts'

// The script of the rate limit in a real store, with times of the test's own.

let redis: RedisClient
const ORG = 'org_rates'
/** Far from a whole minute, so that clock minutes and minutes of a violation differ. */
const START_MS = 1_800_000_047_000

before(async () => {
  ;({ redis } = await unitStore())
})

let count = 0
/** Its calls are all of one moment: of a busy scope, calls of the next moment are taken in advance. */
const takerAt = (at_s: number): RateTaker =>
  new RateTaker(
    redis,
    () => START_MS + Math.round(at_s * 1000),
    redis,
    () => 0,
  )

interface Counter {
  readonly counter: Omit<RateCounter, 'limit'>
  readonly take: (at_s: number, limit?: number) => Promise<RateTaken>
  readonly keys: { readonly log: string; readonly violations: string }
}

function newCounter(limit: number): Counter {
  const agent_id = `agt_${++count}`
  const counter = { organization_id: ORG, agent_id, scope_id: 'scp_1' }
  return {
    take: (at_s, own = limit) => takerAt(at_s).take({ ...counter, limit: own }),
    counter,
    keys: {
      log: REDIS_KEYS.rateLog(ORG, agent_id, 'scp_1'),
      violations: REDIS_KEYS.rateViolations(ORG, agent_id),
    },
  }
}

/** Refusals at these seconds, by a limit that is always used up; what each says of how long the violation has lasted. */
async function minutesAt(times_s: readonly number[]): Promise<number[]> {
  const { take } = newCounter(0)
  const minutes: number[] = []
  for (const at_s of times_s) {
    const taken = await take(at_s)
    assert.equal(taken.kind, 'refused')
    if (taken.kind === 'refused') minutes.push(taken.violation_minutes)
  }
  return minutes
}

const every = (step_s: number, until_s: number): number[] =>
  Array.from({ length: Math.floor(until_s / step_s) + 1 }, (_, i) => i * step_s)

test('a violation lasts as long as each minute since its first refusal has a refusal', async () => {
  const rows: readonly (readonly [name: string, times_s: readonly number[], minutes: number[]])[] =
    [
      ['one refusal', [0], [0]],
      ['eight seconds across a full minute of the clock', [8, 12, 13.5, 16], [0, 0, 0, 0]],
      ['many refusals within a minute', [0, 1, 2, 59.9], [0, 0, 0, 0]],
      ['a minute is over', [0, 60], [0, 1]],
      ['a minute is not quite over', [0, 59.999], [0, 0]],
      ['one in each minute', [0, 61, 121, 181], [0, 1, 2, 3]],
      ['early and late in their minutes', [0, 119, 120, 239], [0, 1, 2, 3]],
      ['a minute without: what is left begins at the latest refusal', [0, 61, 180], [0, 1, 1]],
      ['a minute without, the latest refusal just before', [0, 119, 180], [0, 1, 1]],
      ['two minutes without: all over', [0, 61, 182], [0, 1, 0]],
      ['over and on again', [0, 61, 300, 361, 421], [0, 1, 0, 1, 2]],
      ['hours later', [0, 7200], [0, 0]],
      ['the clock goes back', [100, 90, 149, 150], [0, 0, 0, 1]],
      ['the clock goes back by an hour', [3700, 100, 159, 160], [0, 0, 0, 1]],
      ['the clock goes back after a minute', [0, 61, 50, 121], [0, 1, 1, 2]],
    ]
  for (const [name, times_s, minutes] of rows)
    assert.deepEqual(await minutesAt(times_s), minutes, name)
  const steady = await minutesAt(every(1, 300))
  assert.deepEqual(
    steady,
    every(1, 300).map((at_s) => Math.floor(at_s / 60)),
  )
  assert.equal((await minutesAt(every(59, 600))).at(-1), 9)
})

test('calls that are allowed in between do not end a violation', async () => {
  const { take } = newCounter(1)
  const kinds: string[] = []
  const minutes: number[] = []
  for (const at_s of every(5, 190)) {
    const taken = await take(at_s)
    kinds.push(taken.kind)
    if (taken.kind === 'refused') minutes.push(taken.violation_minutes)
  }
  assert.equal(kinds.filter((kind) => kind === 'allowed').length, 4)
  assert.equal(minutes.at(-1), 3)
})

test('scopes have violations of their own, and one that is unreadable begins again', async () => {
  const { take, keys } = newCounter(0)
  await redis.hset(keys.violations, 'scp_2', 'not a record')
  await redis.hset(keys.violations, 'scp_1', '29 3 4 0')
  const taken = await take(0)
  assert.equal(taken.kind === 'refused' && taken.violation_minutes, 0)
  assert.equal(await redis.hget(keys.violations, 'scp_2'), 'not a record')
  assert.ok((await redis.ttl(keys.violations)) > 120)
})

test('an allowed call says how many may follow, and when more may', async () => {
  const { take } = newCounter(3)
  const rows: readonly (readonly [at_s: number, RateTaken])[] = [
    [0, { kind: 'allowed', left: 2, reset_s: 60 }],
    [10, { kind: 'allowed', left: 1, reset_s: 51 }],
    [20.5, { kind: 'allowed', left: 0, reset_s: 40 }],
    // The first place is free again after the window.
    [60.1, { kind: 'allowed', left: 0, reset_s: 10 }],
    [100, { kind: 'allowed', left: 1, reset_s: 21 }],
    [200, { kind: 'allowed', left: 2, reset_s: 60 }],
  ]
  for (const [at_s, expected] of rows) assert.deepEqual(await take(at_s), expected, String(at_s))
  // A limit that was lowered below what is used has nothing left; one that was raised has.
  assert.equal((await take(201, 1)).kind, 'refused')
  assert.deepEqual(await take(202, 10), { kind: 'allowed', left: 8, reset_s: 59 })
})

test('places that are over are dropped, however many there are', async () => {
  for (const over of [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100, 999])
    for (const within of [0, 1, 2, 5]) {
      const { take, keys } = newCounter(2000)
      const times = [
        ...Array.from({ length: within }, (_, i) => START_MS - i),
        ...Array.from({ length: over }, (_, i) => START_MS - RATE_WINDOW_MS - i),
      ]
      if (times.length > 0) await redis.rpush(keys.log, ...times)
      const taken = await take(0)
      assert.equal(taken.kind === 'allowed' && taken.left, 2000 - within - 1, `${over} ${within}`)
      assert.equal(await redis.llen(keys.log), within + 1)
    }
})

test('what is left of a very high limit is counted in shares', async () => {
  const { take } = newCounter(25_000)
  const left: number[] = []
  for (let i = 0; i < 8; i++) {
    const taken = await take(i / 1000)
    if (taken.kind === 'allowed') left.push(taken.left)
  }
  assert.deepEqual(left, [24_998, 24_997, 24_996, 24_995, 24_994, 24_993, 24_992, 24_991])
})

test('no window holds more calls than the limit, whatever the times of the calls', async () => {
  const { take } = newCounter(7)
  const allowed: number[] = []
  let at_s = 0
  let seed = 12345
  for (let i = 0; i < 600; i++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    at_s += (seed % 9000) / 1000
    const taken = await take(at_s)
    if (taken.kind === 'allowed') allowed.push(at_s)
  }
  for (const [i, time_s] of allowed.entries()) {
    const earlier = allowed[i - 7]
    // A call that is early by at most a quarter of a second waits for its place before it goes.
    if (earlier !== undefined) assert.ok(time_s - earlier >= RATE_WINDOW_MS / 1000 - 0.25)
  }
  assert.ok(allowed.length > 200, String(allowed.length))
})

test('calls of one turn of the event loop are taken as if they had come one by one', async () => {
  const rows: readonly (readonly [name: string, limit: number, earlier: number, calls: number])[] =
    [
      ['fewer than are left', 10, 0, 4],
      ['as many as are left', 10, 6, 4],
      ['more than are left', 5, 3, 9],
      ['none is left', 3, 3, 4],
      ['a limit of 0', 0, 0, 3],
      ['more than one script takes', 200, 0, 300],
      ['shares of a very high limit', 25_000, 2, 8],
      ['one call', 10, 0, 1],
    ]
  for (const [name, limit, earlier, calls] of rows) {
    const single = newCounter(limit)
    const batched = newCounter(limit)
    for (let i = 0; i < earlier; i++) {
      await single.take(1)
      await batched.take(1)
    }
    const expected: RateTaken[] = []
    for (let i = 0; i < calls; i++) expected.push(await single.take(2))
    const taker = takerAt(2)
    const taken = await Promise.all(
      Array.from({ length: calls }, () => taker.take({ ...batched.counter, limit })),
    )
    assert.deepEqual(taken, expected, name)
    assert.deepEqual(
      await redis.lrange(batched.keys.log, 0, -1),
      await redis.lrange(single.keys.log, 0, -1),
      name,
    )
    assert.deepEqual(
      await redis.hgetall(batched.keys.violations),
      await redis.hgetall(single.keys.violations),
      name,
    )
  }
})

test('calls of several scopes and agents in one turn do not take from each other', async () => {
  const counters = [3, 0, 1, 25_000, 5].map((limit) => ({ limit, ...newCounter(limit) }))
  const taker = takerAt(3)
  const rounds = Array.from({ length: 4 }, () =>
    counters.map(({ counter, limit }) => taker.take({ ...counter, limit })),
  )
  const kinds = (await Promise.all(rounds.map((round) => Promise.all(round)))).map((round) =>
    round.map(({ kind }) => kind),
  )
  for (const [i, { limit }] of counters.entries())
    assert.deepEqual(
      kinds.map((round) => round[i]),
      [0, 1, 2, 3].map((round) => (round < limit ? 'allowed' : 'refused')),
      `limit ${limit}`,
    )
})

test('a limit that was changed within a turn is judged as it was for each call', async () => {
  const { counter } = newCounter(5)
  const taker = takerAt(4)
  const taken = await Promise.all([
    taker.take({ ...counter, limit: 5 }),
    taker.take({ ...counter, limit: 5 }),
    taker.take({ ...counter, limit: 2 }),
    taker.take({ ...counter, limit: 5 }),
  ])
  assert.deepEqual(
    taken.map(({ kind }) => kind),
    ['allowed', 'allowed', 'refused', 'allowed'],
  )
})

test('one script is run for the calls of a turn', async () => {
  const runs = async (turns: number, calls: number): Promise<number> => {
    const before = await scriptRuns()
    const taker = takerAt(5)
    const counters = Array.from({ length: 10 }, () => newCounter(100).counter)
    for (let turn = 0; turn < turns; turn++)
      await Promise.all(
        Array.from({ length: calls }, (_, i) =>
          taker.take({ ...(counters[i % 10] as RateCounter), limit: 100 }),
        ),
      )
    return (await scriptRuns()) - before
  }
  assert.equal(await runs(1, 1), 1)
  assert.equal(await runs(1, 50), 1)
  assert.equal(await runs(3, 100), 3)
  // The bound of a script.
  assert.equal(await runs(1, 129), 2)
})

async function scriptRuns(): Promise<number> {
  const stats = await redis.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

test('if the store does not answer, every call of the turn is rejected and the next turn is taken again', async () => {
  let isDown = true
  const store: RedisClient = Object.create(redis, {
    evalsha: {
      value: (...args: Parameters<RedisClient['evalsha']>) =>
        isDown ? Promise.reject(new Error('Command timed out')) : redis.evalsha(...args),
    },
  })
  const taker = new RateTaker(store)
  const { counter } = newCounter(5)
  const taken = await Promise.allSettled([1, 2, 3].map(() => taker.take({ ...counter, limit: 5 })))
  assert.deepEqual(
    taken.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  isDown = false
  assert.equal((await taker.take({ ...counter, limit: 5 })).kind, 'allowed')
})

/** A store whose answers the test releases, with the number of calls of each script. */
function heldStore(): { store: RedisClient; scripts: number[]; answer: () => void } {
  const scripts: number[] = []
  const waiting: (() => void)[] = []
  const store: RedisClient = Object.create(redis, {
    evalsha: {
      value: async (...args: Parameters<RedisClient['evalsha']>) => {
        scripts.push(Number(args.at(-2)))
        await new Promise<void>((resolve) => waiting.push(resolve))
        return await redis.evalsha(...args)
      },
    },
  })
  return { store, scripts, answer: () => waiting.shift()?.() }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('calls that arrive while a script runs go together with the next one', async () => {
  const { store, scripts, answer } = heldStore()
  const taker = new RateTaker(store, () => START_MS)
  const { counter } = newCounter(3)
  const take = (): Promise<RateTaken> => taker.take({ ...counter, limit: 3 })
  const first = take()
  await turn()
  assert.deepEqual(scripts, [1])
  const others = [take(), take(), take()]
  answer()
  await first
  await until('the rest is asked for', () => scripts.length === 2)
  assert.deepEqual(scripts, [1, 3])
  answer()
  const kinds = (await Promise.all([first, ...others])).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['allowed', 'allowed', 'allowed', 'refused'])
})

test('calls do not wait for a store that is slow', async () => {
  const { store, scripts, answer } = heldStore()
  const taker = new RateTaker(store, () => START_MS)
  const { counter } = newCounter(9)
  const takes: Promise<RateTaken>[] = []
  for (let n = 1; n <= 3; n++) {
    takes.push(taker.take({ ...counter, limit: 9 }))
    // Nothing was answered.
    await until('the call is asked for', () => scripts.length === n)
  }
  for (const _ of takes) answer()
  assert.deepEqual(
    (await Promise.all(takes)).map(({ kind }) => kind),
    ['allowed', 'allowed', 'allowed'],
  )
})

test('a script that fails does not take the calls behind it with it', async () => {
  const { scripts, store, answer } = heldStore()
  let fails = true
  const failing: RedisClient = Object.create(store, {
    evalsha: {
      value: async (...args: Parameters<RedisClient['evalsha']>) => {
        const isBad = fails
        fails = false
        const answered = await store.evalsha(...args)
        if (isBad) throw new Error('Command timed out')
        return answered
      },
    },
  })
  const taker = new RateTaker(failing, () => START_MS)
  const { counter } = newCounter(9)
  const first = taker.take({ ...counter, limit: 9 })
  await turn()
  const second = taker.take({ ...counter, limit: 9 })
  answer()
  await assert.rejects(first, /timed out/)
  await until('the second is asked for', () => scripts.length === 2)
  answer()
  assert.equal((await second).kind, 'allowed')
})

test('while the connection for limits is down, the other one is used', async () => {
  const down: RedisClient = Object.create(redis, {
    status: { value: 'reconnecting' },
    evalsha: { value: () => Promise.reject(new Error('not connected')) },
  })
  const { counter } = newCounter(5)
  const taken = await new RateTaker(down, null, redis).take({ ...counter, limit: 5 })
  assert.equal(taken.kind, 'allowed')
  await assert.rejects(new RateTaker(down).take({ ...counter, limit: 5 }), /not connected/)
})

test('a clock that steps back by an hour refuses no call for longer than the window', async () => {
  const window_s = RATE_WINDOW_MS / 1000
  for (const limit of [3, 100_000]) {
    const { take, keys } = newCounter(limit)
    const isFull = limit === 3
    for (let n = 0; n < 3; n++) assert.equal((await take(3_600)).kind, 'allowed')
    const back = await take(0)
    assert.equal(back.kind, isFull ? 'refused' : 'allowed')
    if (back.kind === 'refused') assert.ok(back.retry_after_s <= Math.ceil(window_s))
    assert.equal((await take(window_s - 1)).kind, isFull ? 'refused' : 'allowed')
    assert.equal((await take(window_s)).kind, 'allowed')
    for (const place of await redis.lrange(keys.log, 0, -1))
      assert.ok(Number.parseInt(place, 10) <= START_MS + RATE_WINDOW_MS, place)
  }
})
