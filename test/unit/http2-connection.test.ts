import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import http2 from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { describe, mock, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { startServer } from '../../ext-proc/envoy/start-server.ts'
import { Http2Connection, type Http2Stream } from '../../ext-proc/http2/connection.ts'
import { serveBuiltIn } from '../../ext-proc/grpc/built-in.ts'
import type { GrpcCall, GrpcMethods } from '../../ext-proc/grpc/grpc-call.ts'
import { GrpcServer } from '../../ext-proc/grpc/grpc-server.ts'
import { GrpcStream } from '../../ext-proc/grpc/grpc-stream.ts'
import { HpackDecoder } from '../../ext-proc/http2/hpack-decoder.ts'
import { literalHeader } from '../../ext-proc/http2/response-blocks.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { repetitions } from '../kit/repetitions.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const
const MiB = 1 << 20
const LIMIT_BYTES = 4 * MiB
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

const frame = (type: number, flags: number, id: number, payload: Buffer | string = ''): Buffer => {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'hex') : payload
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, body])
}
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const number8 = (value: number): Buffer => Buffer.concat([number(0), number(value)])
/** In payloads of the largest size. */
function* inFrames(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384)
}
const setting = (key: number, value: number): Buffer =>
  frame(TYPE.settings, 0, 0, Buffer.concat([Buffer.from([0, key]), number(value)]))
/** Keeps the answer to stream 1 waiting, so that the stream stays open after the peer's end. */
const HOLD = Buffer.concat([
  setting(4, 0),
  frame(TYPE.data, 0, 1, Buffer.from('000000000161', 'hex')),
])
const START = Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)])
const requestBlock = (path: string): Buffer =>
  Buffer.concat([
    literalHeader(':method', 'POST'),
    literalHeader(':path', path),
    literalHeader('content-type', 'application/grpc'),
  ])
const ECHO_BLOCK = requestBlock('/echo')
const open = (id: number, path = '/echo'): Buffer =>
  frame(TYPE.headers, 4, id, path === '/echo' ? ECHO_BLOCK : requestBlock(path))
const message = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0]), number(text.length), Buffer.from(text)])
const say = (id: number, text: string): Buffer => frame(TYPE.data, 0, id, message(text))

