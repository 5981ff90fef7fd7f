import type { ActivityEntry, Decision } from '../../core/activity/activity-entry.ts'
import type { Header } from '../../core/request/header.ts'
import { type Reason, REASONS } from '../../core/catalogue/reasons.ts'
import { writeCallFacts } from '../record/write-call-facts.ts'
import type { ActivityRecorder } from '../record/activity-recorder.ts'
import type { Cut, CallInFlight, CallsInFlight } from '../kill/calls-in-flight.ts'
import type { ReviewQueue } from '../kill/review-queue.ts'
import type { StreamWatch } from '../kill/stream-watch.ts'
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
import { headerOf } from '../verdict/response-inspector.ts'
import type { Standing } from '../verdict/standing.ts'
import type { Forward, Verdict } from '../verdict/verdict.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { writeError } from '../verdict/write-error.ts'
import type { CallTraces } from '../trace/call-traces.ts'
import { ResponsePhase } from '../response/response-phase.ts'
import { CLIENT_STREAMED, type SocketIo, SocketPhase } from '../socket/socket-phase.ts'
import type { BodyReader, CallIo } from './call-io.ts'
import {
  type CallState,
  type Deciding,
  newCall,
  type NextOf,
  type Passed,
  passedOf,
} from './call-state.ts'
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
  /** Of a WebSocket, or of another upgrade, which is refused. */
  #isHandshake = false
  #state: CallState = newCall()
  /** Envoy was asked for it. It can also be read when the call is over. */
  #body: Promise<Buffer> | null = null
  /** Only trailers came in its place. Envoy accepts no header mutations in a response to trailers. */
  #hasOnlyTrailers = false
  /** Created only if the response must be inspected, which is rare. */
  #response: ResponsePhase | null = null
  /**
   * The refusal of the call or of its response, or its cut, has been logged. That is the final result, whatever happens before it is
   * sent.
   */
  #isRefusalLogged = false
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

  get connection(): object {
    return this.#stream.connection
  }

  get ended(): Promise<void> {
    this.#ended ??=
      this.#state.kind === 'ended'
        ? Promise.resolve()
        : new Promise((resolve) => {
            this.#resolveEnded = resolve
          })
    return this.#ended
  }

  /** The compiler holds every change of state against the table. */
  #become<From extends CallState>(from: From, to: NextOf<From>): void {
    if (from.kind === 'deciding') {
      clearTimeout(from.late)
      from.releaseBytes?.()
    }
    this.#state = to
  }

  cut(why: Cut): boolean {
    const state = this.#state
    if (state.kind !== 'deciding' && state.kind !== 'passed') return false
    const passed = passedOf(state)
    this.#become(state, { kind: 'cut', passed })
    const bytesMayBeOut = passed !== null
    const denial = denialOf(why)
    const record = this.#record
    if (record === null) return true
    this.#stream.write(writeRefusal(this.#error({ ...denial, was_called: bytesMayBeOut }, record)))
    // It is logged why the gateway has closed the WebSocket.
    if (passed?.isClosing === true) return true
    const status = bytesMayBeOut ? null : 503
    this.#trace(record, 'terminated', denial.reason, status)
    if (this.#isRefusalLogged) return true
    this.#isRefusalLogged = true
    this.#parts.metrics.decided('terminated', denial.reason, [])
    noteSocket(passed, record)
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
        this.#receiveBody(message.body)
        return
      case 'request_trailers':
        this.#receiveTrailers(message.headers)
        return
      case 'response_headers':
        this.#receiveResponse(message)
        return
      case 'response_body': {
        const passed = passedOf(this.#state)
        passed?.watch?.rest(message.end_of_stream)
        if (passed?.socket?.is_open === true) passed.socket.part('api', message.body)
        else this.#responsePhase().body(message.body, message.end_of_stream)
        return
      }
      case 'response_trailers':
        passedOf(this.#state)?.watch?.rest(true)
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
        if (generation !== this.#parts.reviews.generation && this.#state.kind === 'passed')
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
    // A lock that is created from here on finds the call by it.
    this.standing = verdict.standing
    const isUnlogged = verdict.tunnel === 'intercepted'
    const isWritten = this.#parts.is_strict && !isUnlogged && (await this.#logFirst(record))
    const state = this.#state
    // A kill in the meantime has cut the call.
    if (state.kind !== 'deciding') return this.#noteSpent(verdict, record)
    this.#trace(record, 'allowed', null, null)
    this.passed_ms = performance.now()
    this.is_tunnel = verdict.tunnel !== undefined
    this.#parts.reviews.watchEnd(this)
    if (!isUnlogged) this.#parts.metrics.decided('allowed', '', record.steps)
    const facts = isUnlogged || this.#parts.is_strict ? '' : this.#factsForEnvoy(record)
    const { inspector, rate, changes, socket = null, preference = null } = verdict
    this.#become(state, {
      kind: 'passed',
      record,
      inspector,
      socket: socket === null ? null : new SocketPhase(socket, this.#socketIo()),
      watch,
      entry: entryOf(isUnlogged, isWritten, facts),
      isClosing: false,
      noted_response: '',
      noted_frames: '',
    })
    this.#response = null
    // Also without a body: the mode keeps the stream open where Envoy's configuration would not.
    const streamed = socket === null ? STREAM_BODY : CLIENT_STREAMED
    const mode = state.phase === 'request_headers' ? streamed : null
    const sees_response = inspector.sees_every_response || watch?.isCheck === true
    const json_rpc_id = record.mcp === null ? null : asciiJson(record.json_rpc_id ?? 'null')
    const notes = { facts, rate, sees_response, json_rpc_id, preference }
    this.#stream.write(writePass(state.phase, changes, mode, notes))
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
    const { kind } = this.#state
    if (kind !== 'deciding' && kind !== 'ended') return
    // A cut has refused it, and the stream has ended since.
    if (this.#isRefusalLogged) return
    this.#isRefusalLogged = true
    const refusal = this.#error(denial, record)
    const entry = record.refused(denial.reason, refusal.status, denial.data ?? denial.details)
    const { probe_pass: pass } = record
    const isProbe = entry === null && pass !== null && (await this.#parts.isProbe(pass))
    if (!isProbe) await this.#logRefusal(denial, record, entry)
    const state = this.#state
    if (state.kind !== 'deciding') return
    this.#become(state, { kind: 'refused', passed: null })
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

  get state(): CallState['kind'] {
    return this.#state.kind
  }

  get is_over(): boolean {
    return this.state !== 'deciding'
  }

  reserve(organization_id: string, agent_id: string, bytes: number): boolean {
    const state = this.#state
    if (state.kind !== 'deciding' || state.releaseBytes !== null || !this.has_body) return true
    state.releaseBytes = this.#parts.heldBytes.take(organization_id, agent_id, bytes)
    return state.releaseBytes !== null
  }

  moreTime(ms: number): void {
    if (this.#state.kind === 'deciding') this.#stream.write(writeMoreTime(ms))
  }

  body(held_by: BodyReader): Promise<Buffer> {
    if (this.#body !== null) return this.#body
    if (!this.has_body) return Promise.resolve(EMPTY)
    const state = this.#state
    // The caller has left, or the call was cut: no body comes.
    if (state.kind !== 'deciding') return new Promise(() => undefined)
    state.phase = 'request_body'
    this.#body = new Promise<Buffer>((resolve) => {
      state.resolveBody = resolve
    })
    const { timeout_ms } = this.#parts.heldBytes
    state.late = setTimeout(() => this.#refuseLateBody(state), timeout_ms).unref()
    const notes = this.#record?.mcp ? UNKNOWN_ID : NO_NOTES
    this.#stream.write(writePass('request_headers', null, BUFFER_BODY, { ...notes, held_by }))
    return this.#body
  }

  #receiveBody(body: Buffer): void {
    const state = this.#state
    if (state.kind === 'deciding') {
      clearTimeout(state.late)
      state.resolveBody?.(body)
      state.resolveBody = null
      return
    }
    passedOf(state)?.socket?.part('client', body)
  }

  /**
   * The body has not arrived in time, or Envoy does not read it any further: one without a length may exceed the limit before it is asked
   * for. Envoy knows which, and its answer and its entry say so.
   */
  #refuseLateBody(state: Deciding): void {
    if (this.#state !== state || this.#record === null) return
    this.#become(state, { kind: 'refused', passed: null })
    const refusal = writeError({ reason: 'request_timeout', details: {} }, this.#record)
    this.#stream.write(writeRefusal({ ...refusal, details: LATE_BODY }, false))
  }

  #receiveResponse(message: EnvoyMessage & { readonly kind: 'response_headers' }): void {
    const passed = passedOf(this.#state)
    const watch = passed?.watch ?? null
    watch?.headers(message.end_of_stream)
    if (passed?.socket?.headers(message.headers, passed.inspector) === true)
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
    const passed = passedOf(this.#state)
    this.#response ??= new ResponsePhase(
      passed?.inspector ?? null,
      {
        write: (bytes) => this.#writeWithFacts(bytes),
        refuse: (denial, isOut) => this.#refuseResponse(denial, isOut),
        fail: (error) => {
          this.#parts.log.error({ error: describe(error) }, 'a response could not be inspected')
          this.cut({ reason: 'gateway_unavailable' })
        },
      },
      passed === null || passed.socket === null ? BODY_MODE.none : BODY_MODE.streamed,
    )
    return this.#response
  }

  #socketIo(): SocketIo {
    const { organization_id, agent_id } = this
    return {
      write: (bytes) => this.#writeWithFacts(bytes),
      refuse: (denial) => this.#refuseResponse(denial, false),
      closing: (denial) => this.#logClosing(denial),
      end: () => this.cut({ reason: 'gateway_unavailable' }),
      fail: (error) => {
        this.#parts.log.error({ error: describe(error) }, 'a WebSocket could not be inspected')
        this.cut({ reason: 'gateway_unavailable' })
      },
      hold: (bytes) => this.#parts.heldBytes.take(organization_id, agent_id, bytes),
    }
  }

  /** The end of a WebSocket that this gateway closes. A kill can still cut it until it has closed. */
  async #logClosing(denial: Denial): Promise<void> {
    const state = this.#state
    if (state.kind !== 'passed' || state.isClosing) return
    const { record } = state
    this.#isRefusalLogged = state.isClosing = true
    this.#parts.metrics.decided('terminated', denial.reason, [])
    this.#trace(record, 'terminated', denial.reason, null)
    noteSocket(state, record)
    const { status } = REASONS[denial.reason]
    const entry = record.refused(denial.reason, status, denial.data ?? denial.details)
    if (entry !== null)
      await this.#parts.recorder.refused({ ...entry, decision: 'terminated', status: null })
  }

  /**
   * The response is withheld from the caller. Parts of a stream that were already sent cannot be recalled, so the stream is
   * cut.
   */
  async #refuseResponse(denial: Denial, isOut: boolean): Promise<void> {
    const state = this.#state
    if (state.kind !== 'passed') return
    const { record } = state
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
    if (this.#state !== state) return
    this.#become(state, { kind: 'refused', passed: state })
    this.#stream.write(writeRefusal(refusal))
  }

  /**
   * Returns whether there was an entry to write.
   * @throws (rejects) if the log cannot be written; the call is then refused
   */
  async #logFirst(record: CallRecord): Promise<boolean> {
    const entry = record.allowed()
    if (entry === null) return false
    await this.#parts.recorder.allowedNow(entry)
    return true
  }

  /** Envoy returns these facts when the call has ended, and the entry is written then; null if it has no access log. */
  #factsForEnvoy(record: CallRecord): string | null {
    const passed = hasAccessLog(this.#stream) ? record.passed() : null
    return passed === null ? null : writeCallFacts(passed)
  }

  /** With what Envoy does not know yet: a finding in the response, or the number of frames of a WebSocket. */
  #writeWithFacts(bytes: Buffer): void {
    const state = this.#state
    if (state.kind !== 'passed') return this.#write(bytes)
    const members = state.entry === 'from Envoy' ? newFacts(state) : []
    this.#stream.write(members.length === 0 ? bytes : Buffer.concat([bytes, writeMembers(members)]))
  }

  registerInFlight(organization_id: string, agent_id: string): void {
    if (this.#parts.inFlight.holds(this) || this.#state.kind === 'ended') return
    this.organization_id = organization_id
    this.agent_id = agent_id
    this.#parts.inFlight.add(this)
  }

  /** Request trailers are never forwarded. If trailers arrive instead of a body, the call is decided with an empty body. */
  #receiveTrailers(trailers: readonly Header[]): void {
    const state = this.#state
    if (state.kind === 'deciding') {
      clearTimeout(state.late)
      if (state.resolveBody !== null) {
        // Do not respond here: that would forward the call before it is decided.
        this.#hasOnlyTrailers = true
        state.resolveBody(EMPTY)
        return
      }
    }
    this.#write(writeTrailers('request_trailers', [...new Set(trailers.map(({ name }) => name))]))
  }

  #write(bytes: Buffer): void {
    const { kind } = this.#state
    if (kind === 'deciding' || kind === 'passed') this.#stream.write(bytes)
  }

  #end(): void {
    const state = this.#state
    if (state.kind === 'ended') return
    const passed = passedOf(state)
    const entry = state.kind === 'passed' && !this.#isRefusalLogged ? lastEntry(state) : null
    // Of a call that was cut it is not certain that Envoy was still listening.
    const isLost = this.#stream.isLost || state.kind === 'refused'
    passed?.watch?.ended(isLost ? 'lost' : state.kind === 'passed' ? 'left' : 'cut')
    if (entry !== null) this.#parts.recorder.allowed(entry)
    this.#become(state, { kind: 'ended' })
    passed?.socket?.close()
    passed?.inspector.close()
    this.leaveInFlight()
    this.#resolveEnded?.()
  }

  leaveInFlight(): void {
    this.#parts.inFlight.remove(this)
  }
}

