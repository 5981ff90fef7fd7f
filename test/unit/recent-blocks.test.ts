import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { expandBlock } from '../../core/activity/expand-block.ts'
import { LogRow } from '../../core/activity/log-row.ts'
import { packBlock } from '../../core/activity/pack-block.ts'
import { RecentBlocks } from '../../core/activity/recent-blocks.ts'
import { entriesAfter } from '../../core/activity/entries-after.ts'
import { entryBytesAfter } from '../../core/activity/entry-bytes-after.ts'

const textsOf = (n: number, count = 3): string[] =>
  Array.from({ length: count }, (_, i) => JSON.stringify({ id: `act_${n}_${i}`, name: 'ä🤖' }))
const blockOf = (n: number): Buffer => packBlock(textsOf(n)).block

test('a block that was expanded lately is not expanded again', () => {
  const recent = new RecentBlocks()
  const first = recent.expand(blockOf(1))
  assert.equal(first.toString(), textsOf(1).join('\n'))
  assert.equal(recent.expand(blockOf(1)), first)
})

test('blocks with the same end are not mixed up', () => {
  const recent = new RecentBlocks()
  const block = blockOf(1)
  recent.expand(block)
  const damaged = Buffer.from(block)
  damaged[2] = (damaged[2] ?? 0) ^ 0xff
  assert.throws(() => assert.equal(recent.expand(damaged).toString(), textsOf(1).join('\n')))
  assert.equal(recent.expand(block).toString(), textsOf(1).join('\n'))
})

test('the oldest blocks are dropped at the bound, and a block above it is not kept', () => {
  const size = blockOf(1).length + textsOf(1).join('\n').length
  const recent = new RecentBlocks(size * 3)
  const first = recent.expand(blockOf(1))
  const [, , , newest] = [2, 3, 4, 5].map((n) => recent.expand(blockOf(n)))
  assert.equal(recent.expand(blockOf(5)), newest)
  assert.notEqual(recent.expand(blockOf(1)), first)
  const none = new RecentBlocks(10)
  assert.notEqual(none.expand(blockOf(1)), none.expand(blockOf(1)))
})

test('entries as bytes are those as texts, after any position in a block', () => {
  const fields = (n: number): [string, Buffer] => ['b', blockOf(n)]
  const rows = [
    new LogRow(['5-2', fields(1)]),
    new LogRow(['6-0', ['e', textsOf(2, 1)[0] ?? '']]),
    new LogRow(['7-0', ['e', Buffer.from(textsOf(3, 1)[0] ?? '')]]),
    new LogRow(['7-9', fields(4)]),
  ]
  for (const after of ['0-0', '4-9', '5-0', '5-1'])
    assert.deepEqual(
      entryBytesAfter(after, rows).map(({ place, text }) => [place, text.toString()]),
      [...entriesAfter(after, rows)].map(({ place, text }) => [place, text]),
    )
  assert.equal(entryBytesAfter('5-1', rows).length, 6)
})

test('bytes that are no UTF-8 are replaced as in a text', () => {
  const [one] = new LogRow(['1-0', ['e', Buffer.from([0x7b, 0xff, 0x7d])]]).entryBytes()
  assert.equal(one?.text.toString(), '{�}')
  assert.equal(one?.text.length, 5)
})

test('blocks expand to what was packed, however much they grow, and keep no memory beyond twice that', () => {
  const noise = (bytes: number): string => randomBytes(bytes).toString('base64url')
  const rows: readonly (readonly [name: string, texts: readonly string[]])[] = [
    ['one empty entry', ['{}']],
    ['one short entry', ['{"id":"act_1"}']],
    ['usual entries', textsOf(1, 64)],
    ['entries that are alike', Array.from({ length: 64 }, () => `{"name":"${'x'.repeat(1_000)}"}`)],
    [
      'very long entries that are alike',
      Array.from({ length: 64 }, () => `"${'y'.repeat(60_000)}"`),
    ],
    ['a short entry that does not compress', [`"${noise(300)}"`]],
    ['long entries that do not compress', Array.from({ length: 64 }, () => `"${noise(900)}"`)],
    ['the longest entry that does not compress', [`"${noise(48_000)}"`]],
  ]
  for (const [name, texts] of rows) {
    const expanded = expandBlock(packBlock(texts).block)
    assert.deepEqual(expanded.toString().split('\n'), texts, name)
    // A small buffer may be a part of the pool that Node shares between buffers: 8 KiB in Node 20, 64 KiB in Node 24.
    const bytes_max = Math.max(2 * expanded.length, Buffer.poolSize)
    assert.ok(expanded.buffer.byteLength <= bytes_max, `${name}: ${expanded.buffer.byteLength}`)
  }
})
