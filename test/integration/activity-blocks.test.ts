import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import type { ActivityFilter } from '../../admin/activity/activity-filter.ts'
import { digestLog, readDigestPlace } from '../../admin/activity/digest-log.ts'
import { exportActivity } from '../../admin/activity/export-activity.ts'
import { RequestTurns } from '../../admin/context/request-turns.ts'
import { findEntry } from '../../admin/activity/find-entry.ts'
import { keepWithinBudget } from '../../admin/activity/log-budget.ts'
import { searchActivity } from '../../admin/activity/search-activity.ts'
import { readRowsAfter } from '../../core/activity/read-rows-after.ts'
import { RequestLoad } from '../../admin/context/request-load.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { mintActivityId } from '../../core/activity/activity-id.ts'
import { entriesAfter } from '../../core/activity/entries-after.ts'
import { isPacked } from '../../core/activity/is-packed.ts'
import { comparePlaces } from '../../core/activity/log-place.ts'
import { BLOCK_ENTRIES_MAX, packBlock } from '../../core/activity/pack-block.ts'
import { readLog } from '../../core/activity/read-log.ts'
import { unpackBlock } from '../../core/activity/unpack-block.ts'
import { recordBlocks } from '../../core/change/record-blocks.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { unitStore } from '../kit/unit-store.ts'
import { repetitions } from '../kit/repetitions.ts'
import { until } from '../kit/until.ts'

// A log of blocks answers as a log of single entries does, from the first entry to the last.

const SINGLE = 'org_single'
const PACKED = 'org_packed'
const ANY: ActivityFilter = { equal: [], request_id: null, q: null, from_ms: null, to_ms: null }
const load = new RequestLoad()
let redis: RedisClient

before(async () => {
  redis = (await unitStore()).redis
})
beforeEach(async () => {
  await redis.flushall()
})

let made = 0
function aCall(change: Partial<ActivityEntry> = {}): ActivityEntry {
  made++
  return activityEntry('request_allowed', {
    id: mintActivityId(Date.now()),
    timestamp: new Date().toISOString(),
    agent_id: `agt_${made % 3}`,
    integration_id: `int_${made % 5}`,
    request_id: `req_${made}`,
    decision: 'allowed',
    endpoint: `/items/${made}`,
    data: { upstream: { outcome: 'answered' } },
    ...change,
  })
}

/** Writes the same entries to both logs: one by one, and as blocks where that is allowed, in batches of these sizes. */
async function write(entries: readonly ActivityEntry[], sizes: readonly number[]): Promise<void> {
  for (const organization_id of [SINGLE, PACKED]) await readDigestPlace(redis, organization_id)
  const single = entries.map((entry) => ({ ...entry, organization_id: SINGLE }))
  await recordEntries(redis, SINGLE, single)
  let at = 0
  for (let i = 0; at < entries.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    const some = entries.slice(at, at + size).map((one) => ({ ...one, organization_id: PACKED }))
    at += size
    const arePacked = some.every((one) => isPacked(JSON.stringify(one)))
    if (arePacked)
      await recordBlocks(
        redis,
        PACKED,
        some.map((one) => JSON.stringify(one)),
      )
    else await recordEntries(redis, PACKED, some)
  }
}

async function digest(organization_id: string): Promise<number> {
  const kills: string[] = []
  const metrics = { killed: (method: string) => void kills.push(method) }
  let place = await readDigestPlace(redis, organization_id)
  for (;;) {
    const digested = await digestLog({ redis, metrics, load }, organization_id, place)
    assert.equal(digested.kind, 'digested')
    if (digested.kind !== 'digested' || !digested.has_more) return kills.length
    place = { ...place, position: digested.position }
  }
}

/** Every page of a search; follows cursors as a client does. */
async function searchAll(
  organization_id: string,
  filter: ActivityFilter,
  limit: number,
): Promise<string[]> {
  const ids: string[] = []
  let before: string | null = null
  for (let pages = 0; pages < 2_000; pages++) {
    const page = await searchActivity(
      { redis, nowMs: () => performance.now() },
      organization_id,
      filter,
      { before, limit },
    )
    assert.ok(page.found.length <= limit)
    ids.push(...page.found.map(({ entry }) => entry.id))
    if (page.next === null) return ids
    before = page.next
  }
  throw new Error('a search does not end')
}

