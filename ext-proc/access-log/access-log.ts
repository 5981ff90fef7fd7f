import { setTimeout as wait } from 'node:timers/promises'
import type { Reason } from '../../core/catalogue/reasons.ts'
import type { AccessLogHandler } from '../envoy/start-server.ts'
import type { ActivityRecorder } from '../record/activity-recorder.ts'
import type { EdgeMetrics } from '../record/edge-metrics.ts'
import { lineOfCall } from './line-of-call.ts'
import { endOfCall } from './end-of-call.ts'
import { type FinishedCall, readAccessLog } from './read-access-log.ts'

interface AccessLogParts {
  readonly recorder: ActivityRecorder
  readonly metrics: Pick<EdgeMetrics, 'answered' | 'refusedByEnvoy'>
  /** Whether this is the pass of a probe of the gateway itself, which is not counted. */
  readonly isProbe: (pass: string) => Promise<boolean>
  /** Whether this process is only the fallback for a receiver, to which Envoy should return. */
  readonly is_stand_in: boolean
  readonly log: { warn(data: object, message: string): void }
  readonly nowMs: () => number
}

/** Several times the batching interval in envoy/bootstrap.yaml: a stream without data for this long has nothing in transit. */
export const LAST_WORDS_MS = 250

const EMPTY = Buffer.alloc(0)
/** How long a fallback keeps a stream before Envoy must try the receiver again. */
const STAND_IN_LIMIT_MS = 5_000
/** The next batch is due a tenth of a second after this one, so one whose newest call has just ended is the last sent. */
const FRESH_MS = 50
/** If Envoy sends continuously and this process reads each batch too late, the stream is ended anyway. */
const FORCE_MS = 2_000
const LOOK_INTERVAL_MS = 50
/** In the facts; a caller's text before it cannot look like this, because its quotes are escaped. */
const INTEGRATION = /"integration_id":"([\w.-]{1,128})"/
const STATUS_REASONS: Readonly<Record<number, Reason>> = {
  408: 'request_timeout',
  413: 'request_too_large',
  431: 'headers_too_large',
}

interface HeldStream {
  /** When Envoy should connect to another receiver. */
  readonly leave_ms: number
  /** Of the last batch, or of the opening. */
  last_ms: number
  /** Ends the response once. Envoy then resets the stream; what it has sent before is still received. */
  readonly end: () => void
}

/**
 * Envoy's access log: every allowed call, when it has ended, with the facts that the processor attached. Any process that
 * receives it can write the entry, so it is written even if the process that allowed the call has died.
 */
export class AccessLog {
  readonly #parts: AccessLogParts
  readonly #open = new Set<HeldStream>()
  #stop_ms = Infinity
  /** When a stream was last opened or closed. */
  #changed_ms = 0
  /** Runs only while a stream may have to be ended: a receiver that serves is not woken by it. */
  #timer: NodeJS.Timeout | null = null

  constructor(parts: AccessLogParts) {
    this.#parts = parts
  }

  readonly handler: AccessLogHandler = (stream, answer) => {
    const { is_stand_in, nowMs } = this.#parts
    let hasEnded = false
    const held: HeldStream = {
      leave_ms: is_stand_in ? nowMs() + STAND_IN_LIMIT_MS : Infinity,
      last_ms: nowMs(),
      end: () => {
        if (!hasEnded) answer(null, EMPTY)
        hasEnded = true
      },
    }
    this.#open.add(held)
    this.#changed_ms = nowMs()
    if (is_stand_in || this.#stop_ms < Infinity) this.#watch()
    stream.on('data', (bytes: Buffer) => {
      const newest_ms = this.#receive(bytes)
      held.last_ms = nowMs()
      // Data that Envoy still holds for lack of a window is lost with the stream, so its backlog is read first.
      if (nowMs() >= this.#leaveMs(held) && nowMs() - newest_ms < FRESH_MS) held.end()
    })
    stream.on('end', held.end)
    for (const over of ['end', 'error', 'cancelled'])
      stream.on(over, () => {
        this.#open.delete(held)
        this.#changed_ms = nowMs()
      })
  }

  get hasStreams(): boolean {
    return this.#open.size > 0
  }

  /**
   * Ends each stream, and waits until Envoy has closed it and has opened no other for `quiet_ms`, while any Envoy is connected. What
   * arrives on the others is received too.
   */
  async stop(quiet_ms = 0, isConnected = (): boolean => false): Promise<void> {
    const { nowMs } = this.#parts
    this.#stop_ms = nowMs()
    this.#changed_ms = nowMs()
    this.#watch()
    const limit_ms = nowMs() + FORCE_MS + LAST_WORDS_MS + quiet_ms
    const isQuiet = (): boolean => !isConnected() || nowMs() - this.#changed_ms >= quiet_ms
    while ((this.hasStreams || !isQuiet()) && nowMs() < limit_ms) await wait(LOOK_INTERVAL_MS)
    for (const { end } of this.#open) end()
  }

  #leaveMs({ leave_ms }: HeldStream): number {
    return Math.min(leave_ms, this.#stop_ms)
  }

  #watch(): void {
    this.#timer ??= setInterval(() => this.#endSilent(), LOOK_INTERVAL_MS).unref()
  }

  #endSilent(): void {
    if (!this.hasStreams && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    const now_ms = this.#parts.nowMs()
    for (const held of this.#open) {
      const leave_ms = this.#leaveMs(held)
      const silent_ms = now_ms - Math.max(held.last_ms, leave_ms)
      if (silent_ms >= LAST_WORDS_MS || now_ms - leave_ms >= FORCE_MS) held.end()
    }
  }

  /** Returns when the newest call of the batch has ended. */
  #receive(bytes: Buffer): number {
    let calls: readonly FinishedCall[]
    try {
      calls = readAccessLog(bytes)
    } catch (error) {
      this.#parts.log.warn(
        { error: String(error) },
        'Envoy sent an access log that cannot be decoded',
      )
      return 0
    }
    let newest_ms = 0
    for (const call of calls) {
      this.#write(call)
      newest_ms = Math.max(newest_ms, call.start_ms + call.duration_ms)
    }
    this.#parts.recorder.settle()
    return newest_ms
  }

  #write(call: FinishedCall): void {
    const { recorder, metrics, nowMs } = this.#parts
    if (call.facts === '') {
      if (call.route_name !== 'admin' && call.status >= 400) this.#countUnlessProbe(call)
      return
    }
    const end = endOfCall(call)
    const entry = lineOfCall(call, end, nowMs())
    if (entry === null) return
    recorder.finished(entry.organization_id, entry.line)
    const [, integration_id = 'none'] = INTEGRATION.exec(call.facts) ?? []
    const { outcome } = end
    const isAnswered = outcome === 'answered' && call.status >= 100
    metrics.answered(integration_id, isAnswered ? `${Math.floor(call.status / 100)}xx` : outcome)
  }

  #countUnlessProbe(call: FinishedCall): void {
    if (call.probe_pass === '') this.#countRefusal(call)
    else
      void this.#parts.isProbe(call.probe_pass).then((isProbe) => {
        if (!isProbe) this.#countRefusal(call)
      })
  }

  /** Calls that Envoy refused itself, before the organization was known. */
  #countRefusal({ status, details }: FinishedCall): void {
    const reason = STATUS_REASONS[status] ?? (status >= 500 ? 'gateway_unavailable' : 'bad_request')
    this.#parts.metrics.refusedByEnvoy(reason)
    void this.#parts.recorder.refusedUnknown(reason, { status, details: details.slice(0, 200) })
  }
}
