import type { EnvoyStream } from '../envoy/start-server.ts'
import type { UnwatchedCalls } from './unwatched-calls.ts'

/** So many checks in a row fail before an Envoy is said not to keep streams: a caller may disconnect during a check. */
const FAILURES_MAX = 3
/** So many calls of a connection that is not known yet are checked at a time, since their responses cost more. */
const CHECKS_MAX = 8
/** How often it is checked again. Each check sends one response through this process. */
const CHECK_INTERVAL_MS = 10_000
/** How often a call is let through to check again an Envoy that does not keep streams and is refused for it. */
const REFUSED_CHECK_INTERVAL_MS = 60_000
/** How often it is reported that an Envoy does not keep streams. */
const REPORT_INTERVAL_MS = 60_000

export interface StreamWatchParts {
  readonly unwatched: UnwatchedCalls
  /** Refuse calls from an Envoy that does not keep streams. */
  readonly must_keep: boolean
  /** Monotonic. */
  readonly nowMs: () => number
  /** Called when an Envoy does not keep streams, at most once a minute each. */
  readonly report: () => void
}

/** The answer to whether a call may be forwarded. Null: this one shows nothing. */
export type WatchVerdict = CallWatch | 'refuse' | null

/**
 * Whether the Envoy on one connection keeps the streams of allowed calls open until their responses have ended. Only then can
 * a kill cut them (threat model, rule 35). An Envoy may close them right after the decision, and nothing in its messages says so.
 * It is therefore checked from its behaviour: it closes a stream that it does not keep as it reads an answer, and one that it keeps
 * sends the body of the response in a check.
 */
export class StreamWatch {
  readonly #parts: StreamWatchParts
  #keeps: 'unknown' | 'yes' | 'no' = 'unknown'
  #failures = 0
  /** In progress. */
  #checks = 0
  #checked_ms = Number.NEGATIVE_INFINITY
  #reported_ms = Number.NEGATIVE_INFINITY

  constructor(parts: StreamWatchParts) {
    this.#parts = parts
  }

  /** Call this before a call is forwarded. */
  begin({ organization_id, agent_id }: Who): WatchVerdict {
    const { must_keep, nowMs } = this.#parts
    const now_ms = nowMs()
    const isRefused = this.#keeps === 'no' && must_keep
    const interval_ms = isRefused ? REFUSED_CHECK_INTERVAL_MS : CHECK_INTERVAL_MS
    const isDue = now_ms - this.#checked_ms >= interval_ms
    if (isRefused && !isDue) {
      this.#report()
      return 'refuse'
    }
    // The response of an ordinary call is not followed to its end, so its stream would say nothing.
    if (!isDue && this.#keeps === 'yes') return null
    const isCheck = isDue || this.#checks < CHECKS_MAX
    if (isCheck) this.#checks++
    this.#checked_ms = now_ms
    return new CallWatch(this, { organization_id, agent_id }, isCheck)
  }

  /** Of a check; the connection may have been lost before it showed anything. */
  checked(): void {
    this.#checks--
  }

  /** A message has arrived that only an Envoy that keeps streams sends. */
  prove(): void {
    if (this.#keeps === 'unknown') this.#parts.unwatched.forget(this)
    this.#keeps = 'yes'
    this.#failures = 0
  }

  /** A stream was closed at a moment when its response may still have been running. */
  endedEarly({ organization_id, agent_id }: Who, isFailure: boolean): void {
    if (this.#keeps === 'yes' && !isFailure) return
    this.#parts.unwatched.add(organization_id, agent_id, this)
    if (isFailure) this.#failures++
    if (this.#keeps === 'yes') this.#keeps = 'unknown'
    if (this.#failures >= FAILURES_MAX) this.#keeps = 'no'
    if (this.#keeps === 'no') this.#report()
  }

  #report(): void {
    const now_ms = this.#parts.nowMs()
    if (now_ms - this.#reported_ms < REPORT_INTERVAL_MS) return
    this.#reported_ms = now_ms
    this.#parts.report()
  }
}

interface Who {
  readonly organization_id: string
  readonly agent_id: string
}

/** What one allowed call shows about its Envoy. */
export class CallWatch {
  readonly #watch: StreamWatch
  readonly #who: Who
  readonly isCheck: boolean
  /** Of the answer that Envoy reads now or has read last. */
  #answer = 0
  /** Envoy has read it, and the stream was still open then. */
  #isKept = false
  #hasHeaders = false
  #isBodyDue = false
  #hasEnded = false

  /** @param isCheck its response is sent here with the body */
  constructor(watch: StreamWatch, who: Who, isCheck: boolean) {
    this.#watch = watch
    this.#who = who
    this.isCheck = isCheck
  }

  headers(end_of_stream: boolean): void {
    this.#hasHeaders = true
    if (end_of_stream) this.#hasEnded = true
  }

  /** The pass, or the answer to the headers, was written; `isBodyDue`: Envoy was asked to send the body. */
  answered(stream: Pick<EnvoyStream, 'whenRead'>, isBodyDue: boolean): void {
    const answer = ++this.#answer
    this.#isKept = false
    this.#isBodyDue = isBodyDue
    stream.whenRead(() => {
      if (answer === this.#answer) this.#isKept = true
    })
  }

  /** Part of the body, or the trailers. */
  rest(end_of_stream: boolean): void {
    this.#watch.prove()
    this.#isBodyDue = false
    this.#hasEnded ||= end_of_stream
    this.#isKept = true
  }

  /**
   * `left`: by Envoy · `cut`: by this gateway, so that it shows nothing of Envoy · `lost`: with its connection or its response was
   * refused, after which Envoy ends the call.
   */
  ended(how: 'left' | 'cut' | 'lost'): void {
    if (this.isCheck) this.#watch.checked()
    if (this.#hasEnded || this.#isKept || how === 'lost') return
    const isFailure = how === 'left' && (!this.#hasHeaders || this.#isBodyDue)
    this.#watch.endedEarly(this.#who, isFailure)
  }
}
