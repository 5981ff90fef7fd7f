import type { InjectionMode } from '../model.ts'
import { decideInjection, type InjectionDecision } from './decide-injection.ts'
import type { Finding } from './finding.ts'
import { isBinary } from './format/readable-runs.ts'
import type { Source } from './format/source.ts'
import { binarySources } from './format/take-apart.ts'
import { eventData } from './stream/event-texts.ts'
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

const textsOf = (findings: StreamFindings, event: Buffer): StreamText[] => {
  const text = event.toString('utf8')
  const data = eventData(text)
  const isJson = data !== null && /^\s*[[{"]/.test(data)
  const bytes = data === null ? event : Buffer.from(data)
  const asItIs: Source = { bytes: event, format: 'text', location: LOCATION }
  const sources: Source[] = [{ bytes, format: isJson ? 'json' : 'text', location: LOCATION }]
  if (data !== null && text.length > data.length + 16) sources.push(asItIs)
  if (isBinary(event)) sources.push(...binarySources(event, LOCATION))
  return [
    ...sources.map((source) => ({ source, location: null })),
    ...findings.joined(data ?? text),
  ]
}

/** The offset behind the first blank line at or after `from`, or -1. */
const eventEnd = (bytes: Buffer, from: number): number => {
  for (let i = from; i < bytes.length; i += 1) {
    const byte = bytes[i]
    if (byte !== 0x0a && byte !== 0x0d) continue
    let next = i + 1
    if (byte === 0x0d && bytes[next] === 0x0a) next += 1
    if (bytes[next] === 0x0a) return next + 1
    if (bytes[next] === 0x0d) return next + (bytes[next + 1] === 0x0a ? 2 : 1)
    i = next - 1
  }
  return -1
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
  #held: Buffer = Buffer.alloc(0)
  /** Up to here no event ends, so that an event in many pieces is not searched anew with each. */
  #searched = 0
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
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    await this.#takeEvents(end)
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
    const texts = textsOf(this.#findings, event)
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

  async #takeEvents(end: boolean): Promise<void> {
    let start = 0
    for (;;) {
      const next = eventEnd(this.#held, this.#searched)
      if (next < 0) break
      if (!(await this.#take(this.#held.subarray(start, next)))) return
      start = next
      this.#searched = next
    }
    this.#held = this.#held.subarray(start)
    // The end of an event, four bytes at most, may have begun.
    this.#searched = Math.max(0, this.#held.length - 3)
    if (this.#held.length === 0 || (!end && this.#held.length <= LARGEST_EVENT_BYTES)) return
    if (!(await this.#take(this.#held))) return
    this.#held = Buffer.alloc(0)
    this.#searched = 0
  }
}
