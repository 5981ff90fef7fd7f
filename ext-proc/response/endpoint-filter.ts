import { EventSplitter } from '../../core/request/event-stream.ts'
import type { Denial } from '../verdict/denial.ts'
import { type CallPlace, judgeEndpoint } from './judge-reference.ts'
import { redirectRefused } from './redirect-refused.ts'

/** An event that is longer is given up. Results of tools come in such events, with pictures in them. */
const EVENT_MAX_BYTES = 8 << 20

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
    if (!MENTIONS_ENDPOINT.test(text)) return event
    const lines = (this.#isFirst ? text.replace(BYTE_ORDER_MARK, '') : text).split(LINE_END)
    const fields = lines.join('\n').split(ANY_LINE_END)
    if (!fields.some((line) => NAMES_ENDPOINT.test(line))) return event
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
const MENTIONS_ENDPOINT = /endpoint/i
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/
const LINE_END = /\r\n|\n|\r/
/** Clients that read lines as Python does end them at these too: U+000B, U+000C, U+001C to U+001E, U+0085, U+2028, U+2029. */
// oxlint-disable-next-line no-control-regex
const ANY_LINE_END = /[\n\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]/
/** Also for clients that trim or fold what they compare. */
// oxlint-disable-next-line no-control-regex
const NAMES_ENDPOINT = /^(?:[\0-\x20]|\xef\xbb\xbf)*event[\0-\x20]*:[\0-\x20]*endpoint[\0-\x20]*$/i

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
