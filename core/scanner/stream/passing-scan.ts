import { type Actions, decideInjection, type InjectionDecision } from '../decide-injection.ts'
import type { Finding } from '../finding.ts'
import type { Source } from '../format/source.ts'
import { StreamFindings, type StreamText } from './stream-findings.ts'
import { openStreamInflater } from './stream-inflater.ts'

export type StreamVerdict = {
  /** How many bytes from the beginning of the stream may be forwarded. Never decreases. */
  readonly clean_until_bytes: number
  /** How many bytes were scanned, inflated. */
  readonly scanned_bytes: number
  /** New findings in this chunk. */
  readonly findings: readonly Finding[]
  readonly decision: InjectionDecision
  /** The stream ends at `clean_until_bytes`: blocked, or it cannot be read. */
  readonly cut: null | 'blocked' | 'unsupported_encoding' | 'too_large' | 'busy'
}

export type StreamScanner = {
  /** Accepts the next chunk; `end` with the last one. Calls must not overlap. */
  push(chunk: Buffer, end: boolean): Promise<StreamVerdict>
  close(): void
}

/** The findings of each text; null if the scan processes are busy. */
export type TextScan = (
  texts: readonly Source[],
) => readonly (readonly Finding[])[] | null | Promise<readonly (readonly Finding[])[] | null>

/** A body that is scanned while it is forwarded. `take` interprets its bytes. */
export abstract class PassingScan implements StreamScanner {
  protected readonly findings = new StreamFindings()
  readonly #actions: Actions
  readonly #scanTexts: TextScan
  readonly #inflater: ReturnType<typeof openStreamInflater>
  #received = 0
  #clean = 0
  #scanned = 0
  #cut: StreamVerdict['cut']

  constructor(actions: Actions, scanTexts: TextScan, content_encoding: string | null) {
    this.#actions = actions
    this.#scanTexts = scanTexts
    this.#inflater = openStreamInflater(content_encoding)
    this.#cut = this.#inflater === null ? 'unsupported_encoding' : null
  }

  /** Scans inflated bytes by `scan`; `end` with the last ones. */
  protected abstract take(bytes: Buffer, end: boolean): Promise<void>

  async push(chunk: Buffer, end: boolean): Promise<StreamVerdict> {
    if (this.#cut === null) this.#cut = await this.#takeChunk(chunk, end)
    return this.verdict()
  }

  protected verdict(): StreamVerdict {
    const findings = this.findings.take()
    return {
      clean_until_bytes: this.#clean,
      scanned_bytes: this.#scanned,
      findings,
      decision: decideInjection(findings, this.#actions),
      cut: this.#cut,
    }
  }

  close(): void {
    if (this.#inflater !== null && this.#inflater !== 'identity') this.#inflater.close()
  }

  async #takeChunk(chunk: Buffer, end: boolean): Promise<StreamVerdict['cut']> {
    this.#received += chunk.length
    const inflater = this.#inflater
    const isPlain = inflater === 'identity' || inflater === null
    const bytes = isPlain ? chunk : await inflater.inflate(chunk)
    if (bytes === 'too_large') return 'too_large'
    if (bytes === 'unsupported') return 'unsupported_encoding'
    await this.take(bytes, end)
    this.#scanned += bytes.length
    // Inflated events cannot be mapped to compressed bytes, so a chunk is forwarded as a whole.
    if (this.#cut === null && !isPlain) this.#clean = this.#received
    return this.#cut
  }

  /**
   * Scans texts; without a blocking finding, this many bytes of an uncompressed body may be forwarded. @returns false if the
   * stream ends here
   */
  protected async scan(texts: readonly StreamText[], clean_bytes: number): Promise<boolean> {
    const scanning = this.#scanTexts(texts.map(({ source }) => source))
    const found = scanning instanceof Promise ? await scanning : scanning
    if (found === null) {
      this.#cut = 'busy'
      return false
    }
    for (const [index, { location }] of texts.entries())
      this.findings.report(found[index] ?? [], location)
    if (decideInjection(this.findings.fresh, this.#actions).outcome === 'blocked') {
      this.#cut = 'blocked'
      return false
    }
    if (this.#inflater === 'identity') this.#clean += clean_bytes
    return true
  }
}
