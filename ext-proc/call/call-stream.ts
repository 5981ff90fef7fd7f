import type { ActivityEntry, Decision } from '../../core/activity/activity-entry.ts'
import type { Header } from '../../core/request/header.ts'
import { type Reason, REASONS } from '../../core/catalogue/reasons.ts'
import { writeCallFacts } from '../record/write-call-facts.ts'
import type { ActivityRecorder } from '../record/activity-recorder.ts'
import type { Cut, CallInFlight, CallsInFlight } from '../kill/calls-in-flight.ts'
import type { ReviewQueue } from '../kill/review-queue.ts'
import type { CallWatch, StreamWatch } from '../kill/stream-watch.ts'
import { CALL_FACTS, CALL_LOGGED, type CallMember, FRAMES } from '../envoy/call-metadata.ts'
import { type EnvoyMessage, readRequest } from '../envoy/read-request.ts'
import { type EnvoyStream, hasAccessLog } from '../envoy/start-server.ts'
import {
  BODY_MODE,
  type LocalReply,
  type ModeOverride,
  NO_NOTES,
  writeMembers,
  writeMoreTime,
  writePass,
  writeRefusal,
  writeTrailers,
} from '../envoy/write-response.ts'
import { GRPC_STATUS } from '../grpc/grpc-call.ts'
import type { EdgeMetrics } from '../record/edge-metrics.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { Denial } from '../verdict/denial.ts'
import { headerOf, type ResponseInspector } from '../verdict/response-inspector.ts'
import type { Standing } from '../verdict/standing.ts'
import type { Forward, Verdict } from '../verdict/verdict.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { writeError } from '../verdict/write-error.ts'
import type { CallTraces } from '../trace/call-traces.ts'
import { ResponsePhase } from '../response/response-phase.ts'
import { CLIENT_STREAMED, type SocketIo, SocketPhase } from '../socket/socket-phase.ts'
import type { BodyReader, CallIo } from './call-io.ts'
import type { HeldBytes } from './held-bytes.ts'
import { causeOf } from './cause-of.ts'

export interface CallStreamParts {
  readonly inFlight: CallsInFlight
  readonly reviews: Pick<ReviewQueue, 'generation' | 'add' | 'watchEnd'>
  readonly heldBytes: HeldBytes
  readonly recorder: ActivityRecorder
  readonly metrics: Pick<EdgeMetrics, 'decided'>
  /** Null while nothing is traced. */
  readonly traces: Pick<CallTraces, 'decided'> | null
  readonly begin: (headers: readonly Header[]) => CallRecord
  /** Null, or after a pause of this process, resolves when it knows again whether it may serve, or cannot know soon. */
  readonly afterPause: () => Promise<void> | null
  /** Decides a call. An exception is a bug or an outage and results in `gateway_unavailable`. */
  readonly decide: (headers: readonly Header[], io: CallIo, record: CallRecord) => Promise<Verdict>
  /** Allowed calls are logged before they are forwarded, not when they end. */
  readonly is_strict: boolean
  /** Watches whether the Envoy of this stream keeps streams open. */
  readonly watchOf: (stream: EnvoyStream) => Pick<StreamWatch, 'begin'>
  /** Why no decision can be made now, for the caller; null if that is not known. */
  readonly whyUnavailable: (error: unknown) => string | null
  /** Whether this is the secret of a probe of the gateway itself, which is neither logged nor counted. */
  readonly isProbe: (pass: string) => Promise<boolean>
  readonly log: { error(data: object, message: string): void }
}

type Phase = 'request_headers' | 'request_body'

const STREAM_BODY: ModeOverride = { request_body: BODY_MODE.none, response_body: BODY_MODE.none }
const BUFFER_BODY: ModeOverride = {
  request_body: BODY_MODE.buffered,
  response_body: BODY_MODE.none,
}
const UNKNOWN_ID = { ...NO_NOTES, json_rpc_id: 'null' }
const EMPTY = Buffer.alloc(0)
/**
 * For the answer to a handshake that is not followed. Envoy then closes a connection of HTTP/1.1 without saying so, and keeps a
 * `Connection` header only beside `Upgrade`. 426 requires that one.
 */