const placesOf = async (organization_id: string, after = '0-0'): Promise<string[]> => {
  const { rows, has_more } = await readLog(redis, organization_id, after, 10_000)
  assert.equal(has_more, false)
  return [...entriesAfter(after, rows)].map(({ place }) => place)
}

test('what is packed is read back as it was, whatever the texts hold', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 64 }),
      (values) => {
        const texts = values.map((value) => JSON.stringify(value))
        assert.deepEqual(unpackBlock(packBlock(texts).block), texts)
      },
    ),
  )
  const huge = [JSON.stringify({ data: randomBytes(24_000).toString('hex') })]
  assert.deepEqual(unpackBlock(packBlock(huge).block), huge)
})

test('a damaged block is an error, not other entries', () => {
  const { block } = packBlock([JSON.stringify(aCall())])
  assert.throws(() => unpackBlock(Buffer.concat([Buffer.of(2), block.subarray(1)])), /form 2/)
  assert.throws(() => unpackBlock(block.subarray(0, block.length - 5)))
})

test('the summary of a block names its indexes, counts them, and finds members inside no text', () => {
  const trap = '","agent_id":"agt_trap","event":"agent_killed'
  const entries = [
    aCall({ agent_id: 'agt_a', endpoint: trap }),
    aCall({ agent_id: 'agt_a', integration_id: null }),
    aCall({ agent_id: 'agt_"b', integration_id: 'int_c', data: { agent_id: 'agt_inner' } }),
  ]
  const { names, head, requests, count } = packBlock(entries.map((one) => JSON.stringify(one)))
  const counted = names.split('\n')[0]?.split('\t').sort()
  assert.deepEqual(counted, [
    '1:a:agt_"b',
    `1:i:${entries[0]?.integration_id}`,
    '1:i:int_c',
    '2:a:agt_a',
    '3:d:allowed',
    '3:e:request_allowed',
  ])
  assert.match(head, /^3 \d{13} \d{13}$/)
  assert.equal(requests.length, 12)
  assert.equal(count, 3)
})

test('only calls that raise no alert and no event are packed', () => {
  const packed: readonly string[] = ['request_allowed', 'request_rejected']
  for (const event of [
    'request_allowed',
    'request_rejected',
    'injection_detected',
    'injection_blocked',
    'agent_killed',
    'permission_denied',
    'rate_limit_exceeded',
    'anomaly_detected',
    'admin_action',
  ] as const)
    assert.equal(isPacked(JSON.stringify(activityEntry(event, {}))), packed.includes(event), event)
  const echoed = activityEntry('request_rejected', { reason: 'credential_echoed' })
  assert.ok(!isPacked(JSON.stringify(echoed)))
})

test('every entry of a block has a place of its own, in order, and rows between blocks fit in', async () => {
  const entries = Array.from({ length: 700 }, () => aCall())
  await Promise.all([
    write(entries.slice(0, 300), [1, 2, 64, 65, 128]),
    recordEntries(redis, PACKED, [activityEntry('admin_action', {})]),
    write(entries.slice(300), [200]),
  ])
  const places = await placesOf(PACKED)
  assert.equal(places.length, 701)
  for (let i = 1; i < places.length; i++)
    assert.ok(comparePlaces(places[i - 1] ?? '', places[i] ?? '') < 0)
  // From any place on, a reader gets exactly what is after it.
  for (const at of [0, 1, 63, 64, 65, 300, 699, 700])
    assert.deepEqual(await placesOf(PACKED, places[at]), places.slice(at + 1))
})

/** Of the store. */
const minuteNow = async (): Promise<number> => Math.floor(Number((await redis.time())[0]) / 60)

/** All that is known of calls was noted in the minute before. */
async function passAMinute(): Promise<void> {
  const minute = await minuteNow()
  const slots = ['0', '1'].map((slot) => REDIS_KEYS.decidedCalls(PACKED, slot)) as [string, string]
  const [now, before] = minute % 2 === 0 ? slots : slots.toReversed()
  await redis.rename(now ?? '', before ?? '')
  await redis.hset(before ?? '', 'minute', minute - 1)
}

