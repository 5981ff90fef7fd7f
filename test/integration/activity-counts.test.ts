import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import type { ActivityFilter } from '../../admin/activity/activity-filter.ts'
import { COMBINED_MEMBERS } from '../../admin/activity/activity-tally.ts'
import { countFacets } from '../../admin/activity/count-facets.ts'
import { countSeries, type SeriesWish } from '../../admin/activity/count-series.ts'
import { combinationsMax } from '../../admin/activity/count-buckets.ts'
import { digestLog, readDigestPlace } from '../../admin/activity/digest-log.ts'
import type { CombinedMember } from '../../admin/activity/finished-counts.ts'
import { keepWithinBudget } from '../../admin/activity/log-budget.ts'
import { RequestLoad } from '../../admin/context/request-load.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { valueOfMember } from '../../core/activity/activity-index.ts'
import { mintActivityId } from '../../core/activity/activity-id.ts'
import { floodEntry } from '../../core/activity/flood-entry.ts'
import { recordBlocks } from '../../core/change/record-blocks.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { unitStore } from '../kit/unit-store.ts'

// Series and facets are what counting the entries one by one gives.

const ORG = 'org_counted'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const load = new RequestLoad()
let redis: RedisClient
/** The start of a quarter of an hour some minutes ago, so that no test runs over the end of one. */
let now_ms = 0

before(async () => {
  redis = (await unitStore()).redis
})
beforeEach(async () => {
  await redis.flushall()
  now_ms = Date.now()
  await readDigestPlace(redis, ORG)
  // What is kept of the log before is dropped.
  await facets()
})

let made = 0
function anEntry(at_ms: number, change: Partial<ActivityEntry> = {}): ActivityEntry {
  made++
  const isRefused = made % 4 === 0
  return activityEntry(isRefused ? 'permission_denied' : 'request_allowed', {
    id: mintActivityId(at_ms),
    timestamp: new Date(at_ms).toISOString(),
    organization_id: ORG,
    agent_id: `agt_${made % 3}`,
    integration_id: made % 7 === 0 ? null : `int_${made % 5}`,
    decision: isRefused ? 'blocked' : 'allowed',
    reason: isRefused ? 'permission_denied' : null,
    data: {
      ...(made % 6 < 2 ? { via: 'forward' } : {}),
      reason: 'not that of the entry',
      event: 'agent_killed',
    },
    ...change,
  })
}

async function append(entries: readonly ActivityEntry[]): Promise<void> {
  for (const entry of entries)
    await redis.xadd(
      REDIS_KEYS.activity(ORG),
      `${Date.parse(entry.timestamp)}-*`,
      'e',
      JSON.stringify(entry),
    )
}

async function digest(): Promise<void> {
  let place = await readDigestPlace(redis, ORG)
  for (;;) {
    const digested = await digestLog(
      { redis, metrics: { killed: () => undefined }, load },
      ORG,
      place,
    )
    if (digested.kind !== 'digested' || !digested.has_more) return
    place = { ...place, position: digested.position }
  }
}

const ANY: ActivityFilter = { equal: [], request_id: null, q: null, from_ms: null, to_ms: null }
const series = (wish: Partial<SeriesWish>, equal: ActivityFilter['equal'] = []) =>
  countSeries(
    redis,
    ORG,
    { equal },
    {
      from_ms: now_ms - 24 * HOUR_MS,
      to_ms: now_ms + MINUTE_MS,
      now_ms,
      step_s: 900,
      by: null,
      count: 'entries',
      groups: 100,
      ...wish,
    },
  )
const facets = (filter: Partial<ActivityFilter> = {}) =>
  countFacets(
    { redis, nowMs: () => performance.now() },
    ORG,
    { ...ANY, ...filter },
    { from_ms: now_ms - 24 * HOUR_MS, to_ms: now_ms + MINUTE_MS, now_ms },
  )

