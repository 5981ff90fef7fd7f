import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client, credentials } from '@grpc/grpc-js'
import { startServer } from '../../ext-proc/envoy/start-server.ts'
import type { GrpcServer } from '../../ext-proc/grpc/grpc-server.ts'
import type { GrpcCall } from '../../ext-proc/grpc/grpc-call.ts'
import { HpackDecoder } from '../../ext-proc/http2/hpack-decoder.ts'
import { readHuffman } from '../../ext-proc/http2/huffman.ts'
import { literalHeader } from '../../ext-proc/http2/response-blocks.ts'
import { repetitions } from '../kit/repetitions.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const LIMIT_BYTES = 4 << 20
const PROCESS = '/envoy.service.ext_proc.v3.ExternalProcessor/Process'
const same = (bytes: Buffer): Buffer => bytes

describe('HPACK, by the examples of RFC 7541', () => {
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
  const read = (decoder: HpackDecoder, text: string): string => {
    const lines: string[] = []
    decoder.read(hex(text), (name, value) => lines.push(`${name}: ${value}`))
    return lines.join('\n')
  }
  const FIRST = ':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com'
  const SECOND = `${FIRST}\ncache-control: no-cache`
  const THIRD =
    ':method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value'

  test('C.3 plain, C.4 with Huffman codes: three requests on one connection', () => {
    const plain = new HpackDecoder()
    assert.equal(read(plain, '828684410f7777772e6578616d706c652e636f6d'), FIRST)
    assert.equal(read(plain, '828684be58086e6f2d6361636865'), SECOND)
    assert.equal(read(plain, '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565'), THIRD)
    const coded = new HpackDecoder()
    assert.equal(read(coded, '828684418cf1e3c2e5f23a6ba0ab90f4ff'), FIRST)
    assert.equal(read(coded, '828684be5886a8eb10649cbf'), SECOND)
    assert.equal(read(coded, '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf'), THIRD)
  })

  test('C.2 each kind of literal; a header that is not added is not there afterwards', () => {
    const decoder = new HpackDecoder()
    assert.equal(read(decoder, '040c2f73616d706c652f70617468'), ':path: /sample/path')
    assert.equal(read(decoder, '100870617373776f726406736563726574'), 'password: secret')
    assert.throws(() => read(decoder, 'be'), /no such entry/)
    assert.equal(
      read(decoder, '400a637573746f6d2d6b65790d637573746f6d2d686561646572'),
      'custom-key: custom-header',
    )
    assert.equal(read(decoder, 'be'), 'custom-key: custom-header')
  })

  test('entries that no longer fit are forgotten, and a table of no size holds none', () => {
    const decoder = new HpackDecoder()
    const long = `40 01 61 7f a1 1e ${'62'.repeat(4_000)}`
    read(decoder, long)
    assert.equal(read(decoder, 'be').length, 4_003)
    read(decoder, '40 01 63 01 64'.repeat(3))
    assert.equal(read(decoder, 'be'), 'c: d')
    assert.throws(() => read(decoder, 'c1'), /no such entry/)
    read(decoder, '20')
    assert.throws(() => read(decoder, 'be'), /no such entry/)
  })

  for (const [block, error] of [
    ['80', /no such entry/],
    ['c0', /no such entry/],
    ['ff', /cut short/],
    ['ff ff ff ff ff ff ff ff ff 01', /too large/],
    ['40', /cut short/],
    ['40 05 61', /cut short/],
    ['40 01 61 03 62', /cut short/],
    ['3f e2 1f', /larger than was offered/],
    ['82 20', /within a block/],
    ['00 81 ff 00', /bad padding/],
    ['00 84 ff ff ff ff 00', /within itself|no such/],
    ['00 81 1e 00', /bad padding/],
  ] as const)
    test(`refuses ${block}`, () => {
      assert.throws(() => read(new HpackDecoder(), block), error)
    })

  test('every byte in Huffman code, as node:http2 writes it', () => {
    // The codes of a few bytes of each length, by the appendix.
    for (const [code, text] of [
      ['f8', '&'],
      ['07', '0'],
      ['1f', 'a'],
      ['fe3f', '!'],
      ['ffcf', '\0'.slice(1) + '$'],
    ] as const)
      assert.equal(readHuffman(hex(code)), text)
  })
})

