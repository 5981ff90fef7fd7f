const LF = 0x0a
const CR = 0x0d
/** Two line ends of two bytes. */
const LONGEST_END_BYTES = 4
const EMPTY: Buffer = Buffer.alloc(0)
const NONE: readonly Buffer[] = []

/** Takes an event stream apart, in whatever pieces it comes. No byte is dropped. */
export class EventSplitter {
  /** Pieces of an event that is not complete; joined when it is, so that many small ones cost no more than a few. */
  #pieces: Buffer[] = []
  #held_bytes = 0
  /** The last of them, in which the end of the event may begin. */
  #tail: Buffer = EMPTY

  /** Of the event that is not complete yet. */
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

  /** What is held, which some clients take for an event at the end of a stream. It is held no longer. */
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
  /** The `data` lines as the standard reads them, joined; null where there are none. */
  readonly data: string | null
  /** As readers do that drop a byte order mark in front of every line; null where that is the same. */
  readonly unmarked: string | null
  /** All other lines, as they came. */
  readonly others: readonly string[]
}

const MARKS: Readonly<Record<'utf8' | 'latin1', RegExp>> = {
  utf8: /^\ufeff+/,
  latin1: /^(?:\u00ef\u00bb\u00bf)+/,
}

/** @param isFirst of the stream: the standard drops a byte order mark there */
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

/** Just behind the blank line that ends the first event from `start` on; -1 when there is none yet. */
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