const NO_UPGRADE: readonly Header[] = [
  { name: 'connection', value: 'close, upgrade' },
  { name: 'upgrade', value: 'websocket' },
]
/** Does not begin as the refusals of the processor do, so that Envoy words it: envoy/local-replies.ts. */
const LATE_BODY = 'held_body_timeout'
const LOGGED: CallMember = [CALL_LOGGED, '1']

/** One call: Envoy's stream of messages on one side, the decision on the other. */
export class CallStream implements CallInFlight, CallIo {
  organization_id = ''
  agent_id = ''
  has_body = false
  passed_ms: number | null = null
  is_tunnel = false
  standing: Standing | null = null
  readonly #stream: EnvoyStream
  readonly #parts: CallStreamParts
  #record: CallRecord | null = null
  #phase: Phase = 'request_headers'
  /** Of a WebSocket, or of another upgrade, which is refused. */
  #isHandshake = false
  /** `deciding` until a decision is written. After a pass, the stream stays open until the response has ended. */
  #state: 'deciding' | 'passed' | 'refused' | 'cut' | 'ended' = 'deciding'
  #inspector: ResponseInspector | null = null
  /** Of an allowed WebSocket. */
  #socket: SocketPhase | null = null
  /** It is logged why the gateway closes the WebSocket. */
  #isClosing = false
  /** The frames that Envoy knows of. */
  #notedFrames = ''
  /** Created only if the response must be inspected, which is rare. */
  #response: ResponsePhase | null = null
  #isHeld = false
  /**
   * The pass was recorded through Envoy's access log, or in strict mode in the log itself; otherwise the entry is written here.
   */
  #isNoted = false
  /** A tunnel, in which each call has an entry of its own. */
  #isUnlogged = false
  /**
   * The refusal of the call or of its response, or its cut, has been logged. That is the final result, whatever happens before it is
   * sent.
   */
  #isRefusalLogged = false
  /** What is logged of the response. */
  #notedResponse = ''
  #body: Promise<Buffer> | null = null
  #resolveBody: ((body: Buffer) => void) | null = null
  /** Ends the wait for a body. */
  #late: NodeJS.Timeout | undefined
  /** Of the body, while it is held. */
  #releaseBytes: (() => void) | null = null
  /** A body was requested but only trailers arrived. Envoy accepts no header mutations in a response to trailers. */
  #hasOnlyTrailers = false
  /** Of an allowed call, if it is not certain that Envoy keeps the stream open. */
  #watch: CallWatch | null = null
  /** Created when something that cut the call waits for its end. */
  #ended: Promise<void> | null = null
  #resolveEnded: (() => void) | null = null