interface Frame {
  readonly type: number
  readonly flags: number
  readonly id: number
  readonly payload: Buffer
}
const framesOf = (bytes: Buffer): Frame[] => {
  const frames: Frame[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    const [type = 0, flags = 0] = bytes.subarray(at + 3)
    frames.push({
      type,
      flags,
      id: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    })
    at = end
  }
  return frames
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The server's socket, whose other side is this test. */
class Wire extends Duplex {
  readonly written: Buffer[] = []
  isReading = true
  #held: (() => void) | null = null

  override _read(): void {
    // The test pushes.
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    this.written.push(bytes)
    if (this.isReading) done()
    else this.#held = done
  }

  readOn(): void {
    this.isReading = true
    this.#held?.()
    this.#held = null
  }

  get frames(): Frame[] {
    return framesOf(Buffer.concat(this.written))
  }

  async receive(...frames: readonly Buffer[]): Promise<void> {
    this.push(Buffer.concat(frames))
    await turn()
  }
}

/** A connection with a service that echoes, and what became of its calls. */
function setUp(onOpen: (call: GrpcStream, stream: Http2Stream) => void = () => undefined) {
  const wire = new Wire()
  const seen: string[] = []
  const streams: Http2Stream[] = []
  const connection: Http2Connection = new Http2Connection(
    wire as unknown as Socket,
    (stream, head) => {
      const { path } = head
      const call = new GrpcStream(connection, stream, head, LIMIT_BYTES)
      streams.push(stream)
      seen.push(`open ${stream.id} ${path}`)
      call.on('data', (bytes: Buffer) => {
        seen.push(`data ${stream.id} ${bytes.length > 20 ? bytes.length : bytes.toString()}`)
        call.write(bytes)
      })
      call.on('end', () => {
        seen.push(`end ${stream.id}`)
        call.end()
      })
      call.on('cancelled', () => seen.push(`cancelled ${stream.id}`))
      call.on('error', ({ code }: { code: number }) => seen.push(`error ${stream.id} ${code}`))
      onOpen(call, stream)
      return call
    },
  )
  return { wire, seen, streams, connection }
}
const errorOf = (frames: readonly Frame[]): number | undefined =>
  frames.find(({ type }) => type === TYPE.goaway)?.payload.readUInt32BE(4)
const resetOf = (frames: readonly Frame[], id: number): number | undefined =>
  frames.find((found) => found.type === TYPE.reset && found.id === id)?.payload.readUInt32BE(0)
const dataBytes = (frames: readonly Frame[], id: number): number =>
  frames.reduce((sum, f) => sum + (f.type === TYPE.data && f.id === id ? f.payload.length : 0), 0)

describe('frames as peers may send them', () => {
  test('what calls that arrive together are answered goes out as one, also what waits for promises', async () => {
    const { wire } = setUp((call) => {
      call.on('data', async () => {
        await Promise.resolve()
        await Promise.resolve()
        call.write(Buffer.from('later'))
      })
    })
    await wire.receive(START, open(1), open(3))
    const before = wire.written.length
    // As a socket calls: not from a microtask.
    setImmediate(() =>
      wire.push(Buffer.concat([say(1, 'now'), say(3, 'now'), frame(TYPE.data, 1, 1)])),
    )
    await turn()
    await turn()
    assert.equal(wire.written.length, before + 1)
    assert.equal(dataBytes(wire.frames, 3), message('nowlater').length + 5)
  })

  test('a conversation is read the same whole, byte by byte, and in pieces of every size', async () => {
    const block = requestBlock('/echo')
    const talk = Buffer.concat([
      START,
      // Padded, with a priority, in three pieces, one of them empty.
      frame(
        TYPE.headers,
        0x28,
        1,
        Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), block.subarray(0, 7), Buffer.alloc(3)]),
      ),
      frame(TYPE.continuation, 0, 1),
      frame(TYPE.continuation, 4, 1, block.subarray(7)),
      frame(TYPE.priority, 0, 1, '0000000007'),
      frame(0xfa, 0xff, 1, 'abcdef'),
      frame(TYPE.data, 8, 1, Buffer.concat([Buffer.from([5]), message('padded'), Buffer.alloc(5)])),
      frame(TYPE.data, 0, 1, Buffer.concat([message('two'), message(''), message('one frame')])),
      frame(TYPE.data, 0, 1, message('in pieces').subarray(0, 3)),
      frame(TYPE.data, 0, 1),
      frame(TYPE.data, 0, 1, message('in pieces').subarray(3, 8)),
      frame(TYPE.data, 0, 1, message('in pieces').subarray(8)),
      open(3, '/other'),
      frame(TYPE.ping, 0, 0, '0102030405060708'),
      // Trailers end a request.
      frame(TYPE.headers, 5, 1, literalHeader('x-last', 'word')),
      frame(TYPE.goaway, 0, 0, '0000000000000000'),
      frame(TYPE.data, 1, 3, message('last')),
      frame(TYPE.headers, 5, 5, requestBlock('/empty')),
    ])
    const expected = [
      'open 1 /echo',
      'data 1 padded',
      'data 1 two',
      'data 1 ',
      'data 1 one frame',
      'data 1 in pieces',
      'open 3 /other',
      'end 1',
      'data 3 last',
      'end 3',
      'open 5 /empty',
      'end 5',
    ]
    for (const size of [talk.length, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 17, 64, 100]) {
      const { wire, seen, connection } = setUp()
      for (let at = 0; at < talk.length; at += size) wire.push(talk.subarray(at, at + size))
      await turn()
      assert.deepEqual(seen, expected, `pieces of ${size}`)
      assert.equal(connection.openStreams, 0)
      const pong = wire.frames.find(({ type }) => type === TYPE.ping)
      assert.equal(pong?.payload.toString('hex'), '0102030405060708')
      assert.equal(errorOf(wire.frames), undefined)
    }
  })

  test('messages of several frames arrive the same however their frames are cut, in memory of their own', async () => {
    const texts = [40_000, 16_375, 100_000, 16_384, 16_379].map((length, i) =>
      String.fromCharCode(97 + i).repeat(length),
    )
    const frames = texts.map((text, i) =>
      [...inFrames(message(text))].map((part) => frame(TYPE.data, 0, 1 + 2 * (i % 2), part)),
    )
    const talk = Buffer.concat([
      START,
      open(1),
      open(3),
      ...frames.flat().map((one, i) => Buffer.concat([one, frame(TYPE.ping, 0, 0, number8(i))])),
    ])
    for (const size of [talk.length, 65_536, 16_393, 16_384, 5_003, 1_021]) {
      const arrived: string[] = []
      const { wire } = setUp((call) => {
        call.on('data', (bytes: Buffer) => {
          arrived.push(bytes.toString())
          // The memory of a body of this size is given back with it; it must hold nothing else.
          if (bytes.length > 16_384) assert.equal(bytes.buffer.byteLength, bytes.length)
        })
      })
      for (let at = 0; at < talk.length; at += size) wire.push(talk.subarray(at, at + size))
      await turn()
      assert.deepEqual(arrived, texts, `pieces of ${size}`)
      const pings = wire.frames.filter(({ type }) => type === TYPE.ping)
      assert.equal(pings.length, frames.flat().length)
    }
  })

  for (const [name, act] of [
    ['by its end', (call: GrpcStream) => call.end()],
    ['by an error', (call: GrpcStream) => call.fail(13, '')],
    [
      'by an exception',
      () => {
        throw new Error('a bug')
      },
    ],
  ] as const)
    test(`the rest of a frame is skipped when its stream is over in the middle of it, ${name}`, async () => {
      const { wire, seen, connection } = setUp((call, { id }) => {
        if (id === 1) call.on('data', () => act(call))
      })
      const two = frame(TYPE.data, 0, 1, Buffer.concat([message('one'), message('two')]))
      await wire.receive(START, open(1), open(3), two.subarray(0, 9 + 8))
      assert.equal(connection.openStreams, 1)
      await wire.receive(two.subarray(9 + 8), say(3, 'next'))
      assert.ok(!seen.includes('data 1 two'))
      assert.equal(seen.at(-1), 'data 3 next')
      assert.equal(errorOf(wire.frames), undefined)
    })

  test('data that is not allowed is refused when its frame begins', async () => {
    const { wire } = setUp()
    const late = frame(TYPE.data, 0, 9, Buffer.alloc(100))
    await wire.receive(START, open(1), late.subarray(0, 9))
    assert.equal(errorOf(wire.frames), 1)
  })

  for (const [name, code, ...frames] of [
    ['no settings first', 1, PREFACE, open(1)],
    ['settings of a stream', 1, START, frame(TYPE.settings, 0, 1)],
    ['an acknowledgement with content', 6, START, frame(TYPE.settings, 1, 0, '000400000001')],
    ['a push setting of 2', 1, START, setting(2, 2)],
    ['a reset of three bytes', 6, START, open(1), frame(TYPE.reset, 0, 1, '000000')],
    ['a priority of the connection', 6, START, frame(TYPE.priority, 0, 0, '0000000000')],
    ['a priority of four bytes', 6, START, frame(TYPE.priority, 0, 1, '00000000')],
    ['a GOAWAY of a stream', 1, START, frame(TYPE.goaway, 0, 1, '0000000000000000')],
    [
      'padding past the end of data of a closed stream',
      1,
      START,
      open(1),
      frame(TYPE.reset, 0, 1, '00000008'),
      frame(TYPE.data, 8, 1, '05'),
    ],
    [
      'settings that overflow the window of a stream',
      3,
      START,
      open(1),
      frame(TYPE.window, 0, 1, number(2 ** 31 - 1 - 65_535)),
      setting(4, 65_536),
    ],
    ['a table larger than was offered', 9, START, frame(TYPE.headers, 4, 1, '3fe23f')],
  ] as const)
    test(`ends the connection, and cancels its calls at once: ${name}`, async () => {
      const { wire, seen, connection } = setUp()
      await wire.receive(...frames)
      assert.equal(errorOf(wire.frames), code)
      assert.ok(wire.writableEnded)
      assert.equal(connection.openStreams, 0)
      // Whatever comes afterwards is not read.
      const before = seen.length
      await wire.receive(open(9), say(9, 'late'))
      assert.equal(seen.length, before)
    })

  for (const [name, code, ...frames] of [
    ['an update by nothing', 1, frame(TYPE.window, 0, 1, number(0))],
    ['an update past the limit', 3, frame(TYPE.window, 0, 1, number(2 ** 31 - 1))],
    ['headers that end nothing', 1, frame(TYPE.headers, 4, 1, literalHeader('a', 'b'))],
    ['data after the end', 5, HOLD, frame(TYPE.data, 1, 1), frame(TYPE.data, 0, 1, '00')],
    [
      'headers after the end',
      5,
      HOLD,
      frame(TYPE.data, 1, 1),
      frame(TYPE.headers, 5, 1, literalHeader('a', 'b')),
    ],
  ] as const)
    test(`resets the stream, and no other: ${name}`, async () => {
      const { wire, seen, connection } = setUp()
      await wire.receive(START, open(1), open(3), ...frames)
      assert.equal(resetOf(wire.frames, 1), code)
      await wire.receive(say(3, 'still here'))
      assert.equal(seen.at(-1), 'data 3 still here')
      assert.equal(connection.openStreams, 1)
    })

  test('a peer may have any size of its header table, and change it', async () => {
    const path = join(tempFolder('h2'), 'table.sock')
    const server = new GrpcServer(serveBuiltIn(echo(), LIMIT_BYTES), null)
    await server.listen({ path })
    for (const sizes of [
      [0],
      [100],
      [4_096],
      [65_536],
      [4_096, 0],
      [0, 4_096],
      [4_096, 0, 4_096, 17],
    ]) {
      const session = http2.connect('http://agw', {
        createConnection: () => connect(path),
        settings: { headerTableSize: sizes[0] ?? 0 },
      })
      const ask = async (): Promise<unknown> => {
        const request = session.request({
          ':method': 'POST',
          ':path': '/echo',
          'content-type': 'application/grpc',
        })
        request.end()
        const [headers] = (await once(request, 'response')) as [http2.IncomingHttpHeaders]
        request.resume()
        return headers['grpc-status']
      }
      assert.equal(await ask(), '0', String(sizes))
      for (const headerTableSize of sizes.slice(1)) {
        await new Promise<void>((resolve) => session.settings({ headerTableSize }, () => resolve()))
        assert.equal(await ask(), '0', String(sizes))
      }
      session.destroy()
    }
    server.forceShutdown()
  })
})

