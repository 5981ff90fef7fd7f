import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ArchiveChain } from '../../admin/audit/archive-chain.ts'
import { compressHour } from '../../admin/audit/compress-hour.ts'
import { lastLineOfGzip } from '../../admin/audit/last-line-of-gzip.ts'
import { archiveKeys, archiveRoots } from '../../core/activity/archive-line.ts'
import { hourFilesAmong } from '../../core/activity/list-hour-files.ts'
import { verifyArchive } from '../../core/activity/verify-archive.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const ORG = 'org_default'
const roots = archiveRoots(parseKeyRing(randomBytes(32).toString('base64')))
const keys = archiveKeys(roots, ORG)
const never = new AbortController().signal
const HOURS = ['2026-03-01T00', '2026-03-01T01', '2026-03-01T02']

/** An archive of three hours with 40 entries each. */
async function archive(): Promise<{ root: string; folder: string }> {
  const root = tempFolder('compression')
  const folder = join(root, ORG)
  const chain = new ArchiveChain(folder, keys)
  for (const [at, hour] of HOURS.entries())
    await chain.append(
      Array.from({ length: 40 }, (_, i) => ({
        n: at * 40 + i + 1,
        place: `${Date.parse(`${hour}:00:00Z`) + i}-0`,
        entry_text: JSON.stringify({ id: i, text: randomBytes(20).toString('hex') }),
      })),
    )
  return { root, folder }
}

const problemsOf = async (root: string): Promise<readonly string[]> =>
  (await verifyArchive(root, roots)).problems.map(({ problem }) => problem)

test('a compressed archive verifies, has the same bytes, and can be read by gunzip', async () => {
  const { root, folder } = await archive()
  const before = readFileSync(join(folder, `${HOURS[0]}.ndjson`), 'utf8')
  const chain = new ArchiveChain(folder, keys)
  while (await chain.compressNext(never));
  assert.deepEqual(readdirSync(folder).sort(), [
    '2026-03-01T00.index',
    '2026-03-01T00.ndjson.gz',
    '2026-03-01T01.index',
    '2026-03-01T01.ndjson.gz',
    '2026-03-01T02.ndjson',
    'head.json',
  ])
  const file = join(folder, `${HOURS[0]}.ndjson.gz`)
  assert.equal(gunzipSync(readFileSync(file)).toString('utf8'), before)
  assert.equal(lastLineOfGzip(file), before.trimEnd().split('\n').at(-1))
  assert.deepEqual(await problemsOf(root), [])
  assert.equal((await verifyArchive(root, roots)).lines, 120)
})

test('only a file of an hour that exists is one of the archive', () => {
  const hours = ['2024-02-29T00.ndjson.gz', '2026-02-28T23.ndjson', '2026-03-01T00.ndjson']
  const others = [
    '2026-02-31T05.ndjson',
    '2026-02-28T24.ndjson',
    '2026-13-01T00.ndjson.gz',
    '1969-12-31T23.ndjson',
    'head.json',
  ]
  assert.deepEqual(hourFilesAmong([...others, ...hours].reverse()), hours)
})

