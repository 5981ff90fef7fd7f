import type { Socket } from 'node:net'
import {
  FLAG,
  FRAME,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  H2_ERROR,
  openFrame,
  writeFrameHead,
} from './frame.ts'
import { HpackDecoder } from './hpack-decoder.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/**
 * What the peer may send of one stream, and of all, before this end has taken it. Whatever Envoy says of other calls comes after
 * it, such as the end of a call that a kill has cut. What exceeds it waits in Envoy, stream by stream.
 */
const STREAM_WINDOW_BYTES = 256 << 10
const CONNECTION_WINDOW_BYTES = 512 << 10
const DEFAULT_WINDOW_BYTES = 65_535
const WINDOW_LIMIT = 2 ** 31 - 1
/** Envoy's own limit for headers; a call of gRPC has a few hundred bytes. */
const HEADER_BLOCK_LIMIT_BYTES = 65_536
/** A header block in more pieces, which may be empty, is no header block. */
const CONTINUATIONS_MAX = 16
/** While so much is not yet taken by the peer, nothing more is read from it and no payload is written to it. */
const OUTPUT_LIMIT_BYTES = 16 << 20
/** A peer that takes nothing for so long is cut off. On a Unix socket nothing else would notice it. */
const STALL_LIMIT_MS = 30_000
/** How long a connection that was ended waits for the peer to take the rest and to close its side. */
const LINGER_LIMIT_MS = 5_000
/** Payload that waits for a window, of one stream and of all. A stream that would add to more is reset. */
const STREAM_WAITING_LIMIT_BYTES = 64 << 20
const WAITING_LIMIT_BYTES = 256 << 20
/** What is written in one turn is gathered in so much, which is kept; for more, memory is taken for this turn alone. */
const OUTPUT_KEPT_BYTES = 65_536
/** Memory that a waiting payload takes in addition to its bytes. */
const WAITING_ENTRY_BYTES = 128
/** Calls in flight keep their streams open. For more, Envoy opens another connection. */
const STREAMS_MAX = 65_536
const SETTING = {
  enable_push: 2,
  max_streams: 3,
  initial_window: 4,
  max_frame: 5,
  max_header_list: 6,
} as const
/**
 * HPACK: the table of this end has size 0. A peer that lowers the size of the table in its settings requires an update at the
 * beginning of the next block and treats its absence as an error of the connection (RFC 7541, 4.2). One update in the first
 * block covers every later setting.
 */
const NO_TABLE = Buffer.from([0x20])
const OWN_SETTINGS: readonly (readonly [number, number])[] = [
  [SETTING.max_streams, STREAMS_MAX],
  [SETTING.initial_window, STREAM_WINDOW_BYTES],
  [SETTING.max_header_list, HEADER_BLOCK_LIMIT_BYTES],
]
const NOTHING = Buffer.alloc(0)
/** What pings of this end are filled with, to tell their answers apart. */
const PING = { leave: 0, read: 1 } as const

/** The head of a request. */
export interface StreamHead {
  readonly method: string
  readonly path: string
  readonly authority: string
  readonly content_type: string
  /** Empty if the peer traces nothing. */
  readonly traceparent: string
}

/** What becomes of a stream's bytes. */
export interface StreamReceiver {
  onData(bytes: Buffer): void
  /** The peer has sent all. */
  onEnd(): void
  /** The stream is over before both sides have ended it. */
  onCancel(): void
}

/** One stream, as its connection keeps it. */
export interface Http2Stream {
  readonly id: number
  receiver: StreamReceiver | null
  /** What the peer takes before it says more. */
  window: number
  /** Taken, but not yet given back to the peer's window. */
  taken: number
  has_peer_ended: boolean
  has_ended: boolean
  /** After the end of this side, what the peer sends is still passed on, until it ends or resets the stream. */
  reads_on: boolean
  /** Payload that waits for a window, and the header block that comes after it. */
  readonly waiting: Buffer[]
  waiting_bytes: number
  trailers: Buffer | null
}

