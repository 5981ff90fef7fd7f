import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { type Frame, frameReader, writeFrame } from '../../core/inspection/frames.ts'
import { freeMemory } from '../../core/inspection/free-memory.ts'
import { until } from '../kit/until.ts'

const FRAMES: readonly Frame[] = [
  { value: { name: 'no bytes', list: [1, undefined, null] }, bytes: null },
  { value: 'empty bytes', bytes: Buffer.alloc(0) },
  { value: { map: new Map([['a', 1n]]) }, bytes: Buffer.from('\0 body \xff', 'latin1') },
  { value: undefined, bytes: Buffer.alloc(100_000, 'x') },
]

for (const size of [1, 7, 8, 9, 1_000, 1_000_000])
  test(`frames are the same when they come in parts of ${size} bytes`, () => {
    const stream = new PassThrough()
    let sent = 0
    for (const frame of FRAMES) writeFrame(stream, frame, () => sent++)
    const bytes = Buffer.concat(chunksOf(stream))
    const read: Frame[] = []
    const push = frameReader(200_000, (frame) => read.push(frame))
    for (let at = 0; at < bytes.length; at += size) push(bytes.subarray(at, at + size))
    assert.deepEqual(read, FRAMES)
  })

test('a frame that is too long, or has lengths that cannot be, is an error', () => {
  for (const [value, bytes] of [
    [1, 200_000],
    [-1, 0],
    [2, -2],
  ] as const) {
    const head = Buffer.alloc(8)
    head.writeInt32LE(value, 0)
    head.writeInt32LE(bytes, 4)
    assert.throws(() => frameReader(200_000, () => undefined)(head), /a frame of/)
  }
})

test('memory that is given back is no longer counted, and no other is touched', async () => {
  const bodies = Array.from({ length: 32 }, () => Buffer.alloc(1 << 20, 'x'))
  const other = Buffer.alloc(1 << 20, 'y')
  const before = process.memoryUsage().arrayBuffers
  for (const body of bodies) freeMemory(body.buffer)
  await until(
    'the memory is given back',
    () => process.memoryUsage().arrayBuffers <= before - (31 << 20),
  )
  assert.deepEqual(
    bodies.map(({ length }) => length),
    bodies.map(() => 0),
  )
  assert.equal(other.length, 1 << 20)
})

function chunksOf(stream: PassThrough): Buffer[] {
  const chunks: Buffer[] = []
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk)
  return chunks
}
