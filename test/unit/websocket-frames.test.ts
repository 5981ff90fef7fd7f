import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyMask, OPCODE, encodeClose, encodeFrame } from '../../ext-proc/socket/frame.ts'
import { FrameReader } from '../../ext-proc/socket/frame-reader.ts'
import { MessageReader, type Piece } from '../../ext-proc/socket/message-reader.ts'
import { openFlow } from '../../ext-proc/socket/socket-flow.ts'
import type { Denial } from '../../ext-proc/verdict/denial.ts'
import type { Judge, SocketSide } from '../../ext-proc/verdict/socket-plan.ts'

const LIMIT_BYTES = 70_000
const { text, binary, continuation, close, ping, pong } = OPCODE

interface RawFrame {
  readonly opcode: number
  readonly payload?: Buffer | string
  readonly is_final?: boolean
  readonly reserved?: number
  /** Bytes of the length field in place of the fewest. */
  readonly length_field?: 2 | 8
  /** What the header says in place of the length of the payload. */
  readonly says?: bigint
  /** In place of what the side has to do. */
  readonly is_masked?: boolean
}

/** A frame with any faults. */
function raw(frame: RawFrame, masked: boolean): Buffer {
  const { opcode, is_final = true, reserved = 0, is_masked = masked } = frame
  const payload = Buffer.from(frame.payload ?? '')
  const length = frame.says ?? BigInt(payload.length)
  const field = frame.length_field ?? (length < 126n ? 0 : length < 65_536n ? 2 : 8)
  const head = Buffer.alloc(2 + field)
  head[0] = (is_final ? 0x80 : 0) | (reserved << 4) | opcode
  head[1] = (is_masked ? 0x80 : 0) | (field === 0 ? Number(length) : field === 2 ? 126 : 127)
  if (field === 2) head.writeUInt16BE(Number(length), 2)
  if (field === 8) head.writeBigUInt64BE(length, 2)
  if (!is_masked) return Buffer.concat([head, payload])
  const mask = Buffer.from([0x37, 0xfa, 0x21, 0x3d])
  applyMask(payload, mask, 0)
  return Buffer.concat([head, mask, payload])
}

const closing = (code: number, reason: Buffer | string = ''): Buffer =>
  Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)])
const x = (count: number): string => 'x'.repeat(count)
const INVALID = Buffer.from([0xc3, 0x28])