interface FrameHead {
  readonly length: number
  readonly type: number
  readonly flags: number
  readonly id: number
}

interface PendingFrame {
  readonly head: FrameHead
  readonly payload: Buffer
  /** How many have come. */
  bytes: number
}

interface PendingData {
  readonly id: number
  /** The peer sends no more data in this stream. */
  readonly ends: boolean
  /** Bytes that have not come. */
  left: number
}

class ConnectionError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * The server's side of one HTTP/2 connection, for peers that speak it well and are known: the Envoys of this deployment,
 * over a Unix socket or mutual TLS. It has what gRPC uses: no push, no priorities, no compression of its own headers.
 * What is written in one turn of the event loop goes out as one.
 */
export class Http2Connection {
  readonly #socket: Socket
  readonly #onStream: (stream: Http2Stream, head: StreamHead) => StreamReceiver
  readonly #decoder = new HpackDecoder()
  /**
   * Emptied when the stream ends. A map that grows and shrinks all the time replaces its table often, and each old table keeps its
   * entries and the next table. Once one of them is in the old generation, the young generation could free none of the streams.
   */
  readonly #streams = new Map<number, { stream: Http2Stream | null }>()
  /** Streams with payload that waits for a window, longest first. */
  readonly #blocked = new Set<Http2Stream>()
  /** The beginning of the preface, and afterwards of a frame whose head has not come whole. */
  readonly #begun = Buffer.allocUnsafe(PREFACE.length)
  #begunBytes = 0
  /** A frame that has not come whole. */
  #frame: PendingFrame | null = null
  /** A DATA frame without padding that has not come whole. */
  #data: PendingData | null = null
  #hasPreface = false
  #hasSettings = false
  #hasSentHeaders = false
  #block: { id: number; flags: number; parts: Buffer[]; bytes: number } | null = null
  #lastId = 0
  #window = DEFAULT_WINDOW_BYTES
  #streamWindow = DEFAULT_WINDOW_BYTES
  #frameBytesMax = FRAME_BYTES_MAX
  #taken = 0
  /** What this turn has written. */
  #output = Buffer.allocUnsafeSlow(OUTPUT_KEPT_BYTES)
  #outputBytes = 0
  #isFlushing = false
  #isPaused = false
  /** Who waits until the peer has read what was written, two for each stream at most; the first `#asked` wait for a ping. */
  readonly #readers: { readonly callback: () => void; answers: number }[] = []
  #asked = 0
  #waitingBytes = 0
  /** Cuts off a peer that takes nothing, or does not close. */
  #limit: NodeJS.Timeout | undefined
  /** `leaving`: GOAWAY was sent; streams that are in transit still count. */
  #state: 'open' | 'leaving' | 'left' | 'closed' = 'open'

