import type { InjectionMode } from '../model.ts'
import { decideInjection, type InjectionDecision } from './decide-injection.ts'
import type { Finding } from './finding.ts'
import { isBinary } from './format/readable-runs.ts'
import type { Source } from './format/source.ts'
import { EventSplitter, readEvent } from '../http-message/event-stream.ts'
import { binarySources } from './format/take-apart.ts'
import { StreamFindings, type StreamText } from './stream/stream-findings.ts'
import { openStreamInflater } from './stream/stream-inflater.ts'

/** An event that is longer is scanned and let go in parts. */
const LARGEST_EVENT_BYTES = 262_144
export type StreamVerdict = {
  /** Bytes of the stream, from its beginning, that may go to the caller. Never less than before. */
  readonly clean_until_bytes: number
  /** What was found in this push and not reported before. */
  readonly findings: readonly Finding[]
  readonly decision: InjectionDecision
  /** The stream ends at `clean_until_bytes`: blocked, or it cannot be read. */
  readonly cut: null | 'blocked' | 'unsupported_encoding' | 'too_large' | 'busy'
}

export type StreamScanner = {
  /** Takes the next chunk; `end` with the last one. Calls must follow one another. */
  push(chunk: Buffer, end: boolean): Promise<StreamVerdict>
  close(): void
}

/** Of each text what was found in it; null where nobody has time for it. */
export type TextScan = (
  texts: readonly Source[],
) => readonly (readonly Finding[])[] | null | Promise<readonly (readonly Finding[])[] | null>

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
 * Scans a stream of events as it passes. An event goes on once it is complete and clean; one that
 * completes an attack, in itself or together with those before, is held back with all that follows.
 * Compressed streams are inflated to be read and let go chunk by chunk.
 */
export const openStreamScanner = (
  mode: InjectionMode,
  scanTexts: TextScan,
  content_encoding: string | null,
): StreamScanner => new EventScan(mode, scanTexts, openStreamInflater(content_encoding))

class EventScan implements StreamScanner {
  readonly #mode: InjectionMode
  readonly #scanTexts: TextScan
  readonly #inflater: ReturnType<typeof openStreamInflater>
  readonly #isPlain: boolean
  readonly #findings = new StreamFindings()
  readonly #splitter = new EventSplitter()
  #isFirst = true
  #clean = 0
  #received = 0
  #cut: StreamVerdict['cut']

  constructor(
    mode: InjectionMode,
    scanTexts: TextScan,
    inflater: ReturnType<typeof openStreamInflater>,
  ) {
    this.#mode = mode
    this.#scanTexts = scanTexts
    this.#inflater = inflater
    this.#isPlain = inflater === 'identity'
    this.#cut = inflater === null ? 'unsupported_encoding' : null
  }

  async push(chunk: Buffer, end: boolean): Promise<StreamVerdict> {
    if (this.#cut !== null) return this.#answer()
    this.#received += chunk.length
    const inflater = this.#inflater
    const bytes =
      inflater === 'identity' || inflater === null ? chunk : await inflater.inflate(chunk)
    if (typeof bytes === 'string') {
      this.#cut = bytes === 'too_large' ? 'too_large' : 'unsupported_encoding'
      return this.#answer()
    }
    await this.#takeEvents(bytes, end)
    if (!this.#isCut() && !this.#isPlain) this.#clean = this.#received
    return this.#answer()
  }

  close(): void {
    if (this.#inflater !== null && this.#inflater !== 'identity') this.#inflater.close()
  }

  #isCut(): boolean {
    return this.#cut !== null
  }

  #answer(): StreamVerdict {
    const findings = this.#findings.take()
    return {
      clean_until_bytes: this.#clean,
      findings,
      decision: decideInjection(findings, this.#mode),
      cut: this.#cut,
    }
  }

  async #take(event: Buffer): Promise<boolean> {
    const texts = textsOf(this.#findings, event, this.#isFirst)
    this.#isFirst = false
    const scanning = this.#scanTexts(texts.map(({ source }) => source))
    const found = scanning instanceof Promise ? await scanning : scanning
    if (found === null) {
      this.#cut = 'busy'
      return false
    }
    for (const [index, { location }] of texts.entries())
      this.#findings.report(found[index] ?? [], location)
    if (decideInjection(this.#findings.fresh, this.#mode).outcome === 'blocked') {
      this.#cut = 'blocked'
      return false
    }
    if (this.#isPlain) this.#clean += event.length
    return true
  }

  async #takeEvents(bytes: Buffer, end: boolean): Promise<void> {
    for (const event of this.#splitter.push(bytes)) if (!(await this.#take(event))) return
    const { held_bytes } = this.#splitter
    if (held_bytes > 0 && (end || held_bytes > LARGEST_EVENT_BYTES))
      await this.#take(this.#splitter.take())
  }
}
