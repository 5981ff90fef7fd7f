import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { crc32, gzipSync } from 'node:zlib'
import {
  type ActivityFilter,
  matchesFilter,
  readFilter,
  type FilterQuery,
} from '../../admin/activity/activity-filter.ts'
import { searchArchive } from '../../admin/activity/search-archive.ts'
import { ArchiveChain } from '../../admin/audit/archive-chain.ts'
import { DiskReads } from '../../admin/context/disk-reads.ts'
import { ArchiveHours } from '../../admin/context/archive-hours.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { archiveKeys, archiveRoots } from '../../core/activity/archive-line.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const DEPLOYMENT = 'unit'
const HOUR_MS = 3_600_000
const BEGIN_MS = Date.parse('2026-03-01T00:00:00Z')
const keys = archiveKeys(archiveRoots(parseKeyRing(randomBytes(32).toString('base64'))), ORG)
const never = new AbortController().signal
const redis = { get: () => Promise.resolve(DEPLOYMENT) }

interface Written {
  readonly place: string
  readonly entry: ActivityEntry
}

interface Archive {
  readonly root: string
  readonly folder: string
  readonly chain: ArchiveChain
  /** From old to new. */
  readonly written: readonly Written[]
}

const hourName = (hour: number): string =>
  new Date(BEGIN_MS + hour * HOUR_MS).toISOString().slice(0, 13)

/** Entries whose texts are long enough for several members an hour; their ids do not say which hour they are of. */
async function archive(hours: number, perHour: number): Promise<Archive> {
  const root = tempFolder('archive-search')
  const folder = join(root, DEPLOYMENT, ORG)
  const chain = new ArchiveChain(folder, keys)
  const written: Written[] = []
  for (let hour = 0; hour < hours; hour++) {
    const some = Array.from({ length: perHour }, (_, i) => entryAt(hour, i))
    await chain.append(
      some.map(({ place, entry }, i) => ({
        n: written.length + i + 1,
        place,
        entry_text: JSON.stringify(entry),
      })),
    )
    written.push(...some)
  }
  return { root, folder, chain, written }
}

function entryAt(hour: number, i: number): Written {
  const ms = BEGIN_MS + hour * HOUR_MS + i * 100
  const isRefused = i % 7 === 0
  const entry = activityEntry(isRefused ? 'permission_denied' : 'request_allowed', {
    timestamp: new Date(ms).toISOString(),
    agent_id: i === 5 && hour === 0 ? 'agt_rare' : `agt_${i % 3}`,
    decision: isRefused ? 'blocked' : 'allowed',
    reason: isRefused ? 'permission_denied' : null,
    request_id: randomUUID(),
    endpoint: i % 11 === 0 ? '/v1/Needle' : '/v1/Zoë',
    data: { pad: randomBytes(2500).toString('hex'), ...(i % 13 === 0 ? { via: 'forward' } : {}) },
  })
  return { place: `${ms}-${i % 2}`, entry }
}

async function compressAll({ chain }: Archive): Promise<void> {
  while (await chain.compressNext(never));
}

function filterOf(query: FilterQuery): ActivityFilter {
  const read = readFilter(query)
  assert.ok(read.ok)
  return read.filter
}

/** All pages; each request has so much time. Between them, what the test does meanwhile. */
async function search(
  hours: ArchiveHours,
  query: FilterQuery,
  {
    limit = 50,
    time_ms = 60_000,
    organization_id = ORG,
    meanwhile = () => Promise.resolve(),
  }: {
    readonly limit?: number
    readonly time_ms?: number
    readonly organization_id?: string
    readonly meanwhile?: () => Promise<void>
  } = {},
): Promise<{ places: string[]; skipped: string[]; pages: number }> {
  const places: string[] = []
  const skipped = new Set<string>()
  let pages = 0
  for (let before: string | null = null; ; ) {
    const end_ms = performance.now() + time_ms
    const page = await searchArchive(hours, organization_id, filterOf(query), {
      before,
      limit,
      nowMs: () => performance.now(),
      end_ms,
    })
    pages++
    places.push(...page.found.map(({ place }) => place))
    for (const hour of page.skipped_hours) skipped.add(hour)
    if (page.next === null) return { places, skipped: [...skipped], pages }
    before = page.next
    await meanwhile()
  }
}

const expected = (written: readonly Written[], query: FilterQuery): string[] =>
  written
    .filter(({ place, entry }) => matchesFilter(filterOf(query), entry, Number.parseInt(place, 10)))
    .map(({ place }) => place)
    .reverse()

const openHours = ({ root }: Archive): ArchiveHours =>
  new ArchiveHours(root, redis, () => performance.now())

