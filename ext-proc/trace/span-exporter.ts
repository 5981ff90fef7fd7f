import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { EgressProxy } from '../../core/egress/egress-proxy.ts'
import type { EdgeNumber } from '../../core/metrics/metric-catalogue.ts'
import {
  ExportFailures,
  type ExportFailuresParts,
  type ExportKind,
} from '../../core/otlp/export-failures.ts'
import { otlpReceiver } from '../../core/otlp/otlp-receiver.ts'
import { otlpResource } from '../../core/otlp/otlp-resource.ts'
import { type OtlpReceiver, sendOtlp } from '../../core/otlp/send-otlp.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Span } from './span.ts'

/** Spans that wait, some 4 MB; beyond, the oldest are dropped and counted. */
const QUEUE_MAX = 8_192
/** Of one request. Building it takes about a millisecond. */
const BATCH_MAX = 256
const SEND_LIMIT_MS = 10_000
const PAUSE_MS = 1_000
/** What waits when the process stops is sent within this time, or dropped. */
const STOP_LIMIT_MS = 1_000

const TRACES: ExportKind = {
  cause: {
    kind: 'trace_export_failing',
    severity: 'medium',
    about: 'trace_export',
    title: 'Spans of traces cannot be exported.',
  },
  problem_key: REDIS_KEYS.traceExportProblem,
  failed: 'spans could not be exported; further failures for the same reason are not logged',
  works_again: 'spans are exported again',
  is_logged_once: true,
}
const SPANS = 'spans'

export interface SpanExporterParts extends Omit<ExportFailuresParts, 'pause_ms'> {
  /** Of the receiver: the address of an OTLP/HTTP endpoint for traces. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly proxy: EgressProxy | null
  /** The name of this deployment; empty while it is not known. */
  readonly installation: () => string
  /** For tests, in place of the usual times. */
  readonly pause_ms?: number
  readonly send_limit_ms?: number
  readonly stop_limit_ms?: number
}

/** Sends spans to an OTLP/HTTP receiver, in batches. Nobody waits for it, and what it cannot send it drops. */
export class SpanExporter {
  readonly #parts: SpanExporterParts
  readonly #pause_ms: number
  readonly #failures: ExportFailures
  readonly #receiver: OtlpReceiver
  /** Ends a pause. */
  readonly #stopping = new AbortController()
  /** Ends a request. */
  readonly #stopped = new AbortController()
  #queue: Span[] = []
  #running: Promise<void> | null = null
  #exported = 0
  #dropped = 0

  constructor(parts: SpanExporterParts) {
    const { url, headers, proxy, pause_ms = PAUSE_MS, send_limit_ms = SEND_LIMIT_MS } = parts
    this.#parts = parts
    this.#pause_ms = pause_ms
    this.#failures = new ExportFailures(TRACES, { ...parts, pause_ms })
    this.#receiver = otlpReceiver(url, headers, send_limit_ms, this.#stopped.signal, proxy)
  }

  get metrics() {
    return {
      agw_trace_spans_exported_total: this.#exported,
      agw_trace_spans_dropped_total: this.#dropped,
    } satisfies Partial<Record<EdgeNumber, number>>
  }

  add(spans: readonly Span[]): void {
    if (this.#stopping.signal.aborted) return this.drop(spans.length)
    this.#queue.push(...spans)
    this.#trim()
    this.#running ??= this.#run()
  }

  /** Counts spans that are not sent. */
  drop(count: number): void {
    this.#dropped += count
  }

  async stop(): Promise<void> {
    const { stop_limit_ms = STOP_LIMIT_MS } = this.#parts
    this.#stopping.abort()
    const { signal } = this.#stopped
    const limit = setTimeout(() => this.#stopped.abort(), stop_limit_ms)
    await Promise.race([this.#running, once(signal, 'abort')])
    clearTimeout(limit)
    this.#stopped.abort()
    this.drop(this.#queue.splice(0).length)
    await this.#receiver.client.destroy().catch(() => undefined)
  }

  #trim(): void {
    const over = this.#queue.length - QUEUE_MAX
    // Some more, so that the others are not moved for every call.
    if (over > 0) this.drop(this.#queue.splice(0, over + BATCH_MAX).length)
  }

  /** Runs while there is something to send, so that an idle process is not woken. */
  async #run(): Promise<void> {
    let pause_ms = this.#pause_ms
    while (this.#queue.length > 0) {
      // Spans of calls that come together are sent together.
      await wait(pause_ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      const failed_ms = await this.#sendAll()
      if (failed_ms !== null && this.#stopping.signal.aborted) return
      pause_ms = failed_ms ?? this.#pause_ms
    }
    this.#running = null
  }

  /** Returns how long to wait after a failure, in ms; null when all is sent. */
  async #sendAll(): Promise<number | null> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX)
      const outcome = await sendOtlp(this.#receiver, this.#bodyOf(batch))
      if (outcome.kind === 'accepted') {
        const rejected = Math.min(outcome.rejected, batch.length)
        this.#exported += batch.length - rejected
        this.drop(rejected)
        await this.#failures.worked(SPANS)
        continue
      }
      const { kind, problem } = outcome
      // What a receiver refuses as a whole it would refuse again.
      if (kind === 'refused') this.drop(batch.length)
      else this.#queue.unshift(...batch)
      this.#trim()
      return await this.#failures.failed(
        SPANS,
        problem,
        kind === 'failed' ? outcome.retry_after_ms : 0,
      )
    }
    return null
  }

  #bodyOf(spans: readonly Span[]): string {
    const { resource, scope } = otlpResource(this.#parts.installation(), {})
    return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] })
  }
}
