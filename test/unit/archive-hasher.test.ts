import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { archiveHasher } from '../../core/activity/archive-hasher.ts'

const KEY = Buffer.from('0123456789abcdef0123456789abcdef')
const expected = (key: Buffer, previous: string, body: Buffer): string =>
  createHmac('sha256', key).update(`${previous}\n`).update(body).digest('base64url')

const BODIES: readonly (readonly [name: string, body: Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
  ['an entry', Buffer.from('{"n":1,"place":"1-0","key":"k","entry":{"id":"act_1"}}')],
  ['line feeds', Buffer.from('\n\n\n')],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0x00, 0x80, 0xc3])],
  ['one block of SHA-256', Buffer.alloc(64, 1)],
  ['a byte less than the first buffer holds', Buffer.alloc(16_384 - 64 - 6 - 1 - 1, 2)],
  ['as much as the first buffer holds', Buffer.alloc(16_384 - 64 - 6 - 1, 3)],
  ['a byte more', Buffer.alloc(16_384 - 64 - 6, 4)],
  ['the longest entry', Buffer.alloc(66_000, 5)],
]

test('hashes are HMAC with SHA-256, whatever was hashed before', () => {
  const macOf = archiveHasher(KEY)
  for (const [name, body] of [...BODIES, ...BODIES.toReversed()])
    assert.equal(macOf('before', body), expected(KEY, 'before', body), name)
})

test('the previous hash is a part of what is hashed', () => {
  const macOf = archiveHasher(KEY)
  for (const previous of ['start', '', 'a'.repeat(43)])
    for (const [name, body] of BODIES)
      assert.equal(macOf(previous, body), expected(KEY, previous, body), `${previous} ${name}`)
})

test('keys of up to 64 bytes are those of HMAC; a longer one is refused', () => {
  for (const length of [0, 1, 31, 32, 63, 64]) {
    const key = Buffer.alloc(length, 0x9c)
    const body = Buffer.from('entry')
    assert.equal(archiveHasher(key)('start', body), expected(key, 'start', body), `${length} bytes`)
  }
  assert.throws(() => archiveHasher(Buffer.alloc(65)), /at most 64 bytes/)
})