  constructor(socket: Socket, onStream: (stream: Http2Stream, head: StreamHead) => StreamReceiver) {
    this.#socket = socket
    this.#onStream = onStream
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
    socket.on('drain', () => this.#resume())
    socket.on('error', () => socket.destroy())
    // A peer that has ended its side takes no part in its calls any more.
    socket.on('end', () => this.#endSocket())
    socket.on('close', () => this.#close())
    this.#write(settingsFrame())
    this.#write(windowUpdate(0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES))
  }

  /** Ends the connection when its streams have ended. */
  leave(): void {
    if (this.#state !== 'open') return
    this.#state = 'leaving'
    this.#write(goAway(WINDOW_LIMIT, H2_ERROR.none))
    // When this comes back, so has every stream that was opened before the peer knew.
    this.#ping(PING.leave)
  }

  /**
   * Calls back when the peer has read all that was written so far, and this end what the peer has sent in turn; never, if the
   * connection ends before.
   */
  whenRead(callback: () => void): void {
    this.#readers.push({ callback, answers: 0 })
    if (this.#asked === 0) this.#askReaders()
  }

  #askReaders(): void {
    this.#asked = this.#readers.length
    if (this.#asked > 0) this.#ping(PING.read)
  }

  /** An answer overtakes what the peer has written in the same turn; the second one does not. */
  #tellReaders(): void {
    const asked = this.#readers.slice(0, this.#asked)
    for (const reader of asked) reader.answers++
    const told = asked.filter(({ answers }) => answers === 2)
    this.#readers.splice(0, told.length)
    this.#askReaders()
    for (const { callback } of told) callback()
  }

  #ping(payload: number): void {
    this.#write(openFrame(FRAME.ping, 0, 0, 8).fill(payload, FRAME_HEAD_BYTES))
  }

  #pingAnswered(payload: number | undefined): void {
    if (payload === PING.leave && this.#state === 'leaving') this.#left()
    if (payload === PING.read) this.#tellReaders()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  get openStreams(): number {
    return this.#streams.size
  }

  /** @param block without references to a table */
  sendHeaders(stream: Http2Stream, block: Buffer): void {
    if (stream.has_ended) return
    this.#writeHeaders(stream, block, false)
  }

  /** Sends both as one; neither is kept. */
  sendData(stream: Http2Stream, payload: Buffer, prefix: Buffer = NOTHING): void {
    if (stream.has_ended || stream.trailers !== null) return
    const bytes = prefix.length + payload.length
    const room = this.#roomOf(stream)
    if (stream.waiting.length === 0 && room > 0 && bytes <= room) {
      const at = this.#openData(stream, bytes)
      prefix.copy(this.#output, at)
      payload.copy(this.#output, at + prefix.length)
      return
    }
    if (
      stream.waiting_bytes > STREAM_WAITING_LIMIT_BYTES ||
      this.#waitingBytes > WAITING_LIMIT_BYTES
    )
      return this.#reset(stream, H2_ERROR.enhance_your_calm)
    stream.waiting.push(Buffer.concat([prefix, payload], bytes))
    this.#countWaiting(stream, bytes + WAITING_ENTRY_BYTES)
    if (stream.waiting.length === 1) this.#pump(stream)
  }

  /** Ends this side, after all data. */
  sendTrailers(stream: Http2Stream, block: Buffer): void {
    if (stream.has_ended || stream.trailers !== null) return
    stream.trailers = block
    if (stream.waiting.length === 0) this.#pump(stream)
  }

  #receive(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length && !this.#isClosed(); ) at = this.#read(bytes, at)
      if (!this.#isClosed()) this.#giveBack()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Reads on from `at`; returns where reading continues. */
  #read(bytes: Buffer, at: number): number {
    if (!this.#hasPreface) return this.#readPreface(bytes, at)
    if (this.#data !== null) return this.#readDataPart(this.#data, bytes, at)
    if (this.#frame !== null) return this.#fillFrame(this.#frame, bytes, at)
    const isThere = this.#begunBytes === 0 && bytes.length - at >= FRAME_HEAD_BYTES
    if (isThere) return this.#beginFrame(frameHeadOf(bytes, at), bytes, at + FRAME_HEAD_BYTES)
    const end = this.#gather(bytes, at, FRAME_HEAD_BYTES)
    if (this.#begunBytes < FRAME_HEAD_BYTES) return end
    this.#begunBytes = 0
    return this.#beginFrame(frameHeadOf(this.#begun, 0), bytes, end)
  }

  #readPreface(bytes: Buffer, at: number): number {
    const end = this.#gather(bytes, at, PREFACE.length)
    const begun = this.#begun.subarray(0, this.#begunBytes)
    if (!begun.equals(PREFACE.subarray(0, begun.length)))
      throw new ConnectionError(H2_ERROR.protocol, 'not HTTP/2')
    this.#hasPreface = begun.length === PREFACE.length
    if (this.#hasPreface) this.#begunBytes = 0
    return end
  }

  /** Adds to what has come of the preface, or of the head of a frame. */
  #gather(bytes: Buffer, at: number, length: number): number {
    const copied = bytes.copy(this.#begun, this.#begunBytes, at, at + length - this.#begunBytes)
    this.#begunBytes += copied
    return at + copied
  }

  #beginFrame(head: FrameHead, bytes: Buffer, at: number): number {
    const { type, flags, id, length } = head
    if (length > FRAME_BYTES_MAX)
      throw new ConnectionError(H2_ERROR.frame_size, 'a frame is too large')
    if (this.#block !== null && (type !== FRAME.continuation || id !== this.#block.id))
      throw new ConnectionError(H2_ERROR.protocol, 'a header block is interrupted')
    if (!this.#hasSettings && type !== FRAME.settings)
      throw new ConnectionError(H2_ERROR.protocol, 'a connection begins with settings')
    if (type === FRAME.data && !(flags & FLAG.padded)) {
      this.#countData(id, length)
      const data = { id, ends: (flags & FLAG.end_stream) !== 0, left: length }
      if (length === 0) this.#endData(data)
      else this.#data = data
      return at
    }
    const end = at + length
    if (end <= bytes.length) this.#readFrame(head, bytes.subarray(at, end))
    else {
      const payload = Buffer.allocUnsafe(length)
      this.#frame = { head, payload, bytes: bytes.copy(payload, 0, at) }
    }
    return end
  }

  #fillFrame(frame: PendingFrame, bytes: Buffer, at: number): number {
    const copied = bytes.copy(frame.payload, frame.bytes, at)
    frame.bytes += copied
    if (frame.bytes === frame.payload.length) {
      this.#frame = null
      this.#readFrame(frame.head, frame.payload)
    }
    return at + copied
  }

  /** @param payload of a frame that is not DATA, or has padding */
  #readFrame({ type, flags, id }: FrameHead, payload: Buffer): void {
    switch (type) {
      case FRAME.data: {
        this.#countData(id, payload.length)
        const data = withoutPadding(payload, 0)
        if (data.length > 0) this.#openStream(id)?.receiver?.onData(data)
        return this.#endData({ id, ends: (flags & FLAG.end_stream) !== 0 })
      }
      case FRAME.headers:
        return this.#readHeaders(id, flags, payload)
      case FRAME.continuation:
        return this.#readContinuation(flags, payload)
      case FRAME.reset:
        return this.#readReset(id, payload)
      case FRAME.settings:
        return this.#readSettings(id, flags, payload)
      case FRAME.ping:
        return this.#readPing(id, flags, payload)
      case FRAME.window_update:
        return this.#readWindowUpdate(id, payload)
      case FRAME.push_promise:
        throw new ConnectionError(H2_ERROR.protocol, 'a client pushes nothing')
      case FRAME.priority:
        if (id === 0 || payload.length !== 5)
          throw new ConnectionError(H2_ERROR.frame_size, 'a bad priority')
        return
      case FRAME.goaway:
        // Changes nothing for streams that are open.
        if (id !== 0) throw new ConnectionError(H2_ERROR.protocol, 'a GOAWAY of a stream')
      // What is not known is ignored.
    }
  }

  /** Counts a DATA frame as it begins: all of it, with its padding. Its stream is reset if it must not send it. */
  #countData(id: number, length: number): void {
    if (id === 0 || id > this.#lastId)
      throw new ConnectionError(H2_ERROR.protocol, 'data of no stream')
    this.#taken += length
    if (this.#taken > CONNECTION_WINDOW_BYTES)
      throw new ConnectionError(H2_ERROR.flow_control, 'more data than was asked for')
    const stream = this.#openStream(id)
    if (stream === null) return
    if (stream.has_peer_ended) return this.#reset(stream, H2_ERROR.stream_closed)
    stream.taken += length
    if (stream.taken > STREAM_WINDOW_BYTES) this.#reset(stream, H2_ERROR.flow_control)
  }

  /** Data is passed on as it arrives: what is copied in this class for a body of 1 MiB would be collected as garbage. */
  #readDataPart(data: PendingData, bytes: Buffer, at: number): number {
    const end = Math.min(at + data.left, bytes.length)
    data.left -= end - at
    if (data.left === 0) this.#data = null
    this.#openStream(data.id)?.receiver?.onData(bytes.subarray(at, end))
    if (data.left === 0) this.#endData(data)
    return end
  }

  #endData({ id, ends }: Pick<PendingData, 'id' | 'ends'>): void {
    const stream = this.#openStream(id)
    if (stream === null) return
    if (ends) this.#peerEnded(stream)
    else if (stream.taken >= STREAM_WINDOW_BYTES / 2) {
      this.#write(windowUpdate(id, stream.taken))
      stream.taken = 0
    }
  }

  #readHeaders(id: number, flags: number, payload: Buffer): void {
    if (id % 2 === 0) throw new ConnectionError(H2_ERROR.protocol, 'not a stream of a client')
    const before = flags & FLAG.priority ? 5 : 0
    if (payload.length < before) throw new ConnectionError(H2_ERROR.frame_size, 'cut short')
    const part = flags & FLAG.padded ? withoutPadding(payload, before) : payload.subarray(before)
    if (flags & FLAG.end_headers) return this.#readBlock(id, flags, part)
    this.#block = { id, flags, parts: [part], bytes: part.length }
  }

  #readContinuation(flags: number, payload: Buffer): void {
    const block = this.#block
    if (block === null) throw new ConnectionError(H2_ERROR.protocol, 'nothing is continued')
    block.parts.push(payload)
    block.bytes += payload.length
    if (block.bytes > HEADER_BLOCK_LIMIT_BYTES || block.parts.length > CONTINUATIONS_MAX)
      throw new ConnectionError(H2_ERROR.enhance_your_calm, 'a header block is too large')
    if (!(flags & FLAG.end_headers)) return
    this.#block = null
    this.#readBlock(block.id, block.flags, Buffer.concat(block.parts))
  }

  /** Every block is read, whatever becomes of it: the next ones may refer to it. */
  #readBlock(id: number, flags: number, block: Buffer): void {
    const head = { method: '', path: '', authority: '', content_type: '', traceparent: '' }
    try {
      this.#decoder.read(block, (name, value) => {
        if (name === ':path') head.path = value
        else if (name === ':method') head.method = value
        else if (name === ':authority') head.authority = value
        else if (name === 'content-type') head.content_type = value
        else if (name === 'traceparent') head.traceparent = value
      })
    } catch (error) {
      throw new ConnectionError(H2_ERROR.compression, String(error))
    }
    const known = this.#openStream(id)
    if (known !== null) {
      if (known.has_peer_ended) this.#reset(known, H2_ERROR.stream_closed)
      else if (flags & FLAG.end_stream) this.#peerEnded(known)
      else this.#reset(known, H2_ERROR.protocol)
      return
    }
    // Of a stream that has ended.
    if (id <= this.#lastId) return
    this.#lastId = id
    // The GOAWAY named the last stream; the peer retries this one elsewhere.
    if (this.#state === 'left') return
    if (this.#streams.size >= STREAMS_MAX) {
      this.#write(resetFrame(id, H2_ERROR.refused))
      return
    }
    const stream: Http2Stream = {
      id,
      receiver: null,
      window: this.#streamWindow,
      taken: 0,
      has_peer_ended: false,
      has_ended: false,
      reads_on: false,
      waiting: [],
      waiting_bytes: 0,
      trailers: null,
    }
    this.#streams.set(id, { stream })
    stream.receiver = this.#onStream(stream, head)
    if (flags & FLAG.end_stream) this.#peerEnded(stream)
  }

  #readReset(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ConnectionError(H2_ERROR.frame_size, 'a bad reset')
    if (id === 0 || id > this.#lastId)
      throw new ConnectionError(H2_ERROR.protocol, 'a reset of no stream')
    const stream = this.#openStream(id)
    if (stream === null) return
    this.#drop(stream)
    stream.receiver?.onCancel()
  }

  #readSettings(id: number, flags: number, payload: Buffer): void {
    if (id !== 0) throw new ConnectionError(H2_ERROR.protocol, 'settings of a stream')
    if (payload.length % 6 !== 0 || (flags & FLAG.ack && payload.length > 0))
      throw new ConnectionError(H2_ERROR.frame_size, 'bad settings')
    this.#hasSettings = true
    if (flags & FLAG.ack) return
    for (let at = 0; at < payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2)
      switch (payload.readUInt16BE(at)) {
        case SETTING.enable_push:
          if (value > 1) throw new ConnectionError(H2_ERROR.protocol, 'a bad setting of push')
          break
        case SETTING.initial_window:
          this.#resizeWindows(value)
          break
        case SETTING.max_frame:
          if (value < FRAME_BYTES_MAX || value >= 1 << 24)
            throw new ConnectionError(H2_ERROR.protocol, 'a bad size of frames')
          this.#frameBytesMax = value
          break
      }
    }
    this.#write(openFrame(FRAME.settings, FLAG.ack, 0, 0))
    this.#unblock()
  }

  /** A smaller window applies to open streams too, and may leave them with less than nothing. */
  #resizeWindows(bytes: number): void {
    if (bytes > WINDOW_LIMIT)
      throw new ConnectionError(H2_ERROR.flow_control, 'a window is too large')
    for (const { stream } of this.#streams.values()) {
      if (stream === null) continue
      stream.window += bytes - this.#streamWindow
      if (stream.window > WINDOW_LIMIT)
        throw new ConnectionError(H2_ERROR.flow_control, 'the window of a stream is too large')
    }
    this.#streamWindow = bytes
  }

  #readPing(id: number, flags: number, payload: Buffer): void {
    if (id !== 0 || payload.length !== 8) throw new ConnectionError(H2_ERROR.protocol, 'a bad ping')
    if (flags & FLAG.ack) return this.#pingAnswered(payload[0])
    const answer = openFrame(FRAME.ping, FLAG.ack, 0, 8)
    payload.copy(answer, FRAME_HEAD_BYTES)
    this.#write(answer)
  }