test('an archive that is written to is verified up to a given end, and no longer than is wanted', async () => {
  const { root, folder } = await archive()
  const lines = readFileSync(join(folder, `${HOURS[1]}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
  const { mac } = JSON.parse(lines[9] ?? '') as { mac: string }
  const heads = new Map([[ORG, { n: 50, mac }]])
  const bounds = { organization_id: ORG, isOver: () => false }
  const toEnd = await verifyArchive(root, roots, heads, bounds)
  assert.deepEqual([toEnd.lines, toEnd.complete, toEnd.problems], [50, true, []])
  const over = { ...bounds, isOver: () => true }
  const stopped = await verifyArchive(root, roots, heads, over)
  assert.deepEqual([stopped.lines, stopped.complete, stopped.problems], [0, false, []])
})

test('compressed hours are removed by age, and the rest still verifies', async () => {
  const { root, folder } = await archive()
  const chain = new ArchiveChain(folder, keys)
  while (await chain.compressNext(never));
  chain.removeUpTo(HOURS[0] ?? '')
  assert.equal(existsSync(join(folder, `${HOURS[0]}.ndjson.gz`)), false)
  assert.equal(chain.head.first_n, 41)
  assert.deepEqual(await problemsOf(root), [])
})

const crashes: readonly (readonly [what: string, leave: (plain: string, gz: Buffer) => void])[] = [
  ['before anything was written', () => undefined],
  [
    'in the middle of the compressed file',
    (plain, gz) => writeFileSync(`${plain}.gz.new`, gz.subarray(0, gz.length / 2)),
  ],
  ['before the compressed file was renamed', (plain, gz) => writeFileSync(`${plain}.gz.new`, gz)],
  ['before the plain file was removed', (plain, gz) => writeFileSync(`${plain}.gz`, gz)],
  [
    'with a compressed file of other content, which does not count',
    (plain) => writeFileSync(`${plain}.gz`, gzipSync('other\n')),
  ],
]
for (const [what, leave] of crashes)
  test(`a crash ${what} loses nothing, and the next start goes on`, async () => {
    const { root, folder } = await archive()
    const plain = join(folder, `${HOURS[0]}.ndjson`)
    leave(plain, gzipSync(readFileSync(plain)))
    assert.deepEqual(await problemsOf(root), [])
    const chain = new ArchiveChain(folder, keys)
    while (await chain.compressNext(never));
    assert.deepEqual(await problemsOf(root), [])
    assert.equal(readdirSync(folder).length, 6)
    assert.equal((await verifyArchive(root, roots)).lines, 120)
  })

test('a stop in the middle leaves the plain file and nothing else', async () => {
  const { root, folder } = await archive()
  // The file that is being written is opened in another thread, sooner or later than the stop is seen.
  for (let round = 0; round < 50; round++) {
    await assert.rejects(compressHour(folder, `${HOURS[0]}.ndjson`, AbortSignal.abort()))
    assert.deepEqual(readdirSync(folder).sort(), [
      ...HOURS.map((hour) => `${hour}.ndjson`),
      'head.json',
    ])
  }
  assert.deepEqual(await problemsOf(root), [])
})

const damages: readonly (readonly [what: string, damage: (gz: Buffer) => Buffer, says: RegExp])[] =
  [
    ['cut off', (gz) => gz.subarray(0, gz.length - 20), /cannot be read|missing/],
    ['changed in one bit', (gz) => flipped(gz), /cannot be read|changed|not an archive line/],
    ['replaced by another text', () => gzipSync('{"a":1}\n'), /not an archive line/],
    [
      'replaced by a line without an end',
      () => gzipSync(Buffer.alloc(4 << 20, 'x')),
      /a line has more than 1048576 characters.*another copy of the file/,
    ],
    ['emptied', () => Buffer.alloc(0), /cannot be read|missing/],
    [
      'without its last line',
      (gz) =>
        gzipSync(gunzipSync(gz).toString().trimEnd().split('\n').slice(0, -1).join('\n') + '\n'),
      /missing/,
    ],
  ]
for (const [what, damage, says] of damages)
  test(`a compressed file that was ${what} is reported`, async () => {
    const { root, folder } = await archive()
    const chain = new ArchiveChain(folder, keys)
    while (await chain.compressNext(never));
    const file = join(folder, `${HOURS[1]}.ndjson.gz`)
    writeFileSync(file, damage(readFileSync(file)))
    const problems = await problemsOf(root)
    assert.match(problems.join('; '), says)
  })

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  const at = Math.floor(copy.length / 2)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

test('the last line is found whatever the compressed data before it looks like', async () => {
  const folder = tempFolder('compression')
  // Text that does not compress, so that the start of a member may stand in it by chance.
  const lines = Array.from({ length: 2_000 }, () => randomBytes(60).toString('base64'))
  for (const count of [1, 2, 2_000]) {
    const some = lines.slice(0, count)
    writeFileSync(join(folder, 'x.ndjson'), `${some.join('\n')}\n`)
    await compressHour(folder, 'x.ndjson', never)
    assert.equal(lastLineOfGzip(join(folder, 'x.ndjson.gz')), some.at(-1))
  }
})
