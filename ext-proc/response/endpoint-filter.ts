import { EventSplitter } from '../../core/request/event-stream.ts'
import type { Denial } from '../verdict/denial.ts'
import { type CallPlace, judgeEndpoint } from './judge-reference.ts'
import { redirectRefused } from './redirect-refused.ts'

/** An event that is longer is given up. Results of tools come in such events, with pictures in them. */
const EVENT_MAX_BYTES = 8 << 20

/** Of an event that names a URL. Its lines are taken apart on the event loop, which a result of a tool is too long for. */
const ENDPOINT_MAX_BYTES = 16 << 10

/** What the activity log calls the place of the reference. */
export const ENDPOINT_EVENT = 'endpoint event'

export interface FilteredEvents {
  /** What may go out. */
  readonly out: Buffer
  /** Why the stream ends after it; null when it continues. */
  readonly denial: Denial | null
}

/**
 * The HTTP+SSE transport of MCP (revision 2024-11-05) sends the client an event `endpoint` with the URL to post all
 * messages to. Clients check that it has the origin of the stream, which all APIs share here, so it is rewritten below
 * the API that sends it; any other ends the stream. Each event is held until it is complete.
 */
export class EndpointFilter {
  readonly #place: CallPlace
  readonly #splitter = new EventSplitter()
  #isFirst = true

  constructor(place: CallPlace) {
    this.#place = place
  }

  push(chunk: Buffer, end: boolean): FilteredEvents {
    const events = this.#splitter.push(chunk)
    // Some clients take what the end of the stream cuts off for an event.
    const complete = end ? [...events, this.#splitter.take()] : events
    const out: Buffer[] = []
    for (const event of complete) {
      const judged = this.#judge(event)
      if (!Buffer.isBuffer(judged)) return { out: Buffer.concat(out), denial: judged }
      out.push(judged)
      this.#isFirst = false
    }
    const isTooLong = this.#splitter.held_bytes > EVENT_MAX_BYTES
    return { out: Buffer.concat(out), denial: isTooLong ? this.#refused('', 'unreadable') : null }
  }

  #judge(event: Buffer): Buffer | Denial {
    const text = event.toString('latin1')
    if (!namesEndpoint(text)) return event
    if (event.length > ENDPOINT_MAX_BYTES) return this.#refused('', 'unreadable')
    const lines = (this.#isFirst ? text.replace(BYTE_ORDER_MARK, '') : text).split(LINE_END)
    const fields = lines.join('\n').split(ANY_LINE_END)
    const data = soleValue(fields, 'data')
    const isPlain =
      fields.length === lines.length && soleValue(fields, 'event') === 'endpoint' && data !== null
    if (!isPlain) return this.#refused('', 'unreadable')
    const judged = judgeEndpoint(data, this.#place)
    if (judged.kind === 'refused') return this.#refused(data, judged.reason)
    const rest = lines.filter((line) => line !== '' && fieldOf(line) !== 'data')
    return Buffer.from([...rest, `data: ${judged.text}`, '', ''].join('\n'), 'latin1')
  }

  #refused(reference: string, reason: string): Denial {
    return redirectRefused(ENDPOINT_EVENT, reference, reason, this.#place.base_url)
  }
}

// One character a byte, so UTF-8 characters are spelled by their bytes.
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/
const LINE_END = /\r\n|\n|\r/
/** Clients that read lines as Python does end them at these too: U+000B, U+000C, U+001C to U+001E, U+0085, U+2028, U+2029. */
// oxlint-disable-next-line no-control-regex
const ANY_LINE_END = /[\n\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]/
/** Also for clients that trim or fold what they compare. */
// oxlint-disable-next-line no-control-regex
const NAMES_ENDPOINT = /event[\0-\x09\x0e-\x1b\x1f ]*:[\0-\x09\x0e-\x1b\x1f ]*endpoint/gi
const TO_LINE_END =
  // oxlint-disable-next-line no-control-regex
  /[\0-\x09\x0e-\x1b\x1f ]*(?:[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]|$)/y

/** Whether a line is the field `event: endpoint`. Its time is linear in the text: no two names share the blanks around them. */
export function namesEndpoint(text: string): boolean {
  for (const { index, 0: name } of text.matchAll(NAMES_ENDPOINT)) {
    TO_LINE_END.lastIndex = index + name.length
    if (beginsLine(text, index) && TO_LINE_END.test(text)) return true
  }
  return false
}

function beginsLine(text: string, position: number): boolean {
  let at = position
  for (;;) {
    const before = text.slice(Math.max(0, at - 3), at)
    // oxlint-disable-next-line no-control-regex
    if (before === '' || /[\n\r\x0b\x0c\x1c-\x1e]$|\xc2\x85$|\xe2\x80[\xa8\xa9]$/.test(before))
      return true
    if (before === '\xef\xbb\xbf') at -= 3
    else if (before.charCodeAt(before.length - 1) <= 0x20) at -= 1
    else return false
  }
}

// oxlint-disable-next-line no-control-regex
const AROUND_NAME = /^(?:[\0-\x20]|\xef\xbb\xbf)+|(?<![\0-\x20])[\0-\x20]+$/g
const fieldOf = (line: string): string =>
  (line.split(':', 1)[0] ?? '').replaceAll(AROUND_NAME, '').toLowerCase()

/** The value of a field that is there once and is spelled as the standard has it; null otherwise. */
function soleValue(lines: readonly string[], name: string): string | null {
  const [line, ...more] = lines.filter((one) => fieldOf(one) === name)
  if (line === undefined || more.length > 0 || !line.startsWith(`${name}:`)) return null
  return line.slice(line[name.length + 1] === ' ' ? name.length + 2 : name.length + 1)
}
