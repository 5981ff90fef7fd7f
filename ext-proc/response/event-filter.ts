import type { EffectiveTools } from '../../core/policy/check-mcp-tool.ts'
import { filterTools } from './filter-tools.ts'

/** An event that is longer is given up: a list of tools is far shorter. */
const EVENT_MAX_BYTES = 8 << 20

/** Takes an event stream apart and lets each event go once it is complete, its list of tools filtered. */
export class EventFilter {
  readonly #tools: EffectiveTools
  #held: Buffer = Buffer.alloc(0)

  constructor(tools: EffectiveTools) {
    this.#tools = tools
  }

  /** What may go out now; null when an event is too long to be read. */
  push(chunk: Buffer, end: boolean): Buffer | null {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const out: Buffer[] = []
    let at = 0
    for (let next = eventEnd(bytes, at); next >= 0; next = eventEnd(bytes, at)) {
      out.push(this.#filter(bytes.subarray(at, next)))
      at = next
    }
    this.#held = bytes.subarray(at)
    if (end && this.#held.length > 0) {
      out.push(this.#filter(this.#held))
      this.#held = Buffer.alloc(0)
    }
    return this.#held.length > EVENT_MAX_BYTES ? null : Buffer.concat(out)
  }

  /** Rewrites `data` only when a tool is cut; an event of several data lines is then written as one. */
  #filter(event: Buffer): Buffer {
    if (!event.includes('tools')) {
      // An escaped key (`\u0074ools`) spells the same name.
      if (!event.includes('\\u')) return event
    }
    const lines = event.toString('latin1').split(/\r\n|\n|\r/)
    const isData = (line: string): boolean => line === 'data' || line.startsWith('data:')
    const data = lines.filter(isData).map((line) => line.slice(5).replace(/^ /, ''))
    const filtered = filterTools(Buffer.from(data.join('\n'), 'latin1'), this.#tools)
    if (filtered === null) return event
    const others = lines.filter((line) => line !== '' && !isData(line))
    const text = filtered.toString('latin1').replaceAll(/\r\n|\n|\r/g, ' ')
    return Buffer.from([...others, `data: ${text}`, '', ''].join('\n'), 'latin1')
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