/** What is sent, and what is read of it: messages as `opcode:text`, a fault as its code. */
const CASES: readonly (readonly [
  name: string,
  frames: readonly RawFrame[],
  read: readonly (string | number)[],
])[] = [
  ['a text', [{ opcode: text, payload: 'hello' }], ['1:hello']],
  ['a binary message', [{ opcode: binary, payload: 'hello' }], ['2:hello']],
  ['bytes that are no text', [{ opcode: binary, payload: INVALID }], ['2:\ufffd(']],
  ['an empty text', [{ opcode: text }], ['1:']],
  ['an empty binary message', [{ opcode: binary }], ['2:']],
  ['125 bytes', [{ opcode: text, payload: x(125) }], [`1:${x(125)}`]],
  ['126 bytes', [{ opcode: text, payload: x(126) }], [`1:${x(126)}`]],
  ['65,535 bytes', [{ opcode: text, payload: x(65_535) }], [`1:${x(65_535)}`]],
  ['65,536 bytes', [{ opcode: text, payload: x(65_536) }], [`1:${x(65_536)}`]],
  ['as long as allowed', [{ opcode: binary, payload: x(LIMIT_BYTES) }], [`2:${x(LIMIT_BYTES)}`]],
  ['longer than allowed', [{ opcode: binary, payload: x(LIMIT_BYTES + 1) }], [1009]],
  ['a length that is never sent', [{ opcode: binary, says: 1n << 40n }], [1009]],
  ['a length over 2^53', [{ opcode: binary, says: 1n << 60n }], [1002]],
  ['a negative length', [{ opcode: binary, says: 1n << 63n }], [1002]],
  [
    'a length of 16 bits for 125 bytes',
    [{ opcode: text, payload: x(125), length_field: 2 }],
    [1002],
  ],
  ['a length of 16 bits for none', [{ opcode: text, length_field: 2 }], [1002]],
  [
    'a length of 64 bits for 125 bytes',
    [{ opcode: text, payload: x(125), length_field: 8 }],
    [1002],
  ],
  [
    'a length of 64 bits for 65,535',
    [{ opcode: text, payload: x(65_535), length_field: 8 }],
    [1002],
  ],
  ['RSV1', [{ opcode: text, payload: 'a', reserved: 4 }], [1002]],
  ['RSV2', [{ opcode: text, payload: 'a', reserved: 2 }], [1002]],
  ['RSV3', [{ opcode: text, payload: 'a', reserved: 1 }], [1002]],
  ['RSV1 of a ping', [{ opcode: ping, payload: 'a', reserved: 4 }], [1002]],
  [
    'RSV1 of a continuation',
    [
      { opcode: text, is_final: false },
      { opcode: continuation, reserved: 4 },
    ],
    [1002],
  ],
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map(
    (opcode) => [`the opcode ${opcode}`, [{ opcode, payload: 'a' }], [1002]] as const,
  ),
  [
    'two fragments',
    [
      { opcode: text, payload: 'ab', is_final: false },
      { opcode: continuation, payload: 'c' },
    ],
    ['1:abc'],
  ],
  [
    'three fragments',
    [
      { opcode: binary, payload: 'a', is_final: false },
      { opcode: continuation, payload: 'b', is_final: false },
      { opcode: continuation, payload: 'c' },
    ],
    ['2:abc'],
  ],
  [
    'fragments without bytes',
    [
      { opcode: text, is_final: false },
      { opcode: continuation, is_final: false },
      { opcode: continuation },
    ],
    ['1:'],
  ],
  [
    'a character split over fragments',
    [
      { opcode: text, payload: Buffer.from([0xc3]), is_final: false },
      { opcode: continuation, payload: Buffer.from([0xa9]) },
    ],
    ['1:é'],
  ],
  [
    'fragments longer than allowed',
    [
      { opcode: text, payload: x(40_000), is_final: false },
      { opcode: continuation, payload: x(40_000) },
    ],
    [1009],
  ],
  [
    'a ping between fragments',
    [
      { opcode: text, payload: 'a', is_final: false },
      { opcode: ping, payload: 'p' },
      { opcode: continuation, payload: 'b' },
    ],
    ['9:p', '1:ab'],
  ],
  [
    'a pong between fragments',
    [
      { opcode: text, payload: 'a', is_final: false },
      { opcode: pong },
      { opcode: continuation, payload: 'b' },
    ],
    ['10:', '1:ab'],
  ],
  [
    'a close between fragments',
    [
      { opcode: text, payload: 'a', is_final: false },
      { opcode: close, payload: closing(1000) },
    ],
    ['8:\u0003\ufffd'],
  ],
  [
    'a message between fragments',
    [
      { opcode: text, is_final: false },
      { opcode: text, payload: 'a' },
    ],
    [1002],
  ],
  [
    'a binary message between fragments',
    [{ opcode: text, is_final: false }, { opcode: binary }],
    [1002],
  ],
  ['a continuation of nothing', [{ opcode: continuation, payload: 'a' }], [1002]],
  [
    'a continuation after the end',
    [{ opcode: text, payload: 'a' }, { opcode: continuation }],
    ['1:a', 1002],
  ],
  ['a ping', [{ opcode: ping, payload: 'p' }], ['9:p']],
  ['a ping of 125 bytes', [{ opcode: ping, payload: x(125) }], [`9:${x(125)}`]],
  ['a ping of 126 bytes', [{ opcode: ping, payload: x(126) }], [1002]],
  ['a fragmented ping', [{ opcode: ping, is_final: false }], [1002]],
  ['a fragmented close', [{ opcode: close, is_final: false }], [1002]],
  ['a pong nobody asked for', [{ opcode: pong, payload: 'p' }], ['10:p']],
  ['a close without a code', [{ opcode: close }], ['8:']],
  ['half a code', [{ opcode: close, payload: 'a' }], [1002]],
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map(
    (code) => [`the code ${code}`, [{ opcode: close, payload: closing(code) }], [1002]] as const,
  ),
  ...[1000, 1001, 1008, 1011, 1014, 3000, 4999].map((code) => {
    const payload = closing(code, 'why')
    return [`the code ${code}`, [{ opcode: close, payload }], [`8:${payload.toString()}`]] as const
  }),
  ['a reason that is no text', [{ opcode: close, payload: closing(1000, INVALID) }], [1007]],
  ['a text that is no text', [{ opcode: text, payload: INVALID }], [1007]],
  [
    'a text that ends in a character',
    [{ opcode: text, payload: Buffer.from([0x61, 0xe2, 0x82]) }],
    [1007],
  ],
  ['a surrogate', [{ opcode: text, payload: Buffer.from([0xed, 0xa0, 0x80]) }], [1007]],
  ['a text behind a fault', [{ opcode: 3 }, { opcode: text, payload: 'a' }], [1002]],
  [
    'several messages',
    [
      { opcode: text, payload: 'a' },
      { opcode: binary, payload: 'b' },
      { opcode: ping },
      { opcode: text, payload: 'c' },
    ],
    ['1:a', '2:b', '9:', '1:c'],
  ],
  ['HTTP', [{ opcode: 7, reserved: 4, is_final: false, payload: 'ET / HTTP/1.1' }], [1002]],
]

