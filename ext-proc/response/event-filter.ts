import type { EffectiveTools } from '../../core/mcp/check-mcp-tool.ts'
import { filterTools } from './filter-tools.ts'

/** An event that is longer is given up: a list of tools is far shorter. */
const EVENT_MAX_BYTES = 8 << 20
/** Two line ends of two bytes. */
const LONGEST_END_BYTES = 4
const EMPTY: Buffer = Buffer.alloc(0)

/** Takes an event stream apart and lets each event go once it is complete, its list of tools filtered. */
export class EventFilter {
  readonly #tools: EffectiveTools
  /** Pieces of an event that is not complete; joined when it is, so that many small ones cost no more than a few. */
  #pieces: Buffer[] = []
  #pieces_bytes = 0
  /** The last of them, in which the end of the event may begin. */
  #tail: Buffer = EMPTY

  constructor(tools: EffectiveTools) {
    this.#tools = tools
  }

  /** What may go out now; null when an event is too long to be read, or its list is in a form that is not. */
  push(chunk: Buffer, end: boolean): Buffer | null {
    const recent = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    if (!end && eventEnd(recent, 0) < 0) return this.#hold(chunk, recent)
    const bytes = this.#pieces.length === 0 ? chunk : Buffer.concat([...this.#pieces, chunk])
    this.#pieces = []
    this.#pieces_bytes = 0
    const out: Buffer[] = []
    let at = 0
    for (let next = eventEnd(bytes, at); next >= 0; next = eventEnd(bytes, at)) {
      const event = this.#filter(bytes.subarray(at, next))
      if (event === null) return null
      out.push(event)
      at = next
    }
    const rest = bytes.subarray(at)
    if (end) {
      const last = rest.length > 0 ? this.#filter(rest) : EMPTY
      return last === null ? null : Buffer.concat([...out, last])
    }
    return this.#hold(rest, rest) === null ? null : Buffer.concat(out)
  }

  #hold(piece: Buffer, recent: Buffer): Buffer | null {
    this.#pieces.push(piece)
    this.#pieces_bytes += piece.length
    this.#tail = recent.subarray(-(LONGEST_END_BYTES - 1))
    return this.#pieces_bytes > EVENT_MAX_BYTES ? null : EMPTY
  }

  /** Rewrites `data` only when a tool is cut; an event of several data lines is then written as one. */
  #filter(event: Buffer): Buffer | null {
    if (!event.includes('tools')) {
      // An escaped key (`\u0074ools`) spells the same name.
      if (!event.includes('\\u')) return event
    }
    // Clients drop a byte order mark at the start of the stream.
    const text = event.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '')
    const lines = text.split(/\r\n|\n|\r/)
    const isData = (line: string): boolean => line === 'data' || line.startsWith('data:')
    const data = lines.filter(isData).map((line) => line.slice(5).replace(/^ /, ''))
    const filtered = filterTools(Buffer.from(data.join('\n'), 'latin1'), this.#tools)
    if (filtered.kind === 'unreadable') return null
    if (filtered.kind === 'unchanged') return event
    const others = lines.filter((line) => line !== '' && !isData(line))
    const kept = filtered.body.toString('latin1').replaceAll(/\r\n|\n|\r/g, ' ')
    return Buffer.from([...others, `data: ${kept}`, '', ''].join('\n'), 'latin1')
  }
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

const LF = 0x0a
const CR = 0x0d

function lineBreak(bytes: Buffer, at: number): number {
  if (bytes[at] === LF) return 1
  if (bytes[at] !== CR) return 0
  return bytes[at + 1] === LF ? 2 : 1
}