const frame = (type: number, flags: number, id: number, payload: string): Buffer => {
  const body = Buffer.from(payload.replaceAll(' ', ''), 'hex')
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, body])
}
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const message = (id: number, byte: string): Buffer => frame(0, 0, id, `00 00000001 ${byte}`)
/** Opens a call on stream 1. */
const CALL = frame(
  1,
  4,
  1,
  Buffer.concat([
    literalHeader(':method', 'POST'),
    literalHeader(':scheme', 'http'),
    literalHeader(':authority', 'agw-test'),
    literalHeader(':path', PROCESS),
    literalHeader('content-type', 'application/grpc'),
  ]).toString('hex'),
)

for (const transport of ['built-in', 'grpc-js'] as const)
  describe(`ext_proc is served by ${transport}`, () => {
    const isBuiltIn = transport === 'built-in'
    const address = `unix:${join(tempFolder('grpc'), 'grpc.sock')}`
    const path = address.slice('unix:'.length)
    const seen: string[] = []
    const late: string[] = []
    const read: string[] = []
    let server: GrpcServer
    let client: Client
    let onCancelled: () => void = () => undefined

    before(async () => {
      server = await startServer(
        { address, tls: null, message_limit_bytes: LIMIT_BYTES, transport },
        { ext_proc: answer, is_serving: () => true },
      )
      client = newClient()
    })
    after(() => {
      client.close()
      server.forceShutdown()
    })

    /** Answers each message with itself, after what its first word orders. */
    const answer = (stream: GrpcCall): void => {
      seen.push(stream.getHost())
      stream.on('data', (message: Buffer) => {
        const word = message.toString('latin1', 0, 8)
        if (word === 'throw it') throw new Error('on purpose ä%')
        if (word === 'tell me') stream.whenRead(() => read.push(word))
        if (word === 'no more') stream.endResponse()
        else if (word.startsWith('late')) late.push(word)
        else if (word === 'fail now') stream.fail(13, 'told to')
        else stream.write(message)
      })
      stream.on('end', () => stream.end())
      stream.on('cancelled', () => onCancelled())
    }
    const newClient = (): Client =>
      new Client(address, credentials.createInsecure(), {
        'grpc.default_authority': 'agw-test',
        'grpc.max_receive_message_length': -1,
        'grpc.max_send_message_length': -1,
        'grpc.use_local_subchannel_pool': 1,
      })
    const open = (from = client) => from.makeBidiStreamRequest(PROCESS, same, same)
    const status = (stream: ReturnType<typeof open>): Promise<string> =>
      new Promise((resolve) => {
        stream.on('error', () => undefined)
        stream.on('status', ({ code, details }) => resolve(`${code} ${details}`))
        stream.resume()
      })
    const exchange = async (messages: readonly Buffer[], from = client): Promise<Buffer[]> => {
      const stream = open(from)
      const answers: Buffer[] = []
      stream.on('data', (message: Buffer) => answers.push(message))
      for (const message of messages) stream.write(message)
      stream.end()
      const [{ code }] = await once(stream, 'status')
      assert.equal(code, 0)
      return answers
    }
    const filled = (bytes: number): Buffer => Buffer.alloc(bytes, 'abcdefgh')

    test('messages of all sizes around frames and windows come back as they were', async () => {
      for (const bytes of [0, 1, 4, 5, 16_374, 16_379, 16_380, 16_384, 65_530, 65_536, 1_000_000])
        assert.deepEqual(await exchange([filled(bytes)]), [filled(bytes)], String(bytes))
      const many = Array.from({ length: 200 }, (_, i) => filled(i * 37))
      assert.deepEqual(await exchange(many), many)
      assert.deepEqual(await exchange([filled(LIMIT_BYTES)]), [filled(LIMIT_BYTES)])
      assert.equal(seen[0], 'agw-test')
    })

    test('a thousand calls at once on one connection, each answered with its own', async () => {
      const calls = Array.from({ length: repetitions(1_000) }, (_, i) =>
        Buffer.from(`call ${i} `.repeat(i % 300)),
      )
      const answers = await Promise.all(calls.map((message) => exchange([message])))
      assert.deepEqual(
        answers.map(([message]) => message?.toString()),
        calls.map((message) => message.toString()),
      )
    })

    test('more than the windows of a connection hold, in both directions at once', async () => {
      // The window of a stream is 1 MiB, that of the connection 16 MiB.
      const message = filled(3 << 20)
      const answers = await Promise.all(Array.from({ length: 6 }, () => exchange([message])))
      assert.ok(answers.every(([answer]) => answer?.equals(message)))
    })

    test('a message over the limit ends its call, and no other', async () => {
      const stream = open()
      const ended = status(stream)
      stream.write(filled(LIMIT_BYTES + (1 << 20) + 1))
      assert.match(await ended, isBuiltIn ? /^8 the message is too large$/ : /^8 /)
      assert.equal((await exchange([filled(10)])).length, 1)
    })

    test('a failure is sent with its status, and an exception of the handler is a failure', async () => {
      for (const [word, expected] of [
        ['fail now', '13 told to'],
        ['throw it', '13 Error: on purpose ä%'],
      ] as const) {
        const stream = open()
        const ended = status(stream)
        stream.write(Buffer.from(word))
        assert.equal(await ended, expected)
      }
      const unknown = client.makeBidiStreamRequest('/a.B/C', same, same)
      assert.match(await status(unknown), isBuiltIn ? /^12 no such method: \/a\.B\/C$/ : /^12 /)
    })

    test('a call that is reset, or whose connection is lost, is cancelled', async () => {
      for (const leave of [
        (socket: Socket) => socket.write(frame(3, 0, 1, '00000008')),
        (socket: Socket) => socket.destroy(),
      ]) {
        const left = new Promise<void>((resolve) => (onCancelled = resolve))
        const socket = connect(path)
        socket.write(
          Buffer.concat([PREFACE, frame(4, 0, 0, ''), CALL, frame(0, 0, 1, '00 00000001 61')]),
        )
        // The answer: the message comes back.
        for (let got = ''; !got.includes('\0\0\0\0\x01a'); )
          got += ((await once(socket, 'data')) as [Buffer])[0].toString('latin1')
        leave(socket)
        await left
        socket.destroy()
      }
    })

    test('three thousand calls that are reset end no other call', async () => {
      const held = Array.from({ length: 300 }, () => open())
      for (const stream of held) stream.write(Buffer.from('held'))
      await Promise.all(held.map((stream) => once(stream, 'data')))
      const other = newClient()
      const resets = repetitions(3_000)
      for (let n = 0; n < resets; n += 100)
        await Promise.all(
          Array.from({ length: 100 }, async () => {
            const stream = open(n % 200 === 0 ? client : other)
            const ended = status(stream)
            stream.write(Buffer.from('to be reset'))
            await once(stream, 'data')
            stream.cancel()
            assert.match(await ended, /^1 /)
          }),
        )
      for (const stream of held) stream.write(Buffer.from('still here'))
      await Promise.all(held.map((stream) => once(stream, 'data')))
      for (const stream of held) stream.end()
      assert.equal((await exchange([filled(10)], other)).length, 1)
      other.close()
    })

    test('a callback comes when the caller has read, and after the end of the call it does not come', async () => {
      const stream = open()
      stream.on('error', () => undefined)
      stream.write(Buffer.from('tell me'))
      await once(stream, 'data')
      await until('it is read', () => read.at(-1) === 'tell me')
      stream.cancel()
    })

    test('health is answered', async () => {
      const answered = new Promise<Buffer | undefined>((resolve, reject) => {
        client.makeUnaryRequest(
          '/grpc.health.v1.Health/Check',
          same,
          same,
          Buffer.alloc(0),
          (e, a) => (e === null ? resolve(a) : reject(e)),
        )
      })
      assert.deepEqual(await answered, Buffer.from([8, 1]))
    })

    test('another kind of HTTP/2 request is 415, and the connection stays open', async () => {
      const session = http2.connect('http://agw', { createConnection: () => connect(path) })
      const ask = async (headers: http2.OutgoingHttpHeaders): Promise<string> => {
        const request = session.request(headers)
        request.end()
        const [answer] = (await once(request, 'response')) as [http2.IncomingHttpHeaders]
        request.resume()
        return `${String(answer[':status'])} ${String(answer['grpc-status'] ?? '')}`
      }
      assert.equal(await ask({ ':path': '/' }), '415 ')
      assert.equal(await ask({ ':path': PROCESS, ':method': 'POST' }), '415 ')
      const gRPC = { ':path': PROCESS, ':method': 'POST', 'content-type': 'application/grpc' }
      assert.equal(await ask(gRPC), '200 0')
      // A header block that takes two frames.
      assert.equal(await ask({ ...gRPC, 'x-long': 'ü€'.repeat(6_000) }), '200 0')
      session.close()
    })

    test('a graceful stop lets the calls in flight end, and takes no new ones', async () => {
      const folder = join(tempFolder('grpc'), 'stop.sock')
      const stopping = await startServer(
        { address: `unix:${folder}`, tls: null, message_limit_bytes: LIMIT_BYTES, transport },
        { ext_proc: answer },
      )
      const own = new Client(`unix:${folder}`, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
      })
      const stream = open(own)
      const ended = once(stream, 'status')
      stream.write(filled(10))
      await once(stream, 'data')
      let isDone = false
      const done = new Promise<void>((resolve) =>
        stopping.tryShutdown(() => {
          isDone = true
          resolve()
        }),
      )
      stream.write(filled(20))
      await once(stream, 'data')
      assert.equal(isDone, false)
      stream.end()
      const [{ code }] = await ended
      assert.equal(code, 0)
      await done
      own.close()
    })

    // What follows is said byte by byte: of grpc-js it is Node’s.
    if (!isBuiltIn) return

    for (const [how, leave, isCancelled] of [
      ['a reset', frame(3, 0, 1, '00000008'), true],
      ['its own end', frame(0, 1, 1, ''), false],
    ] as const)
      test(`what a caller sends after the end of the response, and before ${how}, is received`, async () => {
        late.length = 0
        let cancelled = 0
        onCancelled = () => cancelled++
        const socket = connect(path)
        const whole = (word: string): Buffer => {
          const bytes = Buffer.from(`\0\0\0\0${String.fromCharCode(word.length)}${word}`, 'latin1')
          return frame(0, 0, 1, bytes.toString('hex'))
        }
        socket.write(Buffer.concat([PREFACE, frame(4, 0, 0, ''), CALL, whole('no more')]))
        // HEADERS with END_HEADERS and END_STREAM, of stream 1.
        const ended = Buffer.from('010500000001', 'hex').toString('latin1')
        let got = ''
        while (!got.includes(ended))
          got += ((await once(socket, 'data')) as [Buffer])[0].toString('latin1')
        assert.ok(!got.includes('\0\0\x04\x03\0\0\0\0\x01'), 'the stream is not reset')
        socket.write(Buffer.concat([whole('late 1'), whole('late 2'), leave]))
        const ping = frame(6, 0, 0, '0102030405060708')
        socket.write(ping)
        const pong = frame(6, 1, 0, '0102030405060708').toString('latin1')
        while (!got.includes(pong))
          got += ((await once(socket, 'data')) as [Buffer])[0].toString('latin1')
        assert.deepEqual(late, ['late 1', 'late 2'])
        assert.equal(cancelled, isCancelled ? 1 : 0)
        socket.destroy()
      })

    /** What a peer gets that sends these bytes after a correct beginning; the number of the error in its GOAWAY. */
    const goAwayFor = async (bytes: Buffer): Promise<number> => {
      const socket: Socket = connect(path)
      const chunks: Buffer[] = []
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.write(Buffer.concat([PREFACE, bytes]))
      await once(socket, 'close')
      const got = Buffer.concat(chunks)
      for (let at = 0; at + 9 <= got.length; at += 9 + got.readUIntBE(at, 3))
        if (got[at + 3] === 7) return got.readUInt32BE(at + 13)
      return -1
    }
    const SETTINGS = frame(4, 0, 0, '')
    for (const [name, bytes, code] of [
      ['a frame that is too large', Buffer.from([0x00, 0x40, 0x01, 0, 0, 0, 0, 0, 1]), 6],
      ['data of no stream', frame(0, 0, 1, '00'), 1],
      ['data of the connection', frame(0, 0, 0, '00'), 1],
      ['a stream of the server', frame(1, 5, 2, '82'), 1],
      ['a block that cannot be read', frame(1, 5, 1, 'ff'), 9],
      ['padding without end', frame(1, 0xd, 1, '05 82'), 1],
      ['a continuation of nothing', frame(9, 4, 1, '82'), 1],
      ['a block that is interrupted', Buffer.concat([frame(1, 0, 1, '82'), SETTINGS]), 1],
      [
        'a block without an end',
        Buffer.concat([
          frame(1, 0, 1, ''),
          ...Array.from({ length: 20 }, () => frame(9, 0, 1, '')),
        ]),
        11,
      ],
      ['a push', frame(5, 4, 1, '00000002'), 1],
      ['settings of half a pair', frame(4, 0, 0, '0000'), 6],
      ['a window that is too large', frame(4, 0, 0, '0004 80000000'), 3],
      ['frames that are too small', frame(4, 0, 0, '0005 00000001'), 1],
      ['a ping of seven bytes', frame(6, 0, 0, '00000000000000'), 1],
      ['an update by nothing', frame(8, 0, 0, '00000000'), 3],
      ['an update past the limit', frame(8, 0, 0, '7fffffff'), 3],
      ['a window of no stream', frame(8, 0, 7, '00000001'), 1],
      ['a reset of no stream', frame(3, 0, 7, '00000000'), 1],
    ] as const)
      test(`ends a connection with ${name}`, async () => {
        assert.equal(await goAwayFor(Buffer.concat([SETTINGS, bytes])), code)
      })

    test('ends a connection that is not HTTP/2', async () => {
      const socket = connect(path)
      socket.resume()
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      await once(socket, 'close')
    })

    test('a call that is opened after the last one is passed over, and those in flight go on', async () => {
      const place = join(tempFolder('grpc'), 'late.sock')
      const stopping = await startServer(
        { address: `unix:${place}`, tls: null, message_limit_bytes: LIMIT_BYTES, transport },
        { ext_proc: answer },
      )
      const socket = connect(place)
      let got = ''
      socket.on('data', (bytes: Buffer) => {
        got += bytes.toString('latin1')
      })
      const until = async (text: string): Promise<void> => {
        while (!got.includes(text)) await once(socket, 'data')
      }
      socket.write(Buffer.concat([PREFACE, frame(4, 0, 0, ''), CALL, message(1, '61')]))
      await until('\0\0\0\0\x01a')
      const done = new Promise<void>((resolve) => stopping.tryShutdown(resolve))
      // The peer acknowledges the ping of the first GOAWAY; the second names the last stream.
      socket.write(frame(6, 1, 0, '0000000000000000'))
      await until('\0\0\x08\x07\0\0\0\0\0\0\0\0\x01')
      const late = Buffer.from(CALL)
      late.writeUInt32BE(3, 5)
      socket.write(Buffer.concat([late, message(3, '62'), message(1, '63')]))
      await until('\0\0\0\0\x01c')
      assert.ok(!got.includes('\0\0\0\0\x01b'))
      socket.write(frame(0, 1, 1, ''))
      await done
    })
  })