  #readWindowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ConnectionError(H2_ERROR.frame_size, 'a bad window update')
    const more = payload.readUInt32BE(0) & WINDOW_LIMIT
    if (id === 0) {
      this.#window += more
      if (more === 0 || this.#window > WINDOW_LIMIT)
        throw new ConnectionError(H2_ERROR.flow_control, 'a bad window')
      this.#unblock()
      return
    }
    if (id > this.#lastId) throw new ConnectionError(H2_ERROR.protocol, 'a window of no stream')
    const stream = this.#openStream(id)
    if (stream === null) return
    stream.window += more
    if (more === 0) return this.#reset(stream, H2_ERROR.protocol)
    if (stream.window > WINDOW_LIMIT) return this.#reset(stream, H2_ERROR.flow_control)
    this.#pump(stream)
  }

  #peerEnded(stream: Http2Stream): void {
    if (!this.#streams.has(stream.id)) return
    stream.has_peer_ended = true
    if (stream.has_ended) this.#drop(stream)
    stream.receiver?.onEnd()
  }

  /** Writes what the windows allow. */
  #pump(stream: Http2Stream): void {
    const { waiting } = stream
    for (let payload = waiting[0]; payload !== undefined; payload = waiting[0]) {
      const room = this.#roomOf(stream)
      if (room <= 0) {
        this.#blocked.add(stream)
        return
      }
      const part = payload.length <= room ? payload : payload.subarray(0, room)
      const at = this.#openData(stream, part.length)
      part.copy(this.#output, at)
      this.#countWaiting(stream, -part.length)
      if (part === payload) {
        waiting.shift()
        this.#countWaiting(stream, -WAITING_ENTRY_BYTES)
      } else waiting[0] = payload.subarray(room)
    }
    this.#blocked.delete(stream)
    if (stream.trailers === null || stream.has_ended) return
    this.#writeHeaders(stream, stream.trailers, true)
    stream.has_ended = true
    if (stream.reads_on && !stream.has_peer_ended) return
    // The answer is complete; what else the peer would send is of no use.
    if (!stream.has_peer_ended) this.#write(resetFrame(stream.id, H2_ERROR.none))
    this.#drop(stream)
  }

  /** What the next frame may have of payload. */
  #roomOf(stream: Http2Stream): number {
    return this.#isPaused ? 0 : Math.min(stream.window, this.#window, this.#frameBytesMax)
  }