const FILTERS: readonly ActivityFilter['equal'][] = [
  [],
  [['agent_id', 'agt_1']],
  [['event', 'permission_denied']],
  [
    ['integration_id', 'int_2'],
    ['decision', 'blocked'],
  ],
  [['reason', 'permission_denied']],
  [['agent_id', 'agt_unknown']],
  [['via', 'forward']],
  [
    ['via', 'base_url'],
    ['decision', 'allowed'],
  ],
]

const memberOf = (entry: ActivityEntry, member: CombinedMember): string | null =>
  valueOfMember(entry, member) as string | null

const inOrder = (points: readonly (readonly [string, number])[]) =>
  new Map(points.toSorted(([a], [b]) => (a < b ? -1 : 1)))

async function checkAgainst(entries: readonly ActivityEntry[]): Promise<void> {
  for (const equal of FILTERS) {
    const wanted = entries.filter((entry) =>
      equal.every(([name, value]) => valueOfMember(entry, name) === value),
    )
    const seen = await facets({ equal })
    assert.equal(seen.total, wanted.length)
    assert.equal(seen.exact, true)
    for (const by of COMBINED_MEMBERS) {
      for (const step_s of equal.length === 0 ? [60, 900, 3600] : [3600]) {
        const { from, groups, step } = await series({ by, step_s }, equal)
        const counted = new Map<string, number>()
        for (const entry of wanted) {
          const at = Math.floor((Date.parse(entry.timestamp) - Date.parse(from)) / (step * 1000))
          const point = `${memberOf(entry, by)} ${at}`
          counted.set(point, (counted.get(point) ?? 0) + 1)
        }
        const points = groups.flatMap(({ value, counts }) =>
          counts.flatMap((count, at) => (count === 0 ? [] : [[`${value} ${at}`, count] as const])),
        )
        assert.deepEqual(inOrder(points), inOrder([...counted]), `${by} ${step_s}`)
      }
      const rest = equal.filter(([name]) => name !== by)
      const withoutOwn = entries.filter((one) =>
        rest.every(([name, value]) => valueOfMember(one, name) === value),
      )
      const values = new Map<string | null, number>()
      for (const entry of withoutOwn) {
        const value = memberOf(entry, by)
        values.set(value, (values.get(value) ?? 0) + 1)
      }
      assert.deepEqual(
        new Map(seen.facets[by].map(({ value, count }) => [value, count])),
        new Map([...values].toSorted(([, a], [, b]) => b - a)),
      )
    }
  }
}

test('series and facets of single entries are those of counting them', async () => {
  const entries = Array.from({ length: 300 }, (_, i) => anEntry(now_ms - (300 - i) * 4 * MINUTE_MS))
  await append(entries)
  await digest()
  await checkAgainst(entries)
})

test('entries in blocks count by their own time, and beside single ones', async () => {
  const packed = Array.from({ length: 200 }, (_, i) =>
    anEntry(now_ms - (i % 4) * MINUTE_MS, {
      event: i % 9 === 0 ? 'request_rejected' : 'request_allowed',
      decision: i % 9 === 0 ? 'terminated' : 'allowed',
      reason: i % 9 === 0 ? 'upstream_reset' : null,
    }),
  )
  const texts = packed.map((entry) => JSON.stringify(entry))
  assert.equal(await recordBlocks(redis, ORG, texts), true)
  await digest()
  const single = Array.from({ length: 20 }, () => anEntry(Date.now()))
  await append(single)
  await digest()
  await checkAgainst([...packed, ...single])
})

test('counts of calls by base URL go on under the names they had before the forward proxy', async () => {
  const at = (via: ActivityEntry['data']): ActivityEntry =>
    anEntry(now_ms, {
      agent_id: 'agt_1',
      integration_id: 'int_1',
      event: 'request_allowed',
      decision: 'allowed',
      reason: null,
      data: via,
    })
  const name = 'agt_1 int_1 request_allowed allowed -'
  const namesOfDay = async (): Promise<string[]> => {
    const day = Math.floor(now_ms / 1000 / 86_400)
    return await redis.hkeys(REDIS_KEYS.activityCounts(ORG, `names:${day}`))
  }
  await append([at({})])
  await digest()
  assert.deepEqual(await namesOfDay(), [name])
  const others = [{ via: 'forward' }, { via: 'other' }, { more: { via: 'forward' } }, {}]
  await append(others.map(at))
  const texts = others.map((via) => JSON.stringify(at(via)))
  assert.equal(await recordBlocks(redis, ORG, texts), true)
  await digest()
  assert.deepEqual((await namesOfDay()).toSorted(), [name, `${name} forward`])
  assert.deepEqual((await facets()).facets.via, [
    { value: 'base_url', count: 7 },
    { value: 'forward', count: 2 },
  ])
})