function echo(): GrpcMethods {
  const handle = (call: GrpcCall): void => {
    call.on('data', (bytes: Buffer) => call.write(bytes))
    call.on('end', () => call.end())
  }
  return new Map([['/echo', handle]])
}

describe('windows and peers that do not read', () => {
  test('the bodies that may come ahead of the end of another call are bounded', async () => {
    const { wire, connection } = setUp()
    await wire.receive(START)
    const [settings, update] = wire.frames
    assert.ok(settings && update)
    let ofStream = 0
    for (let at = 0; at < settings.payload.length; at += 6)
      if (settings.payload.readUInt16BE(at) === 4) ofStream = settings.payload.readUInt32BE(at + 2)
    assert.equal(update.type, TYPE.window)
    assert.ok(65_535 + update.payload.readUInt32BE(0) <= MiB / 2)
    assert.ok(ofStream > 0 && ofStream <= MiB / 4)
    connection.destroy()
  })

  test('a window that shrinks below nothing stops a stream, and grows again', async () => {
    const { wire, streams, connection } = setUp()
    await wire.receive(START, frame(TYPE.window, 0, 0, number(10 * MiB)), open(1))
    const [stream] = streams
    assert.ok(stream)
    connection.sendData(stream, Buffer.alloc(60_000))
    await wire.receive(setting(4, 1_000))
    connection.sendData(stream, Buffer.alloc(10_000))
    await wire.receive(frame(TYPE.window, 0, 1, number(59_000)))
    assert.equal(dataBytes(wire.frames, 1), 60_000)
    await wire.receive(frame(TYPE.window, 0, 1, number(1)))
    assert.equal(dataBytes(wire.frames, 1), 60_001)
    await wire.receive(setting(4, 0))
    await wire.receive(setting(4, 100_000))
    assert.equal(dataBytes(wire.frames, 1), 70_000)
    assert.equal(stream.waiting_bytes, 0)
  })

  test('a stream whose window stays closed is reset at its limit; others continue', async () => {
    const { wire, seen, streams, connection } = setUp()
    await wire.receive(
      START,
      setting(4, 0),
      open(1),
      open(3),
      frame(TYPE.window, 0, 3, number(100)),
    )
    const [stream] = streams
    assert.ok(stream)
    const payload = Buffer.alloc(MiB)
    for (let i = 0; i < 100; i++) connection.sendData(stream, payload)
    await wire.receive(say(3, 'goes on'))
    assert.equal(resetOf(wire.frames, 1), 11)
    assert.ok(seen.includes('cancelled 1'))
    assert.equal(stream.waiting.length, 0)
    assert.equal(dataBytes(wire.frames, 3), message('goes on').length)
  })

  test('what waits is bounded for all streams together, also when it comes in small pieces', async () => {
    const { wire, streams, connection } = setUp()
    const ids = Array.from({ length: 10 }, (_, i) => 2 * i + 1)
    await wire.receive(START, setting(4, 0), ...ids.map((id) => open(id)))
    const payload = Buffer.alloc(MiB)
    for (const stream of streams) for (let i = 0; i < 60; i++) connection.sendData(stream, payload)
    const waiting = streams.reduce((sum, { waiting_bytes }) => sum + waiting_bytes, 0)
    assert.ok(waiting > 200 * MiB && waiting < 258 * MiB, String(waiting))
    const small = setUp()
    await small.wire.receive(START, setting(4, 0), open(1))
    const [stream] = small.streams
    assert.ok(stream)
    let count = 0
    const nothing = Buffer.alloc(0)
    while (!stream.has_ended && count < 1_000_000) {
      small.connection.sendData(stream, nothing)
      count++
    }
    assert.ok(count < 600_000, String(count))
  })

  test('a peer that does not read its socket gets no more than a bound, and all of it when it does', async () => {
    const { wire, streams, connection } = setUp()
    await wire.receive(
      START,
      setting(4, 2 ** 31 - 1),
      frame(TYPE.window, 0, 0, number(2 ** 31 - 1 - 65_535)),
      open(1),
    )
    const [stream] = streams
    assert.ok(stream)
    wire.isReading = false
    const payload = Buffer.alloc(MiB)
    for (let i = 0; i < 30; i++) {
      connection.sendData(stream, payload)
      await turn()
    }
    assert.ok(wire.writableLength < 18 * MiB, String(wire.writableLength))
    assert.ok(wire.isPaused())
    wire.readOn()
    const writtenBytes = (): number => wire.written.reduce((sum, { length }) => sum + length, 0)
    while (writtenBytes() < 30 * MiB || wire.isPaused()) await turn()
    assert.equal(dataBytes(wire.frames, 1), 30 * MiB)
    assert.equal(wire.isPaused(), false)
    assert.equal(stream.waiting_bytes, 0)
  })

  test('a peer that reads nothing is cut off, and its calls are cancelled', async () => {
    const { wire, seen, streams, connection } = setUp()
    await wire.receive(
      START,
      setting(4, 2 ** 31 - 1),
      frame(TYPE.window, 0, 0, number(2 ** 30)),
      open(1),
      open(3),
    )
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const [stream] = streams
      assert.ok(stream)
      wire.isReading = false
      connection.sendData(stream, Buffer.alloc(17 * MiB))
      await turn()
      mock.timers.tick(29_999)
      assert.equal(wire.destroyed, false)
      mock.timers.tick(1)
      await turn()
      assert.equal(wire.destroyed, true)
      assert.deepEqual(seen.slice(-2), ['cancelled 1', 'cancelled 3'])
    } finally {
      mock.timers.reset()
    }
  })

  for (const [name, flood] of [
    ['pings', frame(TYPE.ping, 0, 0, '0000000000000000')],
    ['settings', setting(4, 65_535)],
    ['resets of new streams', null],
  ] as const)
    test(`a flood of ${name} from a peer that reads nothing takes bounded memory`, async () => {
      const { wire, seen, connection } = setUp()
      await wire.receive(START)
      wire.isReading = false
      let id = -1
      const rounds = flood === null ? 20 : repetitions(200)
      const same = flood === null ? null : Buffer.concat(Array.from({ length: 1_000 }, () => flood))
      for (let i = 0; i < rounds; i++) {
        const frames = Array.from({ length: same === null ? 1_000 : 0 }, () => {
          id += 2
          return Buffer.concat([open(id), frame(TYPE.reset, 0, id, '00000008')])
        })
        await wire.receive(same ?? Buffer.concat(frames))
        seen.length = 0
      }
      assert.ok(wire.writableLength < 17 * MiB)
      assert.equal(connection.openStreams, 0)
      wire.destroy()
    })

  test('uploads never stall, also to streams that were reset', async () => {
    const { wire, connection } = setUp()
    await wire.receive(START)
    let credit = 65_535
    let sent = 0
    const chunk = Buffer.alloc(16_384)
    for (let id = 1; sent < repetitions(64) * MiB; id += 2) {
      await wire.receive(
        open(id),
        frame(TYPE.reset, 0, id, '00000008'),
        ...Array.from({ length: 16 }, () => frame(TYPE.data, 0, id, chunk)),
      )
      sent += 16 * chunk.length
      for (const { type, id: of, payload } of wire.frames)
        if (type === TYPE.window && of === 0) credit += payload.readUInt32BE(0)
      wire.written.length = 0
      assert.ok(credit - sent > MiB / 4, `credit after ${sent}`)
    }
    assert.equal(connection.openStreams, 0)
  })
})

