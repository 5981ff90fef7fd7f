import type { Actions } from './decide-injection.ts'
import { isBinary } from './format/readable-runs.ts'
import type { Source } from './format/source.ts'
import { EventSplitter, readEvent } from '../request/event-stream.ts'
import { binarySources } from './format/take-apart.ts'
import { PassingScan, type StreamScanner, type TextScan } from './stream/passing-scan.ts'
import type { StreamFindings, StreamText } from './stream/stream-findings.ts'

/** A longer event is scanned and forwarded in parts. */
const LARGEST_EVENT_BYTES = 262_144

const LOCATION = 'response.body'

/** @param isFirst of the stream */
const textsOf = (findings: StreamFindings, event: Buffer, isFirst: boolean): StreamText[] => {
  const { data, unmarked } = readEvent(event, 'utf8', isFirst)
  const readings = [data, unmarked].filter((reading) => reading !== null)
  const asItIs: Source = { bytes: event, format: 'text', location: LOCATION }
  const sources: Source[] = readings.map((reading) => ({
    bytes: Buffer.from(reading),
    format: /^\s*[[{"]/.test(reading) ? 'json' : 'text',
    location: LOCATION,
  }))
  const isMostlyData = sources.some(({ bytes }) => event.length <= bytes.length + 16)
  if (!isMostlyData) sources.push(asItIs)
  if (isBinary(event)) sources.push(...binarySources(event, LOCATION))
  const joined =
    readings.length === 0
      ? findings.joined(event.toString('utf8'))
      : // The second reading has places of its own.
        readings.flatMap((reading, place) => findings.joined(reading, '~'.repeat(place)))
  return [...sources.map((source) => ({ source, location: null })), ...joined]
}

/**
 * Scans an event stream while it passes. An event is forwarded once it is complete and clean; one that completes an attack,
 * alone or together with earlier events, is not, nor is anything after it. Compressed streams are inflated for the scan and
 * forwarded chunk by chunk.
 */
export const openStreamScanner = (
  actions: Actions,
  scanTexts: TextScan,
  content_encoding: string | null,
): StreamScanner => new EventScan(actions, scanTexts, content_encoding)

class EventScan extends PassingScan {
  readonly #splitter = new EventSplitter()
  #isFirst = true

  protected async take(bytes: Buffer, end: boolean): Promise<void> {
    for (const event of this.#splitter.push(bytes)) if (!(await this.#takeEvent(event))) return
    const { held_bytes } = this.#splitter
    if (held_bytes > 0 && (end || held_bytes > LARGEST_EVENT_BYTES))
      await this.#takeEvent(this.#splitter.take())
  }

  async #takeEvent(event: Buffer): Promise<boolean> {
    const isFirst = this.#isFirst
    this.#isFirst = false
    return this.scan(textsOf(this.findings, event, isFirst), event.length)
  }
}
