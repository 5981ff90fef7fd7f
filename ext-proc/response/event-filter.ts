import { EventSplitter, readEvent } from '../../core/request/event-stream.ts'
import type { EffectiveTools } from '../../core/mcp/check-mcp-tool.ts'
import { type FilteredTools, filterTools } from './filter-tools.ts'

/** An event that is longer is given up: a list of tools is far shorter. */
const EVENT_MAX_BYTES = 8 << 20

/** What an event with a list of tools holds; an escaped key (`\\u0074ools`) spells the same name. */
const MENTIONS = ['tools', '\\u']

/** Takes an event stream apart and lets each event go once it is complete, its list of tools filtered. */
export class EventFilter {
  readonly #tools: EffectiveTools
  readonly #splitter = new EventSplitter()
  #isFirst = true

  constructor(tools: EffectiveTools) {
    this.#tools = tools
  }

  /** What may go out now; null when an event is too long to be read, or its list is in a form that is not. */
  push(chunk: Buffer, end: boolean): Buffer | null {
    const events = this.#splitter.push(chunk)
    if (!end && this.#splitter.held_bytes > EVENT_MAX_BYTES) return null
    // Some clients take what the end of the stream cuts off for an event.
    const complete = end ? [...events, this.#splitter.take()] : events
    const whole = Buffer.concat(complete)
    const isFirst = this.#isFirst
    if (whole.length > 0) this.#isFirst = false
    const mentions = MENTIONS.map((text) => ({ text, at: whole.indexOf(text) }))
    const out: Buffer[] = []
    let passed = 0
    let from = 0
    for (const event of complete) {
      const start = from
      from += event.length
      if (!mentions.some(({ at }) => at !== -1 && at < from)) continue
      const filtered = this.#filter(event, isFirst && start === 0)
      if (filtered === null) return null
      if (filtered !== event) {
        out.push(whole.subarray(passed, start), filtered)
        passed = from
      }
      for (const mention of mentions)
        if (mention.at !== -1 && mention.at < from) mention.at = whole.indexOf(mention.text, from)
    }
    out.push(whole.subarray(passed))
    return Buffer.concat(out)
  }

  /** Rewrites `data` only when a tool is cut; an event of several data lines is then written as one. */
  #filter(event: Buffer, isFirst: boolean): Buffer | null {
    const { data, unmarked, others } = readEvent(event, 'latin1', isFirst)
    // A list that only some clients see is not rewritten.
    if (unmarked !== null && this.#read(unmarked).kind !== 'unchanged') return null
    const filtered = data === null ? null : this.#read(data)
    if (filtered?.kind === 'unreadable') return null
    if (filtered?.kind !== 'filtered') return event
    const kept = filtered.body.toString('latin1').replaceAll(/\r\n|\n|\r/g, ' ')
    return Buffer.from([...others, `data: ${kept}`, '', ''].join('\n'), 'latin1')
  }

  #read(data: string): FilteredTools {
    return filterTools(Buffer.from(data, 'latin1'), this.#tools)
  }
}