describe('the life of streams and connections', () => {
  test('nothing stays of 30,000 calls, however they end', async () => {
    const { wire, seen, streams, connection } = setUp()
    await wire.receive(START)
    for (let id = 1; id < 2 * repetitions(30_000); ) {
      const frames: Buffer[] = []
      for (let i = 0; i < 1_000; i++, id += 2) {
        frames.push(open(id))
        if (i % 3 === 0) frames.push(frame(TYPE.reset, 0, id, '00000008'))
        else if (i % 3 === 1)
          frames.push(frame(TYPE.data, 1, id, message('x')), frame(TYPE.window, 0, 0, number(6)))
        else
          frames.push(frame(TYPE.data, 0, id, 'ff00000000'), frame(TYPE.reset, 0, id, '00000008'))
      }
      await wire.receive(...frames)
      assert.equal(connection.openStreams, 0)
      wire.written.length = 0
      streams.length = 0
      seen.length = 0
    }
    assert.equal(errorOf(wire.frames), undefined)
  })

  test('more streams than are offered are refused, and the open ones stay', async () => {
    const { wire, connection } = setUp()
    await wire.receive(START)
    const all = Array.from({ length: 65_536 }, (_, i) => open(2 * i + 1))
    for (let at = 0; at < all.length; at += 1_024) await wire.receive(...all.slice(at, at + 1_024))
    assert.equal(connection.openStreams, 65_536)
    await wire.receive(open(131_073))
    assert.equal(resetOf(wire.frames, 131_073), 7)
    assert.equal(connection.openStreams, 65_536)
    await wire.receive(frame(TYPE.reset, 0, 1, '00000008'), open(131_075))
    assert.equal(resetOf(wire.frames, 131_075), undefined)
  })

  for (const event of ['open', 'end', 'cancelled'] as const)
    test(`a throw on ${event} ends its call, and no other`, async () => {
      const { wire, seen, connection } = setUp()
      const failing = (call: GrpcCall): void => {
        if (event === 'open') throw new Error('on purpose')
        call.on(event, () => {
          throw new Error('on purpose')
        })
      }
      const methods: GrpcMethods = new Map([...echo(), ['/fail', failing]])
      const path = join(tempFolder('h2'), 'throw.sock')
      const server = new GrpcServer(serveBuiltIn(methods, LIMIT_BYTES), null)
      await server.listen({ path })
      const socket = connect(path)
      const chunks: Buffer[] = []
      socket.on('data', (bytes: Buffer) => chunks.push(bytes))
      const last = event === 'end' ? frame(TYPE.data, 1, 3) : frame(TYPE.reset, 0, 3, '00000008')
      socket.write(Buffer.concat([START, open(1), open(3, '/fail'), last, say(1, 'goes on')]))
      while (dataBytes(framesOf(Buffer.concat(chunks)), 1) === 0) await once(socket, 'data')
      const frames = framesOf(Buffer.concat(chunks))
      assert.equal(errorOf(frames), undefined)
      const answer = frames.find(({ type, id }) => type === TYPE.headers && id === 3)
      if (event !== 'cancelled')
        assert.match(answer?.payload.toString('latin1') ?? '', /grpc-status.13/)
      socket.destroy()
      server.forceShutdown()
      // When the connection is lost, all others are cancelled too.
      const lost = setUp((call, stream) => {
        if (stream.id === 1)
          call.prependListener('cancelled', () => {
            throw new Error('on purpose')
          })
      })
      await lost.wire.receive(START, open(1), open(3), open(5))
      lost.wire.destroy()
      await turn()
      assert.deepEqual(lost.seen.slice(-2), ['cancelled 3', 'cancelled 5'])
      assert.equal(lost.connection.openStreams, 0)
      wire.destroy()
      assert.deepEqual([seen.length, connection.openStreams], [0, 0])
    })

  test('a peer that ends its side, and neither reads nor closes, is cut off', async () => {
    for (const last of [null, frame(TYPE.data, 0, 0, '00')]) {
      const { wire, seen } = setUp()
      await wire.receive(START, open(1))
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        wire.isReading = false
        await wire.receive(frame(TYPE.ping, 0, 0, '0000000000000000'))
        wire.push(last)
        await turn()
        assert.equal(seen.at(-1), 'cancelled 1')
        assert.equal(wire.destroyed, false)
        mock.timers.tick(5_000)
        assert.equal(wire.destroyed, true)
      } finally {
        mock.timers.reset()
      }
    }
  })

  test('who waits until the peer has read is called after two answers to pings that were sent later', async () => {
    const { wire, connection } = setUp()
    await wire.receive(START, open(1))
    const told: string[] = []
    const pings = (): number => wire.frames.filter(({ type }) => type === TYPE.ping).length
    const pong = (): Promise<void> => wire.receive(frame(TYPE.ping, 1, 0, '0101010101010101'))
    connection.whenRead(() => told.push('first'))
    await turn()
    assert.equal(pings(), 1)
    connection.whenRead(() => told.push('second'))
    await pong()
    assert.deepEqual([pings(), told], [2, []])
    await pong()
    assert.deepEqual([pings(), told], [3, ['first']])
    await wire.receive(frame(TYPE.ping, 1, 0, '0000000000000000'))
    assert.deepEqual(told, ['first'])
    await pong()
    assert.deepEqual([pings(), told], [3, ['first', 'second']])
    await pong()
    assert.equal(pings(), 3, 'nobody waits')
  })

  test('after the last stream of a graceful stop, what comes late does not cut the last answer', async () => {
    const { wire, connection } = setUp()
    await wire.receive(START, open(1))
    connection.leave()
    await wire.receive(frame(TYPE.ping, 1, 0, '0000000000000000'))
    wire.isReading = false
    await wire.receive(
      frame(TYPE.data, 1, 1, message('last')),
      frame(TYPE.ping, 0, 0, '0000000000000000'),
      setting(4, 1),
    )
    assert.equal(wire.destroyed, false)
    wire.readOn()
    await once(wire, 'finish')
    assert.equal(dataBytes(wire.frames, 1), message('last').length)
    assert.ok(
      wire.frames.some(
        ({ type, id, flags }) => type === TYPE.headers && id === 1 && (flags & 1) === 1,
      ),
    )
  })
})

