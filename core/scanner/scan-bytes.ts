import type { Actions } from './decide-injection.ts'
import { decodeWide, wideCharset } from './format/charset.ts'
import { isBinary } from './format/readable-runs.ts'
import type { Source } from './format/source.ts'
import { binarySources } from './format/take-apart.ts'
import {
  PassingScan,
  type StreamScanner,
  type StreamVerdict,
  type TextScan,
} from './stream/passing-scan.ts'
import type { StreamText } from './stream/stream-findings.ts'

/**
 * How many preceding bytes are scanned together with the next ones: more than any expression spans, at four bytes per
 * character.
 */
const WINDOW_BYTES = 4_096
/** The widest unit of an encoding. Windows begin at a multiple of it, so that UTF-16 and UTF-32 stay aligned. */
const UNIT_BYTES = 4
/** A longer line is not an event of a stream. */
const LARGEST_LINE_BYTES = 262_144
const LOCATION = 'response.body'

/**
 * Scans a body of an unknown type while it passes, according to its bytes: text, text in a wide encoding, or the texts in
 * binary bytes. Bytes are forwarded as soon as they are clean; those that complete an attack, and all that follow, are not.
 */
export const openByteScanner = (
  actions: Actions,
  scanTexts: TextScan,
  content_encoding: string | null,
): StreamScanner => new ByteScan(actions, scanTexts, content_encoding)

class ByteScan extends PassingScan {
  #window: Buffer = Buffer.alloc(0)
  /** Where the window begins in the stream. */
  #window_start = 0
  /** Detected in the first window only: later on, any binary bytes may look like this. */
  #wide: ReturnType<typeof wideCharset> = null
  #line: Buffer = Buffer.alloc(0)

  override async push(chunk: Buffer, end: boolean): Promise<StreamVerdict> {
    return chunk.length === 0 ? this.verdict() : super.push(chunk, end)
  }

  protected async take(bytes: Buffer): Promise<void> {
    if (bytes.length > 0) await this.scan(this.#texts(bytes), bytes.length)
  }

  #texts(bytes: Buffer): StreamText[] {
    const window = this.#window.length === 0 ? bytes : Buffer.concat([this.#window, bytes])
    if (this.#window_start === 0) this.#wide = wideCharset(window)
    const end = this.#window_start + window.length
    const start = Math.max(this.#window_start, end - WINDOW_BYTES)
    const kept_from = start - (start % UNIT_BYTES)
    // Copied, because a part of a chunk would keep all of it in memory.
    this.#window = Buffer.from(window.subarray(Math.max(0, kept_from - this.#window_start)))
    this.#window_start = end - this.#window.length
    const sources: Source[] = isBinary(window)
      ? binarySources(window, LOCATION)
      : [{ bytes: window, format: 'text', location: LOCATION }]
    if (this.#wide !== null)
      sources.push({ bytes: decodeWide(window, this.#wide), format: 'text', location: LOCATION })
    return [...sources.map((source) => ({ source, location: null })), ...this.#lines(bytes)]
  }

  /** Events and JSON lines, over which an attack may be split. */
  #lines(bytes: Buffer): StreamText[] {
    const joined = this.#line.length === 0 ? bytes : Buffer.concat([this.#line, bytes])
    const end = Math.max(joined.lastIndexOf(0x0a), joined.lastIndexOf(0x0d)) + 1
    const rest = joined.subarray(end)
    this.#line =
      rest.length > LARGEST_LINE_BYTES || isBinary(rest) ? Buffer.alloc(0) : Buffer.from(rest)
    const complete = joined.subarray(0, end)
    if (complete.length === 0 || isBinary(complete)) return []
    return complete
      .toString('utf8')
      .split(/[\r\n]+/)
      .flatMap((line) => {
        const data = /^data:(.*)$/s.exec(line)?.[1] ?? (/^\s*[[{]/.test(line) ? line : null)
        return data === null ? [] : this.findings.joined(data.trim())
      })
  }
}
