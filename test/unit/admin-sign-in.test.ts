import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCursor, writeCursor } from '../../admin/resources/cursor.ts'
import { readBearer } from '../../admin/access/read-bearer.ts'
import {
  ADDRESSES_LIMIT,
  FAILURES_LIMIT,
  SignInThrottle,
  WINDOW_MS,
} from '../../admin/context/sign-in-throttle.ts'

test('an address waits once it has failed too often, until its window is over', () => {
  let now_ms = 5
  const throttle = new SignInThrottle(() => now_ms)
  for (let i = 0; i < FAILURES_LIMIT; i++) {
    assert.equal(throttle.waitOf('a'), 0)
    throttle.fail('a')
  }
  assert.equal(throttle.waitOf('a'), WINDOW_MS / 1000)
  assert.equal(throttle.waitOf('b'), 0)
  now_ms += WINDOW_MS - 1
  assert.equal(throttle.waitOf('a'), 1)
  now_ms += 1
  assert.equal(throttle.waitOf('a'), 0)
})

test('the table of addresses is bounded, and the one that failed longest ago goes', () => {
  const throttle = new SignInThrottle(() => 0)
  for (let i = 0; i < FAILURES_LIMIT; i++) throttle.fail('first')
  for (let i = 0; i < ADDRESSES_LIMIT; i++) throttle.fail(`other ${i}`)
  assert.equal(throttle.size, ADDRESSES_LIMIT)
  assert.equal(throttle.waitOf('first'), 0)
})

test('sign-ins of one address run one after the other, also when one fails', async () => {
  const throttle = new SignInThrottle(() => 0)
  const order: string[] = []
  const work =
    (name: string, fails = false) =>
    async () => {
      order.push(`${name} begins`)
      await Promise.resolve()
      order.push(`${name} ends`)
      if (fails) throw new Error(name)
    }
  const runs = [throttle.inTurn('x', work('a', true)), throttle.inTurn('x', work('b'))]
  const [a, b] = await Promise.allSettled(runs)
  assert.deepEqual([a?.status, b?.status], ['rejected', 'fulfilled'])
  assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends'])
})

const HEADERS: [string | undefined, string | null][] = [
  ['Bearer abc', 'abc'],
  ['bearer  abc ', 'abc'],
  ['Bearer a b', null],
  ['Bearer', null],
  ['Basic abc', null],
  ['Bearer a, Bearer b', null],
  [`Bearer ${'x'.repeat(513)}`, null],
  [undefined, null],
]
for (const [header, token] of HEADERS)
  test(`Authorization ${String(header).slice(0, 30)} gives ${token}`, () => {
    assert.equal(readBearer(header), token)
  })

test('a cursor reads back as it was written, and nothing else reads as one', () => {
  const member = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/)
  fc.assert(
    fc.property(fc.nat(), member, (score, id) => {
      const place = { score: String(score), member: id }
      assert.deepEqual(readCursor(writeCursor(place)), place)
    }),
  )
  for (const text of ['', 'x', writeCursor({ score: '+inf', member: 'a' }), 'a'.repeat(400)])
    assert.equal(readCursor(text), null)
})