  constructor(stream: EnvoyStream, parts: CallStreamParts) {
    this.#stream = stream
    this.#parts = parts
    stream.on('data', (bytes: Buffer) => this.#receive(bytes))
    stream.on('end', () => {
      this.#end()
      // Ends the gRPC call with OK. Without this Envoy resets the stream, and a thousand resets cause a GOAWAY.
      stream.end()
    })
    stream.on('cancelled', () => this.#end())
    stream.on('error', () => this.#end())
  }

  get ended(): Promise<void> {
    this.#ended ??=
      this.#state === 'ended'
        ? Promise.resolve()
        : new Promise((resolve) => {
            this.#resolveEnded = resolve
          })
    return this.#ended
  }

  cut(why: Cut): boolean {
    if (this.#state === 'cut' || this.#state === 'refused' || this.#state === 'ended') return false
    const bytesMayBeOut = this.#state === 'passed'
    this.#state = 'cut'
    this.#releaseBytes?.()
    const denial = denialOf(why)
    const record = this.#record
    if (record === null) return true
    this.#stream.write(writeRefusal(this.#error({ ...denial, was_called: bytesMayBeOut }, record)))
    // It is logged why the gateway has closed the WebSocket.
    if (this.#isClosing) return true
    const status = bytesMayBeOut ? null : 503
    this.#trace(record, 'terminated', denial.reason, status)
    if (this.#isRefusalLogged) return true
    this.#isRefusalLogged = true
    this.#parts.metrics.decided('terminated', denial.reason, [])
    this.#noteSocket(record)
    const isTold = why.reason === 'not_admitted' || why.reason === 'locked'
    const data = isTold ? (denial.data ?? denial.details) : {}
    const entry = record.terminated(denial.reason, status, data)
    if (entry !== null) void this.#parts.recorder.refused(entry)
    return true
  }

  #receive(bytes: Buffer): void {
    let message: EnvoyMessage
    try {
      message = readRequest(bytes)
    } catch (error) {
      this.#parts.log.error({ error: String(error) }, 'Envoy sent a message that cannot be decoded')
      this.#stream.fail(GRPC_STATUS.internal, 'malformed message')
      return
    }
    switch (message.kind) {
      case 'request_headers':
        this.#isHandshake = message.headers.some(({ name }) => name === 'upgrade')
        // What follows a handshake is no body. Envoy would wait for its end if it were asked for as one.
        this.has_body = !message.end_of_stream && !this.#isHandshake
        void this.#decide(message.headers)
        return
      case 'request_body':
        if (this.#socket !== null) return this.#socket.part('client', message.body)
        clearTimeout(this.#late)
        this.#resolveBody?.(message.body)
        this.#resolveBody = null
        return
      case 'request_trailers':
        this.#receiveTrailers(message.headers)
        return
      case 'response_headers':
        this.#receiveResponse(message)
        return
      case 'response_body':
        this.#watch?.rest(message.end_of_stream)
        if (this.#socket?.is_open === true) return this.#socket.part('api', message.body)
        this.#responsePhase().body(message.body, message.end_of_stream)
        return
      case 'response_trailers':
        this.#watch?.rest(true)
        this.#responsePhase().trailers(message.headers)
        return
      case 'unknown':
        this.#parts.log.error({}, 'Envoy sent a message of an unknown type')
        this.#stream.fail(GRPC_STATUS.internal, 'unknown message')
        return
    }
  }

  async #decide(headers: readonly Header[]): Promise<void> {
    let record: CallRecord | null = null
    const { generation } = this.#parts.reviews
    try {
      record = this.#record = this.#parts.begin(headers)
      const paused = this.#parts.afterPause()
      if (paused !== null) await paused
      const verdict = await this.#parts.decide(headers, this, record)
      if (verdict.kind === 'forward') {
        await this.#forward(verdict, record)
        // What has changed meanwhile may have been read before.
        if (generation !== this.#parts.reviews.generation && this.#state === 'passed')
          this.#parts.reviews.add(this)
        return
      }
      record.note(verdict.step, 'deny')
      await this.#refuse(verdict.denial, record)
    } catch (error) {
      this.#parts.log.error(
        { error: describe(error), request_id: record?.facts.request_id },
        'a call could not be decided',
      )
      if (record === null) this.#stream.fail(GRPC_STATUS.internal, 'not decided')
      else {
        const details = causeOf(this.#parts.whyUnavailable(error))
        await this.#refuse({ reason: 'gateway_unavailable', details }, record)
      }
    } finally {
      this.#releaseBytes?.()
    }
  }

  async #forward(verdict: Forward, record: CallRecord): Promise<void> {
    if (this.#hasOnlyTrailers)
      return this.#refuse(
        { reason: 'bad_request', details: { reason: 'trailers_without_body' } },
        record,
      )
    // What a tunnel carries must not be sent here.
    const watch =
      verdict.tunnel === undefined ? this.#parts.watchOf(this.#stream).begin(this) : null
    if (watch === 'refuse') {
      verdict.approved?.note(false)
      return this.#refuse({ reason: 'gateway_unavailable', details: {} }, record)
    }
    const isUnlogged = verdict.tunnel === 'intercepted'
    // A lock that is created from here on finds the call by it.
    this.standing = verdict.standing
    if (this.#parts.is_strict && !isUnlogged) await this.#logFirst(record)
    // A kill in the meantime has cut the call.
    if (this.#state !== 'deciding') return this.#noteSpent(verdict, record)
    this.#watch = watch
    this.#state = 'passed'
    this.#trace(record, 'allowed', null, null)
    this.passed_ms = performance.now()
    this.is_tunnel = verdict.tunnel !== undefined
    this.#parts.reviews.watchEnd(this)
    this.#isUnlogged = isUnlogged
    const { inspector, rate, changes, socket = null, preference = null } = verdict
    this.#inspector = inspector
    if (socket !== null) this.#socket = new SocketPhase(socket, this.#socketIo(record))
    this.#response = null
    if (!isUnlogged) this.#parts.metrics.decided('allowed', '', record.steps)
    const facts = this.#noteFacts(record)
    // Also without a body: the mode keeps the stream open where Envoy's configuration would not.
    const streamed = socket === null ? STREAM_BODY : CLIENT_STREAMED
    const mode = this.#phase === 'request_headers' ? streamed : null
    const sees_response = inspector.sees_every_response || watch?.isCheck === true
    const json_rpc_id = record.mcp === null ? null : asciiJson(record.json_rpc_id ?? 'null')
    this.#stream.write(
      writePass(this.#phase, changes, mode, {
        facts,
        rate,
        sees_response,
        json_rpc_id,
        preference,
      }),
    )
    watch?.answered(this.#stream, false)
    verdict.approved?.note(true)
  }

  /** The caller has left, or the call was cut: its approvers see that it was not made. */
  async #noteSpent({ approved }: Forward, record: CallRecord): Promise<void> {
    if (approved === undefined) return
    approved.note(false)
    await this.#refuse(approved.spent, record)
  }

  /** The refusal is logged before the caller receives it (invariant 6), even if the caller has disconnected by then. */
  async #refuse(denial: Denial, record: CallRecord): Promise<void> {
    if (this.#state !== 'deciding' && this.#state !== 'ended') return
    // A cut has refused it, and the stream has ended since.
    if (this.#isRefusalLogged) return
    this.#isRefusalLogged = true
    const refusal = this.#error(denial, record)
    const entry = record.refused(denial.reason, refusal.status, denial.data ?? denial.details)
    const { probe_pass: pass } = record
    const isProbe = entry === null && pass !== null && (await this.#parts.isProbe(pass))
    if (!isProbe) await this.#logRefusal(denial, record, entry)
    if (this.#state !== 'deciding') return
    this.#state = 'refused'
    if (!isProbe) this.#trace(record, 'blocked', denial.reason, refusal.status)
    this.#stream.write(writeRefusal(refusal))
  }

  async #logRefusal(
    { reason }: Denial,
    record: CallRecord,
    entry: ActivityEntry | null,
  ): Promise<void> {
    const { recorder, metrics } = this.#parts
    metrics.decided('blocked', reason, record.steps)
    const { source_ip, request_id, endpoint } = record.facts
    await (entry === null
      ? recorder.refusedUnknown(reason, { source_ip, request_id, endpoint })
      : recorder.refused(entry))
  }

  #error(denial: Denial, record: CallRecord): LocalReply {
    const error = writeError(denial, record)
    return this.#isHandshake ? { ...error, headers: [...error.headers, ...NO_UPGRADE] } : error
  }

  #trace(
    record: CallRecord,
    decision: Decision,
    reason: Reason | null,
    status: number | null,
  ): void {
    const { traces } = this.#parts
    if (traces === null) return
    traces.decided(this.#stream, record, { decision, reason, status }, this.passed_ms)
  }

  get is_over(): boolean {
    return this.#state !== 'deciding'
  }

  reserve(organization_id: string, agent_id: string, bytes: number): boolean {
    if (this.#releaseBytes !== null || !this.has_body || this.is_over) return true
    this.#releaseBytes = this.#parts.heldBytes.take(organization_id, agent_id, bytes)
    return this.#releaseBytes !== null
  }

  moreTime(ms: number): void {
    if (this.#state === 'deciding') this.#stream.write(writeMoreTime(ms))
  }

  body(held_by: BodyReader): Promise<Buffer> {
    if (this.#body !== null) return this.#body
    if (!this.has_body) return Promise.resolve(EMPTY)
    this.#phase = 'request_body'
    this.#body = new Promise<Buffer>((resolve) => {
      this.#resolveBody = resolve
    })
    const { timeout_ms } = this.#parts.heldBytes
    this.#late = setTimeout(() => this.#refuseLateBody(), timeout_ms).unref()
    const notes = this.#record?.mcp ? UNKNOWN_ID : NO_NOTES
    this.#write(writePass('request_headers', null, BUFFER_BODY, { ...notes, held_by }))
    return this.#body
  }

  /**
   * The body has not arrived in time, or Envoy does not read it any further: one without a length may exceed the limit before it is asked
   * for. Envoy knows which, and its answer and its entry say so.
   */
  #refuseLateBody(): void {
    if (this.#state !== 'deciding' || this.#record === null) return
    this.#state = 'refused'
    const refusal = writeError({ reason: 'request_timeout', details: {} }, this.#record)
    this.#stream.write(writeRefusal({ ...refusal, details: LATE_BODY }, false))
  }

  #receiveResponse(message: EnvoyMessage & { readonly kind: 'response_headers' }): void {
    const watch = this.#watch
    watch?.headers(message.end_of_stream)
    if (
      this.#inspector !== null &&
      this.#socket?.headers(message.headers, this.#inspector) === true
    )
      return watch?.answered(this.#stream, false)
    const isUpgrade = headerOf(message.headers, ':status') === '101'
    const asksForBody = watch?.isCheck === true && !message.end_of_stream && !isUpgrade
    const answered = this.#responsePhase().headers(
      message.headers,
      message.code_details,
      message.end_of_stream,
      asksForBody,
    )
    if (typeof answered === 'boolean') watch?.answered(this.#stream, answered)
    else void answered.then((isBodyDue) => watch?.answered(this.#stream, isBodyDue))
  }

  #responsePhase(): ResponsePhase {
    this.#response ??= new ResponsePhase(
      this.#inspector,
      {
        write: (bytes) => this.#write(this.#withNewFacts(bytes)),
        refuse: (denial, isOut) => this.#refuseResponse(denial, isOut),
        fail: (error) => {
          this.#parts.log.error({ error: describe(error) }, 'a response could not be inspected')
          this.cut({ reason: 'gateway_unavailable' })
        },
      },
      this.#socket === null ? BODY_MODE.none : BODY_MODE.streamed,
    )
    return this.#response
  }

  #socketIo(record: CallRecord): SocketIo {
    const { organization_id, agent_id } = this
    return {
      write: (bytes) => this.#write(this.#withNewFacts(bytes)),
      refuse: (denial) => this.#refuseResponse(denial, false),
      closing: (denial) => this.#logClosing(denial, record),
      end: () => this.cut({ reason: 'gateway_unavailable' }),
      fail: (error) => {
        this.#parts.log.error({ error: describe(error) }, 'a WebSocket could not be inspected')
        this.cut({ reason: 'gateway_unavailable' })
      },
      hold: (bytes) => this.#parts.heldBytes.take(organization_id, agent_id, bytes),
    }
  }

  /** The end of a WebSocket that this gateway closes. A kill can still cut it until it has closed. */
  async #logClosing(denial: Denial, record: CallRecord): Promise<void> {
    if (this.#state !== 'passed' || this.#isClosing) return
    this.#isRefusalLogged = this.#isClosing = true
    this.#parts.metrics.decided('terminated', denial.reason, [])
    this.#trace(record, 'terminated', denial.reason, null)
    this.#noteSocket(record)
    const { status } = REASONS[denial.reason]
    const entry = record.refused(denial.reason, status, denial.data ?? denial.details)
    if (entry !== null)
      await this.#parts.recorder.refused({ ...entry, decision: 'terminated', status: null })
  }

  /** What has passed through a WebSocket, for an entry that is not written from Envoy's access log. */
  #noteSocket({ facts }: CallRecord): void {
    if (this.#socket === null) return
    const [frames_in, frames_out] = this.#socket.frames
    facts.bytes_in = this.#socket.bytes_in
    facts.data['websocket'] = { frames_in, ...(frames_out === undefined ? {} : { frames_out }) }
  }

  /**
   * The response is withheld from the caller. Parts of a stream that were already sent cannot be recalled, so the stream is
   * cut.
   */
  async #refuseResponse(denial: Denial, isOut: boolean): Promise<void> {
    const record = this.#record
    if (this.#state !== 'passed' || record === null) return
    this.#isRefusalLogged = true
    const decision = isOut ? 'terminated' : 'blocked'
    this.#parts.metrics.decided(decision, denial.reason, [])
    const refusal = this.#error({ ...denial, was_called: true }, record)
    this.#trace(record, decision, denial.reason, isOut ? null : refusal.status)
    const entry = record.refused(denial.reason, refusal.status, denial.data ?? denial.details)
    if (entry !== null)
      await this.#parts.recorder.refused(
        isOut ? { ...entry, decision: 'terminated', status: null } : entry,
      )
    if (this.#state !== 'passed') return
    this.#state = 'refused'
    this.#stream.write(writeRefusal(refusal))
  }

  /** @throws (rejects) if the log cannot be written; the call is then refused */
  async #logFirst(record: CallRecord): Promise<void> {
    const entry = record.allowed()
    if (entry === null) return
    await this.#parts.recorder.allowedNow(entry)
    this.#isNoted = true
  }

  /** If Envoy has the access log, it returns these facts when the call has ended, and the entry is written then. */
  #noteFacts(record: CallRecord): string | null {
    if (this.#parts.is_strict || this.#isUnlogged) return ''
    if (!hasAccessLog(this.#stream)) return null
    const passed = record.passed()
    this.#isNoted = passed !== null
    return passed === null ? null : writeCallFacts(passed)
  }

  /** Something was detected in the response, or frames of a WebSocket have come. */
  #withNewFacts(bytes: Buffer): Buffer {
    const record = this.#record
    if (record === null || !this.#isNoted || this.#parts.is_strict) return bytes
    const members = this.#isClosing ? [LOGGED] : this.#newFacts(record)
    return members.length === 0 ? bytes : Buffer.concat([bytes, writeMembers(members)])
  }

  #newFacts(record: CallRecord): CallMember[] {
    const members: CallMember[] = []
    const passed = record.response_note === this.#notedResponse ? null : record.passed()
    if (passed !== null) members.push([CALL_FACTS, writeCallFacts(passed)])
    this.#notedResponse = record.response_note
    if (this.#socket === null) return members
    const frames = this.#socket.frames.join()
    if (frames !== this.#notedFrames) members.push([FRAMES, frames])
    this.#notedFrames = frames
    return members
  }

  registerInFlight(organization_id: string, agent_id: string): void {
    if (this.#isHeld || this.#state === 'ended') return
    this.organization_id = organization_id
    this.agent_id = agent_id
    this.#isHeld = true
    this.#parts.inFlight.add(this)
  }

  /** Request trailers are never forwarded. If trailers arrive instead of a body, the call is decided with an empty body. */
  #receiveTrailers(trailers: readonly Header[]): void {
    clearTimeout(this.#late)
    if (this.#resolveBody !== null) {
      // Do not respond here: that would forward the call before it is decided.
      this.#hasOnlyTrailers = true
      this.#resolveBody(EMPTY)
      return
    }
    this.#write(writeTrailers('request_trailers', [...new Set(trailers.map(({ name }) => name))]))
  }

  #write(bytes: Buffer): void {
    if (this.#state === 'deciding' || this.#state === 'passed') this.#stream.write(bytes)
  }

  #end(): void {
    if (this.#state === 'ended') return
    const entry = this.#state === 'passed' ? this.#lastWord() : null
    // Of a call that was cut it is not certain that Envoy was still listening.
    this.#watch?.ended(
      this.#stream.isLost || this.#state === 'refused'
        ? 'lost'
        : this.#state === 'passed'
          ? 'left'
          : 'cut',
    )
    if (entry !== null) this.#parts.recorder.allowed(entry)
    this.#state = 'ended'
    clearTimeout(this.#late)
    this.#releaseBytes?.()
    this.#socket?.close()
    this.#inspector?.close()
    this.leaveInFlight()
    this.#resolveEnded?.()
  }

  /**
   * Writes what is not written elsewhere: the entry itself, or a detection in the response of a call that is already logged.
   */
  #lastWord(): ActivityEntry | null {
    const record = this.#record
    if (record === null || this.#isRefusalLogged || this.#isUnlogged) return null
    this.#noteSocket(record)
    const isTold = this.#isNoted && (!this.#parts.is_strict || record.response_note === '')
    return isTold ? null : record.allowed()
  }

  leaveInFlight(): void {
    if (this.#isHeld) this.#parts.inFlight.remove(this)
    this.#isHeld = false
  }
}

/** In flight it is 503 whatever a new call gets. */
const denialOf = (why: Cut): Denial => {
  switch (why.reason) {
    case 'agent_killed':
      return { reason: why.reason, details: { killed_at: why.killed_at }, status: 503 }
    case 'locked':
      return deniedByLock(why.lock, why.at_ms, { status: 503 })
    case 'gateway_unavailable':
      return { reason: why.reason, details: {}, status: 503 }
    case 'not_admitted':
      return { ...why.denial, status: 503 }
  }
}

/** The same JSON text without characters beyond ASCII, which stand in strings alone. */
const asciiJson = (text: string): string =>
  text.replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