/** Refused, allowed alone and allowed in a block, in this order; before one of them, a minute passes. */
async function decisionsLogged(order: string, passes_at: number): Promise<readonly unknown[]> {
  await redis.flushall()
  await readDigestPlace(redis, PACKED)
  const of = { organization_id: PACKED, request_id: 'a-request-of-an-agent' }
  for (const [i, kind] of Array.from(order).entries()) {
    if (i === passes_at) await passAMinute()
    const refused = activityEntry('permission_denied', { ...of, decision: 'blocked' })
    if (kind === 'b') await recordBlocks(redis, PACKED, [JSON.stringify(aCall(of))])
    else await recordEntries(redis, PACKED, [kind === 'r' ? refused : aCall(of)])
  }
  const { rows } = await readLog(redis, PACKED, '0-0', 10)
  return [...entriesAfter('0-0', rows)].map(({ text }) => JSON.parse(text).decision)
}

test('a call that one process refused and another allowed has an entry of each, and no third one', async () => {
  for (const order of ['rar', 'ara', 'rarar', 'rbr', 'rbrr', 'rba', 'bra', 'brar'])
    for (const passes_at of [NaN, 1, 2]) {
      const logged = await until('all of it is in one minute', async () => {
        const minute = await minuteNow()
        const found = await decisionsLogged(order, passes_at)
        return minute === (await minuteNow()) ? found : null
      })
      assert.deepEqual(
        logged.map(String).toSorted(),
        ['allowed', 'blocked'],
        `${order} ${passes_at}`,
      )
    }
})

test('searches, pages and counts are those of a log of single entries', async () => {
  const entries = Array.from({ length: 400 }, (_, i) =>
    i % 97 === 0
      ? activityEntry('permission_denied', {
          id: mintActivityId(Date.now()),
          timestamp: new Date().toISOString(),
          agent_id: 'agt_1',
          request_id: `req_denied_${i}`,
          decision: 'blocked',
        })
      : aCall({
          ...(i % 13 === 0 ? { event: 'request_rejected', decision: 'blocked' } : {}),
          ...(i % 5 === 0 ? { data: { via: 'forward', upstream: { outcome: 'answered' } } } : {}),
        }),
  )
  await write(entries, [1, 30, 64, 7, 200])
  const some = entries[250]
  const filters: readonly ActivityFilter[] = [
    ANY,
    { ...ANY, equal: [['agent_id', 'agt_1']] },
    { ...ANY, equal: [['event', 'request_rejected']] },
    { ...ANY, equal: [['event', 'permission_denied']] },
    {
      ...ANY,
      equal: [
        ['agent_id', 'agt_2'],
        ['integration_id', 'int_3'],
        ['decision', 'allowed'],
      ],
    },
    { ...ANY, equal: [['agent_id', 'agt_none']] },
    { ...ANY, equal: [['via', 'forward']] },
    { ...ANY, equal: [['via', 'base_url']] },
    {
      ...ANY,
      equal: [
        ['via', 'forward'],
        ['event', 'request_rejected'],
      ],
    },
    { ...ANY, request_id: some?.request_id ?? '' },
    { ...ANY, request_id: 'req_denied_97' },
    { ...ANY, request_id: 'req_none' },
    { ...ANY, request_id: some?.request_id ?? '', equal: [['agent_id', some?.agent_id ?? '']] },
    { ...ANY, q: '/items/1' },
    { ...ANY, q: 'answered', equal: [['integration_id', 'int_4']] },
    { ...ANY, from_ms: Date.now() - 60_000, to_ms: Date.now() + 60_000 },
    { ...ANY, to_ms: Date.now() - 3_600_000 },
  ]
  const compare = async (when: string): Promise<void> => {
    for (const filter of filters)
      for (const limit of [7, 64, 200]) {
        const found = await searchAll(PACKED, filter, limit)
        const expected = await searchAll(SINGLE, filter, limit)
        assert.deepEqual(found, expected, `${when}, ${limit}, ${JSON.stringify(filter)}`)
      }
  }
  await compare('not indexed')
  await Promise.all([digest(SINGLE), digest(PACKED)])
  await compare('indexed')
  await write(
    Array.from({ length: 100 }, () => aCall()),
    [40],
  )
  await compare('indexed in part')
  for (const entry of [entries[0], some, entries.at(-1)]) {
    const found = await findEntry(
      { redis, nowMs: () => performance.now() },
      PACKED,
      entry?.id ?? '',
    )
    assert.ok(found !== null && found !== 'unknown')
    assert.equal(found.id, entry?.id)
  }
  assert.equal(
    await findEntry({ redis, nowMs: () => performance.now() }, PACKED, mintActivityId(Date.now())),
    null,
  )
})

