import { mintActivityId } from '../../core/activity/activity-id.ts'
import type { ActivityEntry, StepMark } from '../../core/activity/activity-entry.ts'
import { eventOfReason } from '../../core/activity/event-of-reason.ts'
import type { EventName } from '../../core/catalogue/events.ts'
import { isDelivered } from '../../core/change/delivery-tag.ts'
import type { McpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import type { ErrorShape } from '../../core/error-format/write-format.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import type { StepName } from '../verdict/step.ts'
import { mergeFindings } from './merge-findings.ts'
import type { CallFacts, PassedCall } from './passed-call.ts'

let lastTime_ms = Number.NaN
let lastTime = ''

/** The text of the last time is kept: at thousands of calls a second many begin in the same millisecond. */
function isoTime(ms: number): string {
  if (ms !== lastTime_ms) {
    lastTime = new Date(ms).toISOString()
    lastTime_ms = ms
  }
  return lastTime
}

/** Gathers what becomes one activity entry. `clockMs` is monotonic with fractions, `wallMs` the time of day. */
export class CallRecord {
  readonly facts: CallFacts
  /** Null for a call that is not MCP. */
  readonly mcp: McpHeaders | null
  /** JSON text of the id of the message that an answer of ours would answer, once the body was read. */
  json_rpc_id: string | null = null
  /** How a refusal is written for the SDKs of the API; null for the error body of the gateway. */
  error_shape: ErrorShape | null = null
  /** What the caller gave as the secret of a probe. */
  probe_pass: string | null = null
  readonly #edge_id: string
  readonly #steps: StepMark[] = []
  readonly #started_ms: number
  readonly #timestamp_ms: number
  readonly #clockMs: () => number
  #stepStarted_ms: number
  #inRequest: Readonly<Record<string, unknown>> | null = null
  #inResponse = ''
  #responseNotes = ''
  #event: 'request_allowed' | 'injection_detected' = 'request_allowed'

  constructor(
    facts: CallFacts,
    mcp: McpHeaders | null,
    edge_id: string,
    clockMs: () => number,
    wallMs: number,
  ) {
    this.facts = facts
    this.mcp = mcp
    this.#edge_id = edge_id
    this.#clockMs = clockMs
    this.#timestamp_ms = wallMs
    this.#started_ms = this.#stepStarted_ms = clockMs()
  }

  /** When the call began, by the monotonic clock. */
  get started_ms(): number {
    return this.#started_ms
  }

  get steps(): readonly StepMark[] {
    return this.#steps
  }

  /** Ends a step; the next begins. A step that is judged again, by what is known later, is still one. */
  note(step: StepName, outcome: StepMark['outcome']): void {
    const now_ms = this.#clockMs()
    const took_us = Math.round((now_ms - this.#stepStarted_ms) * 1000)
    this.#stepStarted_ms = now_ms
    for (let i = 0; i < this.#steps.length; i++) {
      const before = this.#steps[i]
      if (before?.step !== step) continue
      this.#steps[i] = { step, outcome, took_us: before.took_us + took_us }
      return
    }
    this.#steps.push({ step, outcome, took_us })
  }

  /** Counts so much of the present step for a later one, or (below zero) of an earlier one for this. */
  setAside(ms: number): void {
    this.#stepStarted_ms += ms
  }

  refused(
    reason: Reason,
    status: number,
    data: Readonly<Record<string, unknown>>,
  ): ActivityEntry | null {
    return this.#entry(eventOfReason(reason), 'blocked', reason, status, data)
  }

  /** The request was scanned, and lets what was found pass. */
  scanned(found: Readonly<Record<string, unknown>> | null): void {
    if (found !== null) this.found(found)
    this.note('scan', 'pass')
  }

  /** Something was found in the request, and let through. */
  found(data: Readonly<Record<string, unknown>>): void {
    this.#inRequest = data
    Object.assign(this.facts.data, data)
    this.#event = 'injection_detected'
  }

  /** Something was found in the response, and let through; of a stream, what was found in it so far. */
  foundInResponse(data: Readonly<Record<string, unknown>>): void {
    const merged = mergeFindings(this.#inRequest, data)
    const text = JSON.stringify(merged)
    if (text === this.#inResponse) return
    this.#inResponse = text
    Object.assign(this.facts.data, merged)
    this.#event = 'injection_detected'
  }

  /** The response was longer than its inspection limit, and the scope lets the rest pass. */
  passedUnscanned(limit_bytes: number): void {
    this.#noteResponse({ response_unscanned: true, limit_bytes })
  }

  /** These headers of the response led to another integration and were not sent to the caller. */
  leftOut(headers: readonly string[]): void {
    this.#noteResponse({ headers_left_out: headers })
  }

  #noteResponse(data: Readonly<Record<string, unknown>>): void {
    Object.assign(this.facts.data, data)
    this.#responseNotes += JSON.stringify(data)
  }

  /** Changes when something else becomes known about the response. */
  get response_note(): string {
    return this.#inResponse + this.#responseNotes
  }

  /** What the end of a passed call does not change; null while the organization is not known. */
  passed(): PassedCall | null {
    const { organization_id, data } = this.facts
    if (organization_id === null) return null
    return {
      event: this.#event,
      is_delivered: isDelivered({ event: this.#event, data }),
      organization_id,
      facts: this.facts,
      timestamp: isoTime(this.#timestamp_ms),
      edge_id: this.#edge_id,
      steps: this.#steps,
    }
  }

  /** The call went on and has ended. */
  allowed(): ActivityEntry | null {
    return this.#entry(this.#event, 'allowed', null, null, {})
  }

  /** The call was ended by this gateway while it was in flight. */
  terminated(
    reason: Reason,
    status: number | null,
    data: Readonly<Record<string, unknown>> = {},
  ): ActivityEntry | null {
    return this.#entry('request_rejected', 'terminated', reason, status, data)
  }

  /** Null while the organization is not known: such a call is counted instead. */
  #entry(
    event: EventName,
    decision: NonNullable<ActivityEntry['decision']>,
    reason: Reason | null,
    status: number | null,
    data: Readonly<Record<string, unknown>>,
  ): ActivityEntry | null {
    const { organization_id, bytes_in, data: known, ...facts } = this.facts
    if (organization_id === null) return null
    return {
      id: mintActivityId(Math.round(this.#timestamp_ms + this.#clockMs() - this.#started_ms)),
      timestamp: new Date(this.#timestamp_ms).toISOString(),
      event,
      organization_id,
      ...facts,
      status,
      decision,
      reason,
      edge_id: this.#edge_id,
      steps: this.#steps,
      duration_ms: Math.round((this.#clockMs() - this.#started_ms) * 1000) / 1000,
      bytes_in,
      bytes_out: null,
      data: { ...known, ...data },
    }
  }
}