  /** Returns where in the output its payload is to be written. */
  #openData(stream: Http2Stream, bytes: number): number {
    stream.window -= bytes
    this.#window -= bytes
    return this.#openFrame(FRAME.data, 0, stream.id, bytes)
  }

  #unblock(): void {
    for (const stream of this.#blocked) {
      if (this.#window <= 0 || this.#isPaused) return
      this.#pump(stream)
    }
  }

  #countWaiting(stream: Http2Stream, bytes: number): void {
    stream.waiting_bytes += bytes
    this.#waitingBytes += bytes
  }

  #giveBack(): void {
    if (this.#taken < CONNECTION_WINDOW_BYTES / 2) return
    this.#write(windowUpdate(0, this.#taken))
    this.#taken = 0
  }

  #openStream(id: number): Http2Stream | null {
    return this.#streams.get(id)?.stream ?? null
  }

  #reset(stream: Http2Stream, code: number): void {
    this.#write(resetFrame(stream.id, code))
    this.#drop(stream)
    stream.receiver?.onCancel()
  }

  #drop(stream: Http2Stream): void {
    stream.has_ended = true
    stream.waiting.length = 0
    this.#countWaiting(stream, -stream.waiting_bytes)
    this.#blocked.delete(stream)
    const kept = this.#streams.get(stream.id)
    if (kept !== undefined) kept.stream = null
    this.#streams.delete(stream.id)
    if (this.#state === 'left' && this.#streams.size === 0) this.#endSocket()
  }

  #left(): void {
    this.#state = 'left'
    this.#write(goAway(this.#lastId, H2_ERROR.none))
    if (this.#streams.size === 0) this.#endSocket()
  }

  /** After what was written. Nothing more is read or written, and calls that are open are cancelled. */
  #endSocket(): void {
    if (this.#isClosed()) return
    this.#flush()
    this.#socket.end()
    this.#limitTo(LINGER_LIMIT_MS)
    // A paused socket would not notice that the peer closes.
    this.#socket.resume()
    this.#cancelAll()
  }

  #fail(error: unknown): void {
    if (this.#isClosed()) return
    const code = error instanceof ConnectionError ? error.code : H2_ERROR.internal
    this.#write(goAway(this.#lastId, code))
    this.#endSocket()
  }

  #close(): void {
    clearTimeout(this.#limit)
    this.#cancelAll()
  }

  #cancelAll(): void {
    this.#state = 'closed'
    this.#outputBytes = 0
    this.#frame = null
    this.#data = null
    this.#block = null
    for (const { stream } of this.#streams.values()) {
      if (stream === null) continue
      this.#drop(stream)
      stream.receiver?.onCancel()
    }
  }

  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #limitTo(ms: number): void {
    clearTimeout(this.#limit)
    this.#limit = setTimeout(() => this.#socket.destroy(), ms).unref()
  }

  #writeHeaders(stream: Http2Stream, block: Buffer, ends: boolean): void {
    const whole = this.#hasSentHeaders ? block : Buffer.concat([NO_TABLE, block])
    this.#hasSentHeaders = true
    const flags = FLAG.end_headers | (ends ? FLAG.end_stream : 0)
    const at = this.#openFrame(FRAME.headers, flags, stream.id, whole.length)
    whole.copy(this.#output, at)
  }

  #write(frame: Buffer): void {
    if (this.#state === 'closed') return
    const at = this.#take(frame.length)
    frame.copy(this.#output, at)
  }

  /** Returns where in the output the payload is to be written. */
  #openFrame(type: number, flags: number, id: number, payload_bytes: number): number {
    const at = this.#take(FRAME_HEAD_BYTES + payload_bytes)
    writeFrameHead(this.#output, at, type, flags, id, payload_bytes)
    return at + FRAME_HEAD_BYTES
  }

  /** Adds so many bytes to what this turn writes, and returns where they begin. */
  #take(bytes: number): number {
    const at = this.#outputBytes
    this.#outputBytes += bytes
    if (this.#outputBytes > this.#output.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#output.length * 2, this.#outputBytes))
      this.#output.copy(larger, 0, 0, at)
      this.#output = larger
    }
    if (!this.#isFlushing) queueMicrotask(this.#flushAfterTurn)
    this.#isFlushing = true
    return at
  }

  /** After all microtasks: decisions of calls that have arrived together are written together with the ends of others. */
  readonly #flushAfterTurn = (): void => process.nextTick(this.#flush)

  readonly #flush = (): void => {
    this.#isFlushing = false
    const bytes = this.#outputBytes
    if (bytes === 0 || this.#isClosed() || this.#socket.destroyed) return
    this.#outputBytes = 0
    this.#socket.write(Buffer.from(this.#output.subarray(0, bytes)))
    if (this.#output.length > OUTPUT_KEPT_BYTES)
      this.#output = Buffer.allocUnsafeSlow(OUTPUT_KEPT_BYTES)
    if (this.#isPaused || this.#socket.writableLength <= OUTPUT_LIMIT_BYTES) return
    this.#isPaused = true
    this.#socket.pause()
    this.#limitTo(STALL_LIMIT_MS)
  }

  #resume(): void {
    if (!this.#isPaused || this.#isClosed()) return
    this.#isPaused = false
    clearTimeout(this.#limit)
    this.#socket.resume()
    this.#unblock()
  }
}

const frameHeadOf = (bytes: Buffer, at: number): FrameHead => ({
  length: bytes.readUIntBE(at, 3),
  type: bytes[at + 3] ?? 0,
  flags: bytes[at + 4] ?? 0,
  id: bytes.readUInt32BE(at + 5) & WINDOW_LIMIT,
})

/** @param before how many bytes stand between the length of the padding and the rest */
function withoutPadding(payload: Buffer, before: number): Buffer {
  const padding = payload[0] ?? 0
  if (payload.length < 1 + before + padding)
    throw new ConnectionError(H2_ERROR.protocol, 'more padding than there is')
  return payload.subarray(1 + before, payload.length - padding)
}

function settingsFrame(): Buffer {
  const frame = openFrame(FRAME.settings, 0, 0, OWN_SETTINGS.length * 6)
  OWN_SETTINGS.forEach(([setting, value], i) => {
    frame.writeUInt16BE(setting, FRAME_HEAD_BYTES + i * 6)
    frame.writeUInt32BE(value, FRAME_HEAD_BYTES + i * 6 + 2)
  })
  return frame
}

function windowUpdate(stream_id: number, bytes: number): Buffer {
  const frame = openFrame(FRAME.window_update, 0, stream_id, 4)
  frame.writeUInt32BE(bytes, FRAME_HEAD_BYTES)
  return frame
}

function resetFrame(stream_id: number, code: number): Buffer {
  const frame = openFrame(FRAME.reset, 0, stream_id, 4)
  frame.writeUInt32BE(code, FRAME_HEAD_BYTES)
  return frame
}

function goAway(last_id: number, code: number): Buffer {
  const frame = openFrame(FRAME.goaway, 0, 0, 8)
  frame.writeUInt32BE(last_id, FRAME_HEAD_BYTES)
  frame.writeUInt32BE(code, FRAME_HEAD_BYTES + 4)
  return frame
}