const shown = (piece: Piece): string | number =>
  piece.kind === 'fault' ? piece.code : `${piece.opcode}:${piece.payload.toString()}`

/** One part, byte by byte (long ones in odd parts), and a part that ends in the first header. */
const SPLITS: readonly (readonly [name: string, parts: (bytes: Buffer) => readonly Buffer[]])[] = [
  ['at once', (bytes) => [bytes]],
  ['in small parts', (bytes) => inParts(bytes, bytes.length > 1_000 ? 977 : 1)],
  ['cut in a header', (bytes) => [bytes.subarray(0, 1), bytes.subarray(1)]],
]

const inParts = (bytes: Buffer, size: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )

test('frames are read as RFC 6455 has them, however they arrive', () => {
  let count = 0
  for (const side of ['client', 'api'] as const)
    for (const [name, frames, read] of CASES)
      for (const [split, partsOf] of SPLITS) {
        const reader = new MessageReader(
          { message_bytes: LIMIT_BYTES, hold: () => true, onFrame: () => {} },
          side === 'client',
        )
        const bytes = Buffer.concat(frames.map((frame) => raw(frame, side === 'client')))
        const pieces = partsOf(bytes).flatMap((part) => reader.push(part))
        assert.deepEqual(pieces.map(shown), read, `${side}: ${name}, ${split}`)
        count++
      }
  assert.ok(count >= 250, `${count} cases`)
})

test('a frame of the other side is refused: a client must mask, an API must not', () => {
  for (const is_masked of [true, false]) {
    const limits = { message_bytes: LIMIT_BYTES, hold: () => true, onFrame: () => {} }
    const reader = new MessageReader(limits, is_masked)
    const bytes = raw({ opcode: text, payload: 'a', is_masked: !is_masked }, is_masked)
    assert.deepEqual(reader.push(bytes).map(shown), [1002])
  }
})

test('what is written is read as it was', () => {
  for (const is_masked of [true, false])
    for (const length of [0, 1, 3, 4, 5, 125, 126, 65_535, 65_536]) {
      const limits = { message_bytes: LIMIT_BYTES, hold: () => true, onFrame: () => {} }
      const reader = new MessageReader(limits, is_masked)
      const payload = Buffer.alloc(length, 'abc')
      const bytes = Buffer.concat([
        encodeFrame(binary, payload, is_masked),
        encodeClose(1008, 'why', is_masked),
      ])
      const pieces = reader.push(bytes).map(shown)
      assert.deepEqual(pieces, [`2:${payload.toString()}`, `8:${closing(1008, 'why').toString()}`])
    }
})

const PLAN = { message_limit_bytes: LIMIT_BYTES, base_url: 'https://x', isKilled: () => false }
const BLOCK: Denial = { reason: 'security_block', details: {} }
const judging =
  (seen: string[]): Judge =>
  async (payload) => {
    await Promise.resolve()
    seen.push(payload.toString())
    return payload.includes('bad') ? BLOCK : null
  }
const planFor = (judge: Judge) => ({ ...PLAN, judge: { client: judge, api: judge } })