/** 5,000 refusals of one agent, counted two minutes ago. */
const aFlood = () =>
  floodEntry(
    {
      organization_id: ORG,
      agent_id: 'agt_1',
      agent_name: null,
      reason: 'permission_denied',
      minute: Math.floor(now_ms / MINUTE_MS) - 2,
      suppressed: 5_000,
    },
    now_ms,
  )

test('an entry for many refusals says nothing of how they arrived', async () => {
  await append([aFlood(), anEntry(now_ms, { decision: null, data: {} })])
  await digest()
  assert.deepEqual((await facets()).facets.via, [{ value: null, count: 2 }])
  assert.deepEqual((await facets({ q: 'agt_' })).facets.via, [{ value: null, count: 2 }])
})

test('counts of times that are over are read once; late entries and another log count', async () => {
  const entriesOf = (hours: number): ActivityEntry[] =>
    Array.from({ length: 60 }, (_, i) => anEntry(now_ms - hours * HOUR_MS + i * 1_000))
  const total = async (): Promise<number> => {
    const { groups } = await series({ step_s: 60 })
    const { total: all } = await facets()
    assert.equal(groups[0]?.total ?? 0, all)
    return all
  }
  await append([...entriesOf(3), anEntry(now_ms)])
  await digest()
  assert.equal(await total(), 61)
  const over = await redis.keys(REDIS_KEYS.activityCounts(ORG, '*'))
  const isOver = (key: string): boolean =>
    !key.includes('names:') && Number(key.split(':').at(-1)) * 1000 < now_ms - 2.5 * HOUR_MS
  await redis.del(over.filter(isOver))
  assert.equal(await total(), 61)
  const late = { ...anEntry(now_ms), timestamp: new Date(now_ms - HOUR_MS).toISOString() }
  await redis.xadd(REDIS_KEYS.activity(ORG), '*', 'e', JSON.stringify(late))
  await digest()
  assert.equal(await total(), 62)
  await redis.flushall()
  assert.equal(await total(), 0)
  await readDigestPlace(redis, ORG)
  await append(entriesOf(2))
  await digest()
  assert.equal(await total(), 60)
})

test('a call that took long counts where a search for its time finds it', async () => {
  // Written now, begun an hour ago: filed five minutes ago at the earliest.
  const entry = { ...anEntry(now_ms), timestamp: new Date(now_ms - HOUR_MS).toISOString() }
  await redis.xadd(REDIS_KEYS.activity(ORG), `${now_ms}-*`, 'e', JSON.stringify(entry))
  await digest()
  const { groups, from } = await series({ step_s: 60 })
  const at = groups[0]?.counts.indexOf(1) ?? -1
  const filed_ms = Date.parse(from) + at * MINUTE_MS
  assert.ok(now_ms - filed_ms >= 4 * MINUTE_MS && now_ms - filed_ms <= 6 * MINUTE_MS)
})

test('with calls, refusals that were only counted count, and changes do not', async () => {
  const change = { ...anEntry(now_ms), event: 'admin_action' } as const
  await append([aFlood(), anEntry(now_ms), change])
  await digest()
  const total = ({ groups }: Awaited<ReturnType<typeof series>>): number =>
    groups.reduce((sum, group) => sum + group.total, 0)
  assert.equal(total(await series({})), 3)
  assert.equal(total(await series({ count: 'calls' })), 5_001)
  assert.equal((await facets()).total, 3)
})

