import type { EnvoyStream } from '../envoy/start-server.ts'
import type { CallRecord } from '../record/call-record.ts'
import { type CallOutcome, decisionSpans, endSpan } from './call-spans.ts'
import { readEnvoySpans } from './read-envoy-spans.ts'
import { readTraceParent } from './read-trace-parent.ts'
import type { Span } from './span.ts'
import type { SpanExporter } from './span-exporter.ts'

/**
 * Calls that one process traces in a second: some 1,000 spans. Elsewhere than here, callers may decide what is sampled, and they must not
 * decide how much work that is.
 */
const CALLS_PER_SECOND_MAX = 100
/** Envoy reports the span of a stream a second time when its end is confirmed. */
const REPORTED_MAX = 4_096
/** Beyond it, the clock of the day was set. */
const CLOCK_STEP_MS = 2
const CLOCK_DRIFT_MS = 0.001

interface CallTracesParts {
  readonly exporter: Pick<SpanExporter, 'add' | 'drop' | 'metrics' | 'stop'>
  readonly edge_id: string
  /** Monotonic, with fractions: the clock of the record of a call. */
  readonly clockMs: () => number
  /** The time of day. */
  readonly wallMs: () => number
}

/** Makes spans of calls that Envoy traces, and passes on those of Envoy. */
export class CallTraces {
  readonly #parts: CallTracesParts
  readonly #reported = new Set<string>()
  /** Between the clocks. */
  #offset_ms = Number.NEGATIVE_INFINITY
  #second = 0
  #calls = 0

  constructor(parts: CallTracesParts) {
    this.#parts = parts
  }

  /**
   * A call is decided, or its response is refused or cut.
   * @param passed_ms when the call was passed, by the monotonic clock; null if this is its decision
   */
  decided(
    stream: Pick<EnvoyStream, 'traceparent'>,
    record: CallRecord,
    outcome: CallOutcome,
    passed_ms: number | null,
  ): void {
    const parent = readTraceParent(stream.traceparent)
    if (parent === null) return
    const { exporter, edge_id, clockMs, wallMs } = this.#parts
    const now_ms = clockMs()
    if (this.#isTooMuch(now_ms)) return exporter.drop(1)
    // The time of day comes in whole milliseconds, so the largest difference is the most exact one.
    const offset_ms = wallMs() - now_ms
    this.#offset_ms =
      Math.abs(this.#offset_ms - offset_ms) > CLOCK_STEP_MS
        ? offset_ms
        : Math.max(offset_ms, this.#offset_ms - CLOCK_DRIFT_MS)
    const started_ms = this.#offset_ms + (passed_ms ?? record.started_ms)
    const ended_ms = this.#offset_ms + now_ms
    const { facts, steps } = record
    const parts = { facts, edge_id, outcome, started_ms, ended_ms }
    exporter.add(
      passed_ms === null ? decisionSpans(parent, { ...parts, steps }) : [endSpan(parent, parts)],
    )
  }

  /**
   * @param request an `ExportTraceServiceRequest` of Envoy
   * @throws when it is malformed
   */
  readonly passOn = (request: Buffer): void => {
    const spans = readEnvoySpans(request).filter((span) => this.#isNew(span))
    if (spans.length > 0) this.#parts.exporter.add(spans)
  }

  get metrics(): SpanExporter['metrics'] {
    return this.#parts.exporter.metrics
  }

  async stop(): Promise<void> {
    await this.#parts.exporter.stop()
  }

  #isTooMuch(now_ms: number): boolean {
    const second = Math.floor(now_ms / 1000)
    if (second !== this.#second) this.#calls = 0
    this.#second = second
    return ++this.#calls > CALLS_PER_SECOND_MAX
  }

  #isNew({ spanId }: Span): boolean {
    if (this.#reported.has(spanId)) return false
    this.#reported.add(spanId)
    if (this.#reported.size > REPORTED_MAX)
      for (const oldest of this.#reported) {
        this.#reported.delete(oldest)
        break
      }
    return true
  }
}