describe('who may connect', () => {
  test('a Unix socket is open to its owner alone', async () => {
    const path = join(tempFolder('h2'), 'own.sock')
    const server = await startServer(
      { address: `unix:${path}`, tls: null, message_limit_bytes: MiB },
      {},
    )
    assert.equal(statSync(path).mode & 0o777, 0o600)
    server.forceShutdown()
  })

  test('TCP takes a certificate of its CA and HTTP/2, and nothing else', async () => {
    const own = await makeCertificates(['127.0.0.1'])
    const foreign = await makeCertificates(['127.0.0.1'])
    const server = new GrpcServer(serveBuiltIn(echo(), MiB), {
      cert: own.cert,
      key: own.key,
      ca: own.ca,
    })
    const path = join(tempFolder('h2'), 'tls.sock')
    await server.listen({ path })
    const h2 = ['h2']
    for (const [name, options, isAccepted] of [
      ['its certificate', { cert: own.cert, key: own.key, ALPNProtocols: h2 }, true],
      ['TLS 1.2', { cert: own.cert, key: own.key, ALPNProtocols: h2, maxVersion: 'TLSv1.2' }, true],
      ['no certificate', { ALPNProtocols: h2 }, false],
      ['no certificate in TLS 1.2', { ALPNProtocols: h2, maxVersion: 'TLSv1.2' }, false],
      ['one of another CA', { cert: foreign.cert, key: foreign.key, ALPNProtocols: h2 }, false],
      ['no ALPN', { cert: own.cert, key: own.key }, false],
      ['HTTP/1.1', { cert: own.cert, key: own.key, ALPNProtocols: ['http/1.1'] }, false],
    ] as const) {
      const socket = connectTls({
        path,
        ca: own.ca,
        servername: '',
        checkServerIdentity: () => undefined,
        ...options,
      })
      const chunks: Buffer[] = []
      socket.on('data', (bytes: Buffer) => chunks.push(bytes))
      socket.on('error', () => undefined)
      socket.write(Buffer.concat([START, open(1), say(1, 'hello')]))
      const isAnswered = await new Promise<boolean>((resolve) => {
        socket.on('close', () => resolve(false))
        socket.on('data', () => {
          if (dataBytes(framesOf(Buffer.concat(chunks)), 1) > 0) resolve(true)
        })
      })
      assert.equal(isAnswered, isAccepted, name)
      socket.destroy()
    }
    server.forceShutdown()
  })
})