const entryOf = (
  isUnlogged: boolean,
  isWritten: boolean,
  facts: string | null,
): Passed['entry'] => {
  if (isUnlogged) return 'none'
  if (isWritten) return 'written'
  return facts === null || facts === '' ? 'at the end' : 'from Envoy'
}

function newFacts(call: Passed): CallMember[] {
  if (call.isClosing) return [LOGGED]
  const { record, socket } = call
  const members: CallMember[] = []
  const passed = record.response_note === call.noted_response ? null : record.passed()
  if (passed !== null) members.push([CALL_FACTS, writeCallFacts(passed)])
  call.noted_response = record.response_note
  if (socket === null) return members
  const frames = socket.frames.join()
  if (frames !== call.noted_frames) members.push([FRAMES, frames])
  call.noted_frames = frames
  return members
}

/** What has passed through a WebSocket, for an entry that is not written from Envoy's access log. */
function noteSocket(passed: Passed | null, { facts }: CallRecord): void {
  if (passed === null || passed.socket === null) return
  const [frames_in, frames_out] = passed.socket.frames
  facts.bytes_in = passed.socket.bytes_in
  facts.data['websocket'] = { frames_in, ...(frames_out === undefined ? {} : { frames_out }) }
}

/** What is not written elsewhere: the entry itself, or a finding in the response of a call that is already logged. */
function lastEntry(call: Passed): ActivityEntry | null {
  const { record, entry } = call
  if (entry === 'none') return null
  noteSocket(call, record)
  if (entry === 'from Envoy' || (entry === 'written' && record.response_note === '')) return null
  return record.allowed()
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