test('a page of one entry takes few steps through rows that are in no index yet', async () => {
  await readDigestPlace(redis, SINGLE)
  const old = { ...aCall({ agent_id: 'agt_old' }), organization_id: SINGLE }
  const newer = Array.from({ length: 200 }, () => ({ ...aCall(), organization_id: SINGLE }))
  await recordEntries(redis, SINGLE, [old])
  await recordEntries(redis, SINGLE, newer)
  let steps = 0
  const filter: ActivityFilter = { ...ANY, equal: [['agent_id', 'agt_old']] }
  const { found } = await searchActivity(
    { redis, nowMs: () => steps++, budget_ms: 8 },
    SINGLE,
    filter,
    {
      before: null,
      limit: 1,
    },
  )
  assert.deepEqual(
    found.map(({ entry }) => entry.id),
    [old.id],
  )
})

test('random batches, filters and limits: the same entries in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ agent: fc.nat(3), integration: fc.nat(2) }), {
        minLength: 1,
        maxLength: 300,
      }),
      fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 5 }),
      fc.nat(3),
      fc.integer({ min: 1, max: 120 }),
      fc.boolean(),
      async (calls, sizes, agent, limit, isIndexed) => {
        await redis.flushall()
        const entries = calls.map((one) =>
          aCall({ agent_id: `agt_${one.agent}`, integration_id: `int_${one.integration}` }),
        )
        await write(entries, sizes)
        if (isIndexed) await Promise.all([digest(SINGLE), digest(PACKED)])
        for (const filter of [
          ANY,
          { ...ANY, equal: [['agent_id', `agt_${agent}`]] },
          {
            ...ANY,
            equal: [
              ['agent_id', `agt_${agent}`],
              ['integration_id', 'int_1'],
            ],
          },
        ] as readonly ActivityFilter[])
          assert.deepEqual(
            await searchAll(PACKED, filter, limit),
            await searchAll(SINGLE, filter, limit),
          )
      },
    ),
    { numRuns: repetitions(40) },
  )
})

test('an export has every entry once', async () => {
  await write(
    Array.from({ length: 500 }, () => aCall()),
    [100],
  )
  const exported = (organization_id: string, out: PassThrough, ended: AbortSignal): Promise<void> =>
    exportActivity({ redis, nowMs: () => performance.now() }, organization_id, ANY, {
      before: null,
      turns: new RequestTurns({
        at_once: 1,
        at_once_of_one: 1,
        waiting_of_one: 1,
        waiting_of_token: 1,
      }),
      format: 'ndjson',
      out,
      ended,
    })
  const read = async (organization_id: string): Promise<string[]> => {
    const out = new PassThrough()
    const lines = textOf(out)
    await exported(organization_id, out, new AbortController().signal)
    out.end()
    return (await lines)
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as ActivityEntry).id)
  }
  const ids = await read(PACKED)
  assert.equal(new Set(ids).size, 500)
  assert.deepEqual(ids, await read(SINGLE))
  // The token was revoked, or the service stops, while a page was read: the response must not end as if it were whole.
  const over = new AbortController()
  const out = new PassThrough()
  out.once('data', () => over.abort(new Error('stopping')))
  await assert.rejects(exported(PACKED, out, over.signal), /stopping/)
})

test('the archive numbers entries even if rows of the log were dropped', async () => {
  const entries = Array.from({ length: 400 }, () => aCall())
  await write(entries.slice(0, 100), [1])
  await write(entries.slice(100, 300), [50])
  await write(entries.slice(300), [1, 60])
  const trimmedAfter = async (rows: number): Promise<number> => {
    const length = await redis.xlen(REDIS_KEYS.activity(PACKED))
    await redis.xtrim(REDIS_KEYS.activity(PACKED), 'MAXLEN', '=', length - rows)
    return (await readRowsAfter(redis, PACKED, '0-0', 1)).trimmed
  }
  assert.equal(await trimmedAfter(0), 0)
  assert.equal(await trimmedAfter(40), 40)
  // 60 more rows of one entry, and a block of 50.
  assert.equal(await trimmedAfter(61), 150)
  assert.equal(await trimmedAfter(1), 200)
  assert.equal(await trimmedAfter(2), 300)
  assert.equal(await trimmedAfter(1), 301)
  const left = await placesOf(PACKED)
  assert.equal(left.length, 99)
  // Nothing is missing for a reader whose place is still there.
  assert.equal((await readRowsAfter(redis, PACKED, left[70] ?? '', 10)).trimmed, 0)
})

