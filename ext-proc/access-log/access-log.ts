import { setTimeout as wait } from 'node:timers/promises'
import type { Reason } from '../../core/reasons.ts'
import type { AccessLogHandler } from '../envoy/start-server.ts'
import type { ActivityRecorder } from '../record/activity-recorder.ts'
import { lineOfCall } from './line-of-call.ts'
import { endOfCall } from './end-of-call.ts'
import { type FinishedCall, readAccessLog } from './read-access-log.ts'

interface AccessLogParts {
  readonly recorder: ActivityRecorder
  /** Whether this process only stands in for a receiver, to which Envoy is to go back. */
  readonly is_stand_in: boolean
  readonly log: { warn(data: object, message: string): void }
  readonly nowMs: () => number
}

/** Longer than envoy/bootstrap.yaml lets the access log wait for its batch: a receiver that ends waits so long. */
export const LAST_WORDS_MS = 250

const EMPTY = Buffer.alloc(0)
/** How long a stand-in keeps a stream before Envoy has to look for the receiver again. */
const STAND_IN_LIMIT_MS = 5_000
const STATUS_REASONS: Readonly<Record<number, Reason>> = {
  408: 'request_timeout',
  413: 'request_too_large',
  431: 'headers_too_large',
}

/**
 * Envoy's access log: every passed call, when it has ended, with what the processor noted at its pass. Whoever gets an
 * entry can write it, so one is written also where the process that passed the call is gone.
 */
export class AccessLog {
  readonly #parts: AccessLogParts
  readonly #open = new Set<() => void>()
  #isStopping = false

  constructor(parts: AccessLogParts) {
    this.#parts = parts
  }

  readonly handler: AccessLogHandler = (stream, answer) => {
    const end = (): void => {
      if (this.#open.delete(end)) answer(null, EMPTY)
    }
    this.#open.add(end)
    const { is_stand_in, nowMs } = this.#parts
    const leave_ms = is_stand_in ? nowMs() + STAND_IN_LIMIT_MS : Infinity
    stream.on('data', (bytes: Buffer) => {
      this.#receive(bytes)
      // Right after a batch: the next one is a tenth of a second away, and goes to a new stream.
      if (this.#isStopping || nowMs() >= leave_ms) end()
    })
    stream.on('end', end)
    stream.on('error', () => this.#open.delete(end))
    stream.on('cancelled', () => this.#open.delete(end))
  }

  get hasStreams(): boolean {
    return this.#open.size > 0
  }

  /** Ends each stream right after its next batch, or when none comes; Envoy opens its streams elsewhere. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.hasStreams) await wait(LAST_WORDS_MS)
    for (const end of this.#open) end()
  }

  #receive(bytes: Buffer): void {
    let calls: readonly FinishedCall[]
    try {
      calls = readAccessLog(bytes)
    } catch (error) {
      this.#parts.log.warn(
        { error: String(error) },
        'Envoy sent an access log that cannot be decoded',
      )
      return
    }
    for (const call of calls) this.#write(call)
  }

  #write(call: FinishedCall): void {
    const { recorder, nowMs } = this.#parts
    if (call.facts === '') {
      if (call.route_name !== 'admin' && call.status >= 400) this.#countRefusal(call)
      return
    }
    const entry = lineOfCall(call, endOfCall(call), nowMs())
    if (entry !== null) recorder.finished(entry.organization_id, entry.line)
  }

  /** What Envoy has refused by itself, before any organization was known. */
  #countRefusal({ status, details }: FinishedCall): void {
    const reason = STATUS_REASONS[status] ?? (status >= 500 ? 'gateway_unavailable' : 'bad_request')
    void this.#parts.recorder.refusedUnknown(reason, { status, details: details.slice(0, 200) })
  }
}
