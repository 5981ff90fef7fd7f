const LF = 0x0a
const CR = 0x0d
/** Two line ends of two bytes. */
const LONGEST_END_BYTES = 4
const EMPTY: Buffer = Buffer.alloc(0)
const NONE: readonly Buffer[] = []

/** Splits an event stream into events, however it is split into chunks. No byte is dropped. */
export class EventSplitter {
  /** Pieces of an incomplete event. They are joined once it is complete, so that many small pieces cost no more than a few. */
  #pieces: Buffer[] = []
  #held_bytes = 0
  /** The last bytes of them, in which the end of the event may begin. */
  #tail: Buffer = EMPTY

  /** Bytes of the incomplete event. */
  get held_bytes(): number {
    return this.#held_bytes
  }

  /** The events that this chunk completes, each with the blank line that ends it. */
  push(chunk: Buffer): readonly Buffer[] {
    const recent = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    if (eventEnd(recent, 0) < 0) {
      this.#hold(chunk, recent)
      return NONE
    }
    const bytes = this.#pieces.length === 0 ? chunk : Buffer.concat([...this.#pieces, chunk])
    this.#clear()
    const events: Buffer[] = []
    let at = 0
    for (let next = eventEnd(bytes, at); next >= 0; next = eventEnd(bytes, at)) {
      events.push(bytes.subarray(at, next))
      at = next
    }
    const rest = bytes.subarray(at)
    if (rest.length > 0) this.#hold(rest, rest)
    return events
  }

  /** Returns and clears the incomplete event, which some clients process at the end of a stream. */
  take(): Buffer {
    const held = Buffer.concat(this.#pieces)
    this.#clear()
    return held
  }

  #hold(piece: Buffer, recent: Buffer): void {
    this.#pieces.push(piece)
    this.#held_bytes += piece.length
    this.#tail = recent.subarray(-(LONGEST_END_BYTES - 1))
  }

  #clear(): void {
    this.#pieces = []
    this.#held_bytes = 0
    this.#tail = EMPTY
  }
}

export interface StreamEvent {
  /** The `data` lines according to the standard, joined; null if there are none. */
  readonly data: string | null
  /** As read by readers that drop a byte-order mark before every line; null if that is the same. */
  readonly unmarked: string | null
  /** All other lines, unchanged. */
  readonly others: readonly string[]
}

const MARKS: Readonly<Record<'utf8' | 'latin1', RegExp>> = {
  utf8: /^\ufeff+/,
  latin1: /^(?:\u00ef\u00bb\u00bf)+/,
}

/** @param isFirst whether this is the first event of the stream, where the standard drops a byte-order mark */
export function readEvent(
  event: Buffer,
  encoding: 'utf8' | 'latin1',
  isFirst: boolean,
): StreamEvent {
  const standard: string[] = []
  const unmarked: string[] = []
  const others: string[] = []
  const marks = MARKS[encoding]
  let isStart = isFirst
  for (const line of event.toString(encoding).split(/\r\n|\n|\r/)) {
    const bare = line.replace(marks, '')
    const value = dataOf(bare)
    if (value !== null) unmarked.push(value)
    if (value !== null && (isStart || bare.length === line.length)) standard.push(value)
    else if (line !== '') others.push(line)
    isStart = false
  }
  return {
    data: standard.length === 0 ? null : standard.join('\n'),
    unmarked: standard.length === unmarked.length ? null : unmarked.join('\n'),
    others,
  }
}

function dataOf(line: string): string | null {
  if (line === 'data') return ''
  return line.startsWith('data:') ? line.slice(line[5] === ' ' ? 6 : 5) : null
}

/** The position after the blank line that ends the first event from `start` on; -1 if there is none yet. */
function eventEnd(bytes: Buffer, start: number): number {
  for (let i = start; i < bytes.length; i++) {
    const first = lineBreak(bytes, i)
    if (first === 0) continue
    const second = lineBreak(bytes, i + first)
    if (second > 0) return i + first + second
    i += first - 1
  }
  return -1
}

function lineBreak(bytes: Buffer, at: number): number {
  if (bytes[at] === LF) return 1
  if (bytes[at] !== CR) return 0
  return bytes[at + 1] === LF ? 2 : 1
}