test('a log of the version before is read, and reports nothing twice', async () => {
  // As version 0.2 left it: one entry a row, indexes with buckets of request ids, a digested position.
  const killed = activityEntry('agent_killed', {
    id: mintActivityId(Date.now()),
    data: { kill_method: 'auto_rate_limit', triggered_by: 'system', propagation_ms: 3 },
  })
  const old = [...Array.from({ length: 150 }, () => aCall()), killed]
  for (const entry of old) {
    const id =
      (await redis.xadd(REDIS_KEYS.activity(PACKED), '*', 'e', JSON.stringify(entry))) ?? ''
    for (const name of [`e:${entry.event}`, `a:${entry.agent_id}`, 'r:7']) {
      await redis.xadd(REDIS_KEYS.activityIndex(PACKED, name), id, '', '')
      await redis.sadd(REDIS_KEYS.activityIndexes(PACKED), name)
    }
    await redis.hset(REDIS_KEYS.activityDigest(PACKED), 'position', id, 'alerts', 1)
  }
  const before = await searchAll(PACKED, ANY, 50)
  assert.deepEqual(before, old.map(({ id }) => id).toReversed())
  const fresh = Array.from({ length: 130 }, () => aCall())
  const texts = fresh.map((entry) => JSON.stringify(entry))
  // Until an admin process of this version has indexed the log, blocks could not be read.
  assert.equal(await recordBlocks(redis, PACKED, texts), false)
  assert.equal(await redis.xlen(REDIS_KEYS.activity(PACKED)), old.length)
  await readDigestPlace(redis, PACKED)
  assert.equal(await recordBlocks(redis, PACKED, texts), true)
  const all = [...old, ...fresh]
  const check = async (): Promise<void> => {
    for (const agent of ['agt_0', 'agt_1', 'agt_2'])
      assert.deepEqual(
        await searchAll(PACKED, { ...ANY, equal: [['agent_id', agent]] }, 20),
        all.flatMap(({ agent_id, id }) => (agent_id === agent ? [id] : [])).toReversed(),
      )
    for (const entry of [old[3], fresh[70]]) {
      const filter = { ...ANY, request_id: entry?.request_id ?? '' }
      assert.deepEqual(await searchAll(PACKED, filter, 20), [entry?.id])
    }
  }
  assert.equal(await digest(PACKED), 0, 'the kill was counted by the version before')
  await check()
  assert.equal(await redis.exists(REDIS_KEYS.activityIndex(PACKED, 'r:7')), 0)
  assert.equal(await redis.zcard(REDIS_KEYS.alertIndex(PACKED)), 0)
  // A second process, and the next start, make nothing again.
  const place = await readDigestPlace(redis, PACKED)
  assert.equal(place.position, (await placesOf(PACKED)).at(-1))
  await recordEntries(redis, PACKED, [{ ...killed, id: mintActivityId(Date.now()) }])
  assert.equal(await digest(PACKED), 1)
  assert.equal(await redis.zcard(REDIS_KEYS.alertIndex(PACKED)), 1)
})

test('the log keeps to its budget, its indexes follow it, and search still finds all that is left', async () => {
  await readDigestPlace(redis, PACKED)
  for (let i = 0; i < 20; i++)
    await recordBlocks(
      redis,
      PACKED,
      Array.from({ length: 4 * BLOCK_ENTRIES_MAX }, () =>
        JSON.stringify(aCall({ endpoint: `/${randomUUID()}${randomUUID()}` })),
      ),
    )
  await digest(PACKED)
  const all = await searchAll(PACKED, ANY, 1_000)
  assert.equal(all.length, 20 * 4 * BLOCK_ENTRIES_MAX)
  const key = REDIS_KEYS.activity(PACKED)
  const bytes = Number(await redis.call('MEMORY', 'USAGE', key))
  const retention = { max_bytes: bytes / 3, retention_ms: 86_400_000 }
  await keepWithinBudget(redis, [PACKED], retention, Date.now(), new Map())
  const kept = Number(await redis.call('MEMORY', 'USAGE', key))
  assert.ok(kept < bytes / 2.5, `${kept} of ${bytes}`)
  const left = await searchAll(PACKED, ANY, 1_000)
  assert.deepEqual(left, all.slice(0, left.length))
  assert.deepEqual(await searchAll(PACKED, { ...ANY, equal: [['decision', 'allowed']] }, 500), left)
})
