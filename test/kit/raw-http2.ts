import { connect } from 'node:net'

const FRAME = { data: 0, headers: 1, rst_stream: 3, settings: 4, goaway: 7 } as const
const FLAG = { ack: 1, end_stream: 1, end_headers: 4 } as const
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
/** `:status` values of HPACK's static table, from index 8 on. */
const STATIC_STATUSES = [200, 204, 206, 304, 400, 404, 500] as const

/** What the other side made of one request on stream 1. */
export type Http2Outcome =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'reset'; readonly code: number }
  | { readonly kind: 'goaway'; readonly code: number }
  | { readonly kind: 'closed' }

export interface RawRequest {
  /** In this order, repeated and spelled as given, pseudo-headers too. */
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body?: string
  readonly trailers?: ReadonlyArray<readonly [string, string]>
}

/** Sends one HTTP/2 request as hand-written frames, for what no library would send. */
export function rawHttp2(to: string, request: RawRequest): Promise<Http2Outcome> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to)
    const socket = connect(Number(port), hostname)
    let buffer = Buffer.alloc(0)
    const finish = (outcome: Http2Outcome): void => {
      socket.destroy()
      resolve(outcome)
    }
    socket.on('data', (part: Buffer) => {
      buffer = Buffer.concat([buffer, part])
      while (buffer.length >= 9 && buffer.length >= 9 + buffer.readUIntBE(0, 3)) {
        const length = buffer.readUIntBE(0, 3)
        const outcome = readFrame(buffer[3] ?? 0, buffer[4] ?? 0, buffer.subarray(9, 9 + length))
        buffer = buffer.subarray(9 + length)
        if (outcome === 'settings')
          socket.write(frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)))
        else if (outcome !== null) return finish(outcome)
      }
    })
    socket.once('end', () => finish({ kind: 'closed' }))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish({ kind: 'closed' })
      else reject(error)
    })
    socket.write(Buffer.concat(framesOf(request)))
  })
}

function framesOf({ headers, body, trailers }: RawRequest): Buffer[] {
  const isLast = body === undefined && trailers === undefined
  const flags = FLAG.end_headers | (isLast ? FLAG.end_stream : 0)
  const frames = [
    Buffer.from(PREFACE),
    frame(FRAME.settings, 0, 0, Buffer.alloc(0)),
    frame(FRAME.headers, flags, 1, literal(headers)),
  ]
  if (body !== undefined)
    frames.push(
      frame(FRAME.data, trailers === undefined ? FLAG.end_stream : 0, 1, Buffer.from(body)),
    )
  if (trailers !== undefined)
    frames.push(frame(FRAME.headers, FLAG.end_headers | FLAG.end_stream, 1, literal(trailers)))
  return frames
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** HPACK without its tables: each field literal, not indexed, not Huffman-coded. */
function literal(headers: ReadonlyArray<readonly [string, string]>): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  return Buffer.concat([prefixedLength(bytes.length), bytes])
}

/** An HPACK integer with a prefix of seven bits. */
function prefixedLength(length: number): Buffer {
  if (length < 127) return Buffer.of(length)
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}

function readFrame(type: number, flags: number, payload: Buffer): Http2Outcome | 'settings' | null {
  switch (type) {
    case FRAME.settings:
      return (flags & FLAG.ack) === 0 ? 'settings' : null
    case FRAME.headers:
      return { kind: 'answered', status: statusOf(payload) }
    case FRAME.rst_stream:
      return { kind: 'reset', code: payload.readUInt32BE(0) }
    case FRAME.goaway:
      return { kind: 'goaway', code: payload.readUInt32BE(4) }
    default:
      return null
  }
}

/** The first field of the first answer of a connection is `:status`: of the static table, or a literal of three digits. */
function statusOf(block: Buffer): number {
  const at = (block[0] ?? 0) >> 5 === 1 ? 1 : 0 // a size update of the dynamic table may stand before it
  const first = block[at] ?? 0
  if (first & 0x80) return STATIC_STATUSES[(first & 0x7f) - 8] ?? 0
  const length = block[at + 1] ?? 0
  const value = block.subarray(at + 2, at + 2 + (length & 0x7f))
  return Number(length & 0x80 ? huffmanDigits(value) : value.toString('latin1'))
}

/** Digits have codes of five bits (0, 1, 2) or six (3 to 9: 25 to 31). */
function huffmanDigits(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let digits = ''
  for (let at = 0; digits.length < 3; ) {
    const short = Number.parseInt(bits.slice(at, at + 5), 2)
    digits += short <= 2 ? short : Number.parseInt(bits.slice(at, at + 6), 2) - 22
    at += short <= 2 ? 5 : 6
  }
  return digits
}