describe('random input, the same in every run', () => {
  let seed = 20_26
  const random = (limit: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return (seed >> 8) % limit
  }
  const noise = (limit: number): Buffer =>
    Buffer.from(Array.from({ length: random(limit) }, () => random(256)))
  const pick = (make: ReadonlyArray<() => Buffer>): Buffer =>
    make[random(make.length)]?.() ?? Buffer.alloc(0)
  const ended = (seen: readonly string[], id: number): number =>
    seen.filter((line) => new RegExp(`^(end|cancelled|error) ${id}\\b`).test(line)).length

  test('every call that was opened ends exactly once, and nothing is thrown', async () => {
    let opened = 0
    const rounds = repetitions(400)
    for (let round = 0; round < rounds; round++) {
      const { wire, seen, connection } = setUp()
      let last = 1
      const known = (): number => Math.max(1, last - 2 * random(4))
      const frames = Array.from({ length: 30 }, () =>
        pick([
          () => open((last += 2)),
          () => open((last += 2)),
          () => say(known(), 'a'.repeat(random(40))),
          () => say(known(), 'b').subarray(0, -1),
          () => frame(TYPE.data, random(2), known(), noise(30)),
          () => frame(TYPE.headers, 5, known(), literalHeader('a', 'b')),
          () => frame(TYPE.reset, 0, known(), '00000008'),
          () => frame(TYPE.window, 0, random(2) * known(), number(1 + random(70_000))),
          () => setting([1, 3, 4, 6, 9][random(5)] ?? 0, random(3) * 30_000),
          () => frame(TYPE.ping, random(2), 0, '0000000000000000'),
          () =>
            random(10) > 0
              ? frame(0xb0, 0, 0, noise(9))
              : frame(random(12), random(256), known(), noise(20)),
          () => (random(40) > 0 ? frame(0xb1, 0, 0) : noise(40)),
        ]),
      )
      const bytes = Buffer.concat([START, open(1), ...frames])
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + random(200)
        wire.push(bytes.subarray(at, at + size))
        at += size
      }
      await turn()
      wire.destroy()
      await turn()
      assert.equal(connection.openStreams, 0)
      const ids = seen.flatMap((line) => /^open (\d+)/.exec(line)?.[1] ?? [])
      opened += ids.length
      assert.equal(new Set(ids).size, ids.length, 'a stream was opened twice')
      for (const id of ids) assert.equal(ended(seen, Number(id)), 1, `round ${round}, stream ${id}`)
    }
    assert.ok(opened > rounds, String(opened))
  })

  test('a header block is read or refused, and the table stays in its bounds', () => {
    let read = 0
    const rounds = repetitions(3_000)
    for (let round = 0; round < rounds; round++) {
      const decoder = new HpackDecoder()
      try {
        for (let i = 0; i < 4; i++) {
          const parts = Array.from({ length: random(8) }, () =>
            pick([
              () => literalHeader('n'.repeat(random(9)), 'v'.repeat(random(200))),
              () =>
                Buffer.concat([
                  Buffer.from([0x40]),
                  literalHeader('k', 'w'.repeat(random(3_000))).subarray(1),
                ]),
              () => Buffer.from([0x80 | (1 + random(66))]),
              () => (random(8) > 0 ? Buffer.from([0x82]) : noise(12)),
            ]),
          )
          decoder.read(Buffer.concat(parts), (name, value) => {
            assert.ok(name.length + value.length < 70_000)
          })
          read++
        }
      } catch (error) {
        assert.match(String(error), /^Error: HPACK: /)
      }
    }
    assert.ok(read > rounds / 3, String(read))
  })
})