test('what retention removes is not counted, and its counts are removed', async () => {
  const days = Array.from({ length: 600 }, (_, i) => anEntry(now_ms - (600 - i) * 10 * MINUTE_MS))
  await append(days)
  await digest()
  const buckets = await redis.zcard(REDIS_KEYS.activityCountBuckets(ORG))
  const wide = { from_ms: now_ms - 5 * 24 * HOUR_MS }
  assert.equal((await series(wide)).groups[0]?.total, 600)
  const kept_ms = now_ms - 12 * HOUR_MS
  await redis.xtrim(REDIS_KEYS.activity(ORG), 'MINID', `${kept_ms}-0`)
  const { groups, from } = await series(wide)
  const left = days.filter(({ timestamp }) => Date.parse(timestamp) >= Date.parse(from))
  assert.ok(Date.parse(from) >= kept_ms && Date.parse(from) < kept_ms + HOUR_MS)
  assert.equal(groups[0]?.total, left.length)
  const retention = { max_bytes: Number.MAX_SAFE_INTEGER, retention_ms: 365 * 24 * HOUR_MS }
  await keepWithinBudget(redis, [ORG], retention, now_ms, new Map())
  assert.equal((await series(wide)).groups[0]?.total, left.length)
  assert.ok((await redis.zcard(REDIS_KEYS.activityCountBuckets(ORG))) < buckets / 4)
  const names = await redis.zrange(REDIS_KEYS.activityCountBuckets(ORG), '0', '-1')
  const stored = await redis.keys(REDIS_KEYS.activityCounts(ORG, '*'))
  assert.deepEqual(
    stored.toSorted(),
    names.map((name) => REDIS_KEYS.activityCounts(ORG, name)).toSorted(),
  )
})

test('a thousand agents in a quarter of an hour: the busiest are named, the sum is right', async () => {
  const entries = Array.from({ length: 1_200 }, (_, i) =>
    anEntry(now_ms, { agent_id: `agt_${i < 1_000 ? i : 0}`, integration_id: 'int_1' }),
  )
  await append(entries)
  await digest()
  const { groups, others, exact } = await series({ by: 'agent_id', groups: 5 })
  assert.equal(exact, false)
  assert.equal(groups[0]?.value, 'agt_0')
  const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)
  assert.equal(sum(others) + sum(groups.map(({ total }) => total)), 1_200)
  const { facets: counted, exact: isExact } = await facets()
  assert.equal(isExact, false)
  assert.equal(sum(counted.event.map(({ count }) => count)), 1_200)
  const names = await redis.zrange(REDIS_KEYS.activityCountBuckets(ORG), '0', '-1')
  for (const name of names.filter((bucket) => !bucket.startsWith('names:'))) {
    // The sums of others come on top: one for each event and way.
    const bound = combinationsMax(Number.parseInt(name, 10)) + 4
    assert.ok((await redis.hlen(REDIS_KEYS.activityCounts(ORG, name))) <= bound, name)
  }
})

test('values that no one of ours writes break no count', async () => {
  const strange = ['*', 'a b', 'a\nb', 'a\tb', '', '-', '"', '* *', '__proto__']
  await append(strange.map((agent_id) => anEntry(now_ms, { agent_id })))
  await digest()
  const { total, facets: counted } = await facets()
  assert.equal(total, strange.length)
  assert.deepEqual(
    new Set(counted.agent_id.map(({ value }) => value)),
    new Set(['"', '__proto__', null]),
  )
})

test('a log whose indexes have another form is counted again, once', async () => {
  const entries = Array.from({ length: 50 }, () => anEntry(now_ms))
  await append(entries)
  await digest()
  await redis.hset(REDIS_KEYS.activityDigest(ORG), 'form', '2')
  await digest()
  await digest()
  await checkAgainst(entries)
})

test('a text has no counts, so the entries that hold it are counted', async () => {
  const entries = Array.from({ length: 90 }, (_, i) => anEntry(now_ms, { endpoint: `/x/${i % 9}` }))
  await append(entries)
  await digest()
  const { total, exact, facets: counted } = await facets({ q: '/x/3' })
  assert.deepEqual([total, exact], [10, true])
  assert.equal(
    counted.event.reduce((sum, { count }) => sum + count, 0),
    10,
  )
})
