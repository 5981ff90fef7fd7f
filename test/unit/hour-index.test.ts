import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { indexesOf } from '../../core/activity/activity-index.ts'
import {
  HourIndex,
  INDEX_HEAD_BYTES,
  membersOfList,
  membersOfRequest,
} from '../../core/activity/hour-index.ts'
import { HourIndexWriter } from '../../core/activity/hour-index-writer.ts'
import { indexHash } from '../../core/activity/index-hash.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { repetitions } from '../kit/repetitions.ts'

const HOUR_MS = Date.parse('2026-03-01T00:00:00Z')
type Entry = ReturnType<typeof activityEntry>

const lineOf = (entry: object, at_ms: number): string =>
  `{"n":1,"place":"${HOUR_MS + at_ms}-0","key":"k","entry":${JSON.stringify(entry)},"mac":"m"}\n`

function write(members: readonly (readonly Entry[])[]): Buffer {
  const writer = new HourIndexWriter(HOUR_MS)
  for (const [number, entries] of members.entries())
    writer.add(
      Buffer.from(entries.map((entry, i) => lineOf(entry, number * 1000 + i)).join('')),
      100 + number,
    )
  return writer.finish()
}

function read(bytes: Buffer): HourIndex {
  const length = HourIndex.lengthOf(bytes.subarray(0, INDEX_HEAD_BYTES)) ?? 0
  const index = HourIndex.read(bytes.subarray(0, length), HOUR_MS)
  assert.ok(index)
  return index
}

function membersWith(bytes: Buffer, name: string): readonly number[] {
  const index = read(bytes)
  const part = index.listOf(indexHash(name))
  return part === null
    ? []
    : membersOfList(bytes.subarray(part.at, part.at + part.bytes), part, index.members)
}

function membersWithRequest(bytes: Buffer, request_id: string): readonly number[] {
  const part = read(bytes).bucketOf(indexHash(request_id), bytes.length)
  const bucket = bytes.subarray(part.at, part.at + part.bytes)
  return membersOfRequest(bucket, part, indexHash(request_id))
}

test('an index names each member that holds a value, whatever the values are', () => {
  const entry = fc.record({
    agent_id: fc.constantFrom('a', 'b', 'agt_1', 'Zoë', ''),
    integration_id: fc.constantFrom('int_1', 'int_2'),
    reason: fc.constantFrom(null, 'invalid_key' as const),
    request_id: fc.string(),
  })
  fc.assert(
    fc.property(
      fc.array(fc.array(entry, { minLength: 1, maxLength: 4 }), { maxLength: 40 }),
      (some) => {
        const members = some.map((rows) =>
          rows.map((row) => activityEntry('permission_denied', row as Partial<Entry>)),
        )
        const bytes = write(members)
        assert.equal(read(bytes).members, members.length)
        for (const [number, rows] of members.entries())
          for (const row of rows) {
            for (const name of indexesOf(row)) assert.ok(membersWith(bytes, name).includes(number))
            assert.ok(membersWithRequest(bytes, String(row.request_id)).includes(number))
          }
        const having = members.flatMap((rows, i) =>
          rows.some((row) => row.agent_id === 'b') ? [i] : [],
        )
        assert.deepEqual(membersWith(bytes, 'a:b'), having)
      },
    ),
    { numRuns: repetitions(100) },
  )
})

test('an index has places and times of members, and no request id that is not there', () => {
  const members = Array.from({ length: 300 }, () => [
    activityEntry('request_allowed', { request_id: randomUUID() }),
    activityEntry('request_allowed', { request_id: randomUUID() }),
  ])
  const index = read(write(members))
  assert.deepEqual(index.member(0), {
    at: 0,
    bytes: 100,
    text_bytes: Buffer.byteLength((members[0] ?? []).map((one, i) => lineOf(one, i)).join('')),
    first_ms: HOUR_MS,
    last_ms: HOUR_MS + 1,
  })
  const third = index.member(2)
  assert.deepEqual([third.at, third.bytes, third.first_ms], [201, 102, HOUR_MS + 2000])
  assert.equal(index.file_bytes, 300 * 100 + (299 * 300) / 2)
  const bytes = write(members)
  assert.deepEqual(membersWithRequest(bytes, members[7]?.[1]?.request_id ?? ''), [7])
  assert.deepEqual(membersWithRequest(bytes, randomUUID()), [])
  assert.deepEqual(membersWith(bytes, 'a:agt_nobody'), [])
  assert.equal(membersWith(bytes, 'a:agt_test').length, 300)
})

test('lines about missing entries, and lines that cannot be read, are left out', () => {
  const writer = new HourIndexWriter(HOUR_MS)
  const gap = lineOf({ gap: { missing: 3 } }, 5)
  writer.add(Buffer.from(`${gap}no line\n${lineOf(activityEntry('agent_killed'), 9)}`), 10)
  const bytes = writer.finish()
  assert.deepEqual(membersWith(bytes, 'e:agent_killed'), [0])
  assert.equal(read(bytes).member(0).last_ms, HOUR_MS + 9)
})

test('no byte of an index can be changed, and none be cut off, without being noticed', () => {
  const members = Array.from({ length: 5 }, (_, i) => [
    activityEntry('request_allowed', { request_id: `r${i}`, agent_id: `agt_${i}` }),
  ])
  const whole = write(members)
  const isSeen = (bytes: Buffer): boolean => {
    try {
      const length = HourIndex.lengthOf(bytes.subarray(0, INDEX_HEAD_BYTES))
      if (length === null || length > bytes.length) return true
      const index = HourIndex.read(bytes.subarray(0, length), HOUR_MS)
      if (index === null) return true
      for (const [i, [entry]] of members.entries()) {
        for (const name of indexesOf(entry as Entry)) {
          const part = index.listOf(indexHash(name))
          if (part === null) return false
          membersOfList(bytes.subarray(part.at, part.at + part.bytes), part, index.members)
        }
        const part = index.bucketOf(indexHash(`r${i}`), bytes.length)
        membersOfRequest(bytes.subarray(part.at, part.at + part.bytes), part, indexHash(`r${i}`))
      }
      return false
    } catch {
      return true
    }
  }
  assert.equal(isSeen(whole), false)
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 0x10
    assert.ok(isSeen(changed), `byte ${at}`)
    assert.ok(isSeen(whole.subarray(0, at)), `cut at ${at}`)
  }
})