test('no byte of a message goes on before all of it was judged, and none of a bad one', async () => {
  for (const side of ['client', 'api'] satisfies SocketSide[]) {
    const masked = side === 'client'
    const seen: string[] = []
    const flow = openFlow(side, planFor(judging(seen)), () => true)
    const good = raw({ opcode: text, payload: 'good' }, masked)
    const bad = Buffer.concat([
      raw({ opcode: text, payload: 'very ', is_final: false }, masked),
      raw({ opcode: continuation, payload: 'bad' }, masked),
    ])
    const read: string[] = []
    const limits = { message_bytes: LIMIT_BYTES, hold: () => true, onFrame: () => {} }
    const receiver = new MessageReader(limits, masked)
    const push = async (bytes: Buffer): Promise<Denial | null> => {
      const { bytes: out, denial } = await flow.push(bytes)
      assert.notEqual(out, null)
      read.push(...receiver.push(out ?? bytes).map((piece) => String(shown(piece))))
      return denial
    }
    for (const byte of good) assert.equal(await push(Buffer.from([byte])), null)
    assert.deepEqual(read, ['1:good'])
    assert.equal(await push(Buffer.concat([good, bad.subarray(0, 4)])), null)
    for (const byte of bad.subarray(4, -1)) assert.equal(await push(Buffer.from([byte])), null)
    assert.deepEqual(read, ['1:good', '1:good'])
    assert.equal(await push(bad.subarray(-1)), BLOCK)
    assert.deepEqual(read.slice(2), [`8:${closing(1008, 'security_block').toString()}`])
    assert.equal(await push(good), null)
    assert.equal(read.length, 3)
    assert.deepEqual(seen, ['good', 'good', 'very bad'])
    assert.equal(flow.frames, 4)
  }
})

test('the payloads of control frames are judged too', async () => {
  for (const opcode of [ping, pong, close]) {
    const payload = opcode === close ? closing(1000, 'bad') : 'bad'
    const flow = openFlow('client', planFor(judging([])), () => true)
    const { bytes, denial } = await flow.push(raw({ opcode, payload }, true))
    assert.equal(denial, BLOCK)
    assert.equal(bytes?.includes('bad'), false)
  }
})

test('faults and limits close with their code, and name the side', async () => {
  const rows: readonly (readonly [SocketSide, RawFrame, code: number, reason: string])[] = [
    ['client', { opcode: 3 }, 1002, 'bad_request'],
    ['api', { opcode: 3 }, 1002, 'upstream_reset'],
    ['client', { opcode: text, payload: INVALID }, 1007, 'bad_request'],
    ['client', { opcode: text, payload: x(LIMIT_BYTES + 1) }, 1009, 'request_too_large'],
    ['api', { opcode: text, payload: x(LIMIT_BYTES + 1) }, 1009, 'response_too_large'],
    ['client', { opcode: text, payload: x(5_000) }, 1013, 'inspection_busy'],
  ]
  for (const [side, frame, code, reason] of rows) {
    const masked = side === 'client'
    const flow = openFlow(side, planFor(judging([])), (bytes) => bytes !== 5_000)
    const { bytes, denial } = await flow.push(raw(frame, masked))
    assert.equal(denial?.reason, reason)
    const limits = { message_bytes: LIMIT_BYTES, hold: () => true, onFrame: () => {} }
    const [piece] = new MessageReader(limits, masked).push(bytes ?? Buffer.alloc(0))
    assert.ok(piece?.kind === 'message' && piece.opcode === close)
    assert.equal(piece.payload.readUInt16BE(0), code)
  }
})

test('memory is held for what has come of a message, not for what it says, and given back', () => {
  const held: number[] = []
  const limits = {
    message_bytes: LIMIT_BYTES,
    hold: (bytes: number) => held.push(bytes) > 0,
    onFrame: () => {},
  }
  const reader = new MessageReader(limits, true)
  const bytes = raw({ opcode: binary, payload: x(60_000) }, true)
  reader.push(bytes.subarray(0, 108))
  assert.deepEqual(held, [100])
  reader.push(bytes.subarray(108))
  assert.deepEqual(held, [100, 60_000, 0])
})

test('where nothing is scanned, bytes pass as they are and frames are counted', async () => {
  const plan = { ...PLAN, judge: { client: null, api: null } }
  const flow = openFlow('client', plan, () => true)
  const bytes = Buffer.concat([
    raw({ opcode: text, payload: 'a', reserved: 4 }, true),
    raw({ opcode: ping }, true),
  ])
  for (const byte of bytes)
    assert.deepEqual(await flow.push(Buffer.from([byte])), { bytes: null, denial: null })
  assert.equal(flow.frames, 2)
})

test('a reader that is ended by an event reads no further', () => {
  let count = 0
  const reader = new FrameReader({
    head: () => ++count < 2,
    payload: () => true,
    end: () => true,
  })
  const one = raw({ opcode: text, payload: 'a' }, true)
  assert.equal(reader.push(Buffer.concat([one, one, one])), false)
  assert.equal(count, 2)
})