describe('search of the archive', () => {
  test('every filter finds each entry once, newest first, in hours of every form and with any time', async () => {
    const made = await archive(2, 40)
    const queries: FilterQuery[] = [
      {},
      { agent_id: 'agt_1' },
      { agent_id: 'agt_rare' },
      { agent_id: 'agt_1', decision: 'blocked' },
      { event: 'permission_denied', reason: 'permission_denied' },
      { via: 'forward' },
      { via: 'base_url' },
      { request_id: made.written[3]?.entry.request_id ?? '' },
      { request_id: randomUUID() },
      { q: 'needle' },
      { q: 'ZOË' },
      { q: 'nowhere to be found' },
      { agent_id: 'nobody' },
      { from: new Date(BEGIN_MS + HOUR_MS + 1000).toISOString(), agent_id: 'agt_2' },
      { to: new Date(BEGIN_MS + HOUR_MS + 3000).toISOString(), q: 'needle' },
    ]
    for (const step of ['plain', 'one compressed', 'all compressed']) {
      if (step === 'one compressed') await made.chain.compressNext(never)
      if (step === 'all compressed') await compressAll(made)
      const hours = openHours(made)
      for (const query of queries)
        for (const time_ms of [60_000, 0]) {
          const { places, skipped } = await search(hours, query, { limit: 7, time_ms })
          const name = `${step} ${JSON.stringify(query)} ${time_ms}`
          assert.deepEqual(places, expected(made.written, query), name)
          assert.deepEqual(skipped, [], name)
        }
    }
  })

  test('an agent that was last seen long ago is found in a few steps, without reading other hours', async () => {
    const made = await archive(6, 40)
    await compressAll(made)
    for (let hour = 1; hour < 5; hour++)
      writeFileSync(join(made.folder, `${hourName(hour)}.ndjson.gz`), 'not read')
    const { places, skipped, pages } = await search(openHours(made), { agent_id: 'agt_rare' })
    assert.deepEqual([places, skipped, pages], [[made.written[5]?.place], [], 1])
  })

  test('hours that were compressed by an earlier version are named, and searched once they have an index', async () => {
    const made = await archive(3, 40)
    for (let hour = 0; hour < 2; hour++) {
      const file = join(made.folder, `${hourName(hour)}.ndjson`)
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)))
      rmSync(file)
    }
    const chain = new ArchiveChain(made.folder, keys)
    const hours = openHours(made)
    assert.deepEqual((await search(hours, {})).skipped, [hourName(1), hourName(0)])
    assert.equal(await chain.compressNext(never), true)
    assert.deepEqual((await search(hours, {})).skipped, [hourName(0)])
    await compressAll({ ...made, chain })
    const { places, skipped } = await search(hours, {})
    assert.deepEqual([places, skipped], [expected(made.written, {}), []])
  })

  test('a damaged index hides nothing unnoticed, and is made again', async () => {
    const made = await archive(2, 61)
    await compressAll(made)
    const file = join(made.folder, `${hourName(0)}.index`)
    const whole = readFileSync(file)
    const { request_id } = made.written[60]?.entry ?? {}
    const queries: FilterQuery[] = [{}, { agent_id: 'agt_2' }, { request_id: request_id ?? '' }]
    const damages = [
      Buffer.alloc(0),
      whole.subarray(0, 20),
      whole.subarray(0, -3),
      randomBytes(whole.length),
      ...[2, 30, whole.length - 300, whole.length - 2].map((at) => {
        const changed = Buffer.from(whole)
        changed[at] = (changed[at] ?? 0) ^ 1
        return changed
      }),
    ]
    for (const damage of damages)
      for (const query of queries) {
        writeFileSync(file, damage)
        const { places, skipped } = await search(openHours(made), query)
        if (skipped.length === 0) assert.deepEqual(places, expected(made.written, query))
        else assert.deepEqual([skipped, existsSync(file)], [[hourName(0)], false])
        await compressAll(made)
        if (skipped.length > 0) assert.deepEqual(readFileSync(file), whole)
        assert.deepEqual(
          (await search(openHours(made), query)).places,
          expected(made.written, query),
        )
      }
  })

  test('a damaged hour file costs only what is damaged, and is named', async () => {
    const made = await archive(2, 300)
    await compressAll(made)
    const file = join(made.folder, `${hourName(0)}.ndjson.gz`)
    const bytes = readFileSync(file)
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1
    writeFileSync(file, bytes)
    for (const time_ms of [60_000, 0]) {
      const { places, skipped } = await search(openHours(made), {}, { time_ms })
      assert.deepEqual(skipped, [hourName(0)])
      assert.ok(places.length > 400 && places.length < 600, String(places.length))
      assert.equal(new Set(places).size, places.length)
    }
    writeFileSync(file, bytes.subarray(0, 5000))
    const cut = await search(openHours(made), {})
    assert.deepEqual([cut.skipped, cut.places.length], [[hourName(0)], 300])
    // It cannot be made again, and is not tried for ever.
    await assert.rejects(compressAll(made))
    await compressAll(made)
  })

  test('hours are compressed and deleted while someone pages', async () => {
    const made = await archive(4, 100)
    const hours = openHours(made)
    let page = 0
    const { places, skipped } = await search(
      hours,
      {},
      {
        limit: 30,
        meanwhile: async () => {
          if (page < 2) await made.chain.compressNext(never)
          if (page === 9) made.chain.removeUpTo(hourName(0))
          page++
        },
      },
    )
    const all = expected(made.written, {})
    assert.deepEqual(skipped, [])
    assert.deepEqual(places, all.slice(0, places.length))
    assert.ok(places.length >= 300)
  })

  test('an hour that was begun after the folder was listed is searched at once', async () => {
    const made = await archive(1, 5)
    const hours = openHours(made)
    assert.equal((await search(hours, {})).places.length, 5)
    const { place, entry } = entryAt(1, 0)
    await made.chain.append([{ n: 6, place, entry_text: JSON.stringify(entry) }])
    assert.deepEqual((await search(hours, {})).places[0], place)
  })

  test('a folder that cannot be read is named, and there is no such folder before the first entry', async () => {
    const root = tempFolder('archive-unreadable')
    const hours = new ArchiveHours(root, redis, () => performance.now())
    assert.deepEqual(await search(hours, {}), { places: [], skipped: [], pages: 1 })
    writeFileSync(join(root, DEPLOYMENT), 'a file')
    assert.deepEqual(await search(hours, {}), { places: [], skipped: ['all'], pages: 1 })
    assert.deepEqual(await hours.unsearched(ORG), ['all'])
  })

  test('an organization sees no file of another, wherever it lies', async () => {
    const made = await archive(2, 20)
    await compressAll(made)
    const hours = openHours(made)
    for (const organization_id of ['org_other', '../unit/org_default', '.', '..', '', `${ORG}/`])
      assert.deepEqual((await search(hours, {}, { organization_id })).places, [])
    const copied = { ...made, root: tempFolder('archive-copied') }
    const chain = new ArchiveChain(join(copied.root, DEPLOYMENT, 'org_other'), keys)
    await chain.append(
      made.written.map(({ place, entry }, i) => ({
        n: i + 1,
        place,
        entry_text: JSON.stringify(entry),
      })),
    )
    const { places } = await search(openHours(copied), {}, { organization_id: 'org_other' })
    assert.deepEqual(places, [])
  })

  test('lines about missing entries are no entries, and a line that is being written is none yet', async () => {
    const made = await archive(1, 30)
    const { n } = made.chain.head
    const place = `${BEGIN_MS + 20_000}-0`
    await made.chain.append([
      { n, place: made.chain.place, entry_text: '{"cut":{"missing":2}}' },
      { n: n + 3, place, entry_text: '{"gap":{"missing":2}}' },
      { n: n + 4, place, entry_text: JSON.stringify({ ...activityEntry('agent_killed') }) },
    ])
    const hours = openHours(made)
    const all = [place, ...expected(made.written, {})]
    const file = join(made.folder, `${hourName(0)}.ndjson`)
    const whole = readFileSync(file)
    appendFileSync(file, `{"n":${n + 5},"place":"${BEGIN_MS + 30_000}-0","key":"x","ent`)
    for (const limit of [1, 2, 50])
      assert.deepEqual((await search(hours, {}, { limit, time_ms: 0 })).places, all)
    writeFileSync(file, whole)
    await made.chain.append([
      { n: n + 5, place: `${BEGIN_MS + HOUR_MS}-0`, entry_text: '{"gap":{"missing":1}}' },
    ])
    await compressAll(made)
    for (const limit of [1, 2, 50])
      assert.deepEqual((await search(openHours(made), {}, { limit, time_ms: 0 })).places, all)
  })

  test('every page says where to go on, and the last one is that of the first hour since 1970', async () => {
    const made = await archive(1, 30)
    const entry = { ...activityEntry('request_allowed'), agent_id: 'agt_first' }
    const line = (place: string): string =>
      `{"n":1,"place":"${place}","key":"k","entry":${JSON.stringify(entry)},"mac":"m"}\n`
    writeFileSync(join(made.folder, '1970-01-01T00.ndjson'), ['0-0', '0-1'].map(line).join(''))
    const hours = openHours(made)
    for (const limit of [1, 2, 50]) {
      let before: string | null = null
      const places: string[] = []
      do {
        const page = await searchArchive(hours, ORG, filterOf({ agent_id: 'agt_first' }), {
          before,
          limit,
          nowMs: () => 1,
          end_ms: 0,
        })
        places.push(...page.found.map(({ place }) => place))
        before = page.next
        assert.notEqual(before, '0-0')
      } while (before !== null)
      assert.deepEqual(places, ['0-1', '0-0'])
    }
  })

  test('a disk that hangs holds no search, and is searched again when it responds', async () => {
    const made = await archive(3, 40)
    await compressAll(made)
    const disk = new DiskReads(20)
    const hours = new ArchiveHours(made.root, redis, () => performance.now(), disk)
    const file = join(made.folder, `${hourName(1)}.index`)
    const whole = readFileSync(file)
    rmSync(file)
    // To open a pipe takes until somebody writes into it.
    execFileSync('mkfifo', [file])
    const all = expected(made.written, {})
    const first = await search(hours, {})
    assert.deepEqual(first.skipped, ['all'])
    assert.deepEqual(first.places, all.slice(0, first.places.length))
    const others = Array.from({ length: 50 }, () => search(hours, { agent_id: 'agt_rare' }))
    for (const { places, skipped } of await Promise.all(others))
      assert.deepEqual([places, skipped], [[], ['all']])
    assert.deepEqual(await hours.unsearched(ORG), ['all'])
    const writer = openSync(file, 'r+')
    rmSync(file)
    writeFileSync(file, whole)
    await until('the disk responds', async () => (await hours.unsearched(ORG)).length === 0)
    closeSync(writer)
    // On a busy machine a sound disk, too, may take longer than this short limit.
    const found = await until('the whole archive is searched', async () => {
      const result = await search(hours, {})
      return result.skipped.length === 0 ? result : undefined
    })
    assert.deepEqual(found.places, all)
  })

  test('reads that wait for a hanging one fail with it, and what comes too late is closed', async () => {
    const disk = new DiskReads(1)
    let respond: (text: string) => void = () => undefined
    const hanging = new Promise<string>((resolve) => (respond = resolve))
    const late: string[] = []
    const asked = Array.from({ length: 5 }, () =>
      disk.run(
        () => hanging,
        (text) => late.push(text),
      ),
    )
    for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected')
    await assert.rejects(disk.run(() => Promise.resolve('not asked')))
    respond('late')
    await hanging
    // Two were running; the others had not begun.
    assert.deepEqual(late, ['late', 'late'])
    assert.equal(await disk.run(() => Promise.resolve('again')), 'again')
  })

  test('a compressed file that is one endless line is refused, whatever it expands to', async () => {
    const made = await archive(2, 10)
    const file = join(made.folder, `${hourName(0)}.ndjson`)
    writeFileSync(`${file}.gz`, gzipSync(Buffer.alloc(64 << 20)))
    rmSync(file)
    const chain = new ArchiveChain(made.folder, keys)
    await assert.rejects(chain.compressNext(never), { code: 'ERR_LINE_TOO_LONG' })
    // It is not tried again.
    assert.equal(await chain.compressNext(never), false)
    assert.deepEqual((await search(openHours(made), {})).skipped, [hourName(0)])
  })

  test('damage that a search has met is announced from then on', async () => {
    const made = await archive(2, 40)
    await compressAll(made)
    const hours = openHours(made)
    assert.deepEqual(await hours.unsearched(ORG), [])
    const file = join(made.folder, `${hourName(0)}.ndjson.gz`)
    const bytes = readFileSync(file)
    bytes[500] = (bytes[500] ?? 0) ^ 1
    writeFileSync(file, bytes)
    assert.deepEqual((await search(hours, {})).skipped, [hourName(0)])
    assert.deepEqual(await hours.unsearched(ORG), [hourName(0)])
  })

  test('an index that names huge lengths costs no memory, however well it is made', async () => {
    const made = await archive(2, 60)
    await compressAll(made)
    const file = join(made.folder, `${hourName(0)}.index`)
    const whole = readFileSync(file)
    const values = whole.readUInt32LE(16)
    const members = 24 + values * 16
    // The length of each list, the compressed bytes of the first member, and its bytes of text.
    const lists = Array.from({ length: values }, (_, i) => 24 + i * 16 + 8)
    for (const places of [lists, [members], [members + 4]]) {
      const forged = Buffer.from(whole)
      for (const at of places) forged.writeUInt32LE(0xf0_00_00_00, at)
      const head = members + whole.readUInt32LE(20) * 16 + 256 * 8
      forged.writeUInt32LE(crc32(forged.subarray(8, head)), 4)
      writeFileSync(file, forged)
      const before = process.memoryUsage().arrayBuffers
      const { skipped } = await search(openHours(made), { agent_id: 'agt_1' })
      assert.deepEqual(skipped, [hourName(0)])
      assert.ok(process.memoryUsage().arrayBuffers - before < 64 << 20)
    }
  })
})
