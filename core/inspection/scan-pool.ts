import { setImmediate } from 'node:timers/promises'
import { SCOPE_DEFAULTS } from '../catalogue/model.ts'
import { type BodyFacts, type BodyQuestions, readBody } from './read-body.ts'
import type { DeferredSettings } from './deferred-settings.ts'
import type { Finding } from '../scanner/finding.ts'
import type { Source } from '../scanner/format/source.ts'
import {
  INFLATED_LIMIT_BYTES,
  type ScanInput,
  type ScanResult,
  scanWithin,
} from '../scanner/scan-request.ts'
import { type ResponseInput, scanResponseBody } from '../scanner/scan-response.ts'
import { scanTexts } from '../scanner/scan-texts.ts'
import type { JobOwner } from './job-owner.ts'
import type { PatternProblems, ScanAnswer, ScanJob } from './answer-job.ts'
import type { ExpressionProblem, PatternSettings } from '../scanner/compile-settings.ts'
import { SearchBudget } from '../scanner/text/search-budget.ts'
import { type SlotLimits, WorkerSlots } from './worker-slots.ts'

/** Read on the event loop: it takes up to 0.4 ms, not much more than the CPU time of a hop to a scan process. */
export const INLINE_BYTES = 32_768
/** Scanned there: it takes up to 4 ms, during which all other calls wait. */
export const INLINE_SCAN_BYTES = 12_288
/** How much the loop searches unsuccessfully, for two milliseconds at most, before it passes a body to a scan process. */
const INLINE_SEARCH_BYTES = 2_048
/** Larger bodies do not fit into a frame of HTTP/2, so they have memory of their own. */
const OWN_MEMORY_BYTES = 32_768
/** How many bytes of the message that contained the body are given back with it: tags and lengths. More would belong to another message. */
const OVERHANG_BYTES = 4_096
/** Maximum memory of bodies that wait for a scan process. */
const QUEUE_BYTES = 64 * 1024 * 1024
/** Small bodies that wait, outside of the queue, until the patterns of their settings are compiled: 32 MiB at most. */
const COMPILE_WAITERS_MAX = 1_024
/** CPU time to compile and time the patterns of a scope; the largest that are accepted take a third of it. */
const PATTERNS_CHECK_MS = 3_000

export type Busy = {
  readonly kind: 'busy'
  /** Whose jobs fill the queue: those of this owner, or those of all owners together. */
  readonly by: 'owner' | 'all'
}
export type PooledResult = ScanResult | Busy
export type PooledFacts =
  | Busy
  | {
      readonly kind: 'read'
      readonly facts: BodyFacts
      /**
       * The body as it is sent to the upstream; the memory of the given one may have been given back. Null if there is none, or
       * if nothing was cut out of it and it is not used any more.
       */
      readonly sent: Buffer | null
      readonly is_stripped: boolean
    }

/** A promise that rejects is an error in the scanner; the caller refuses the call. */
export type ScanPool = {
  /**
   * Reads and scans on the event loop or in a process; a body that goes there may be empty here afterwards. `busy`: the
   * queue is full, the caller answers 503, or 429 if it is full of jobs of the same owner.
   */
  readBody(
    body: Buffer | null,
    questions: BodyQuestions,
    settings: DeferredSettings | null,
    owner?: JobOwner,
  ): PooledFacts | Promise<PooledFacts>
  scanRequest(
    input: ScanInput,
    settings: DeferredSettings,
    limit_bytes?: number,
    owner?: JobOwner,
  ): PooledResult | Promise<PooledResult>
  scanResponse(
    input: ResponseInput,
    settings: DeferredSettings,
    limit_bytes?: number,
    owner?: JobOwner,
  ): PooledResult | Promise<PooledResult>
  /** What is wrong with patterns that are not saved yet. A promise that rejects: they took too long, or the process ended. */
  checkPatterns(settings: PatternSettings, owner: JobOwner): Promise<PatternProblems | Busy>
  /** Scans texts of a stream; returns the findings of each. Null: busy. */
  scanTexts(
    texts: readonly Source[],
    settings: DeferredSettings,
    owner?: JobOwner,
  ): readonly (readonly Finding[])[] | null | Promise<readonly (readonly Finding[])[] | null>
  /** Starts the processes, which build their tables, so that no body has to wait for this. */
  warm(): Promise<void>
  close(): Promise<void>
}

const BUSY: Busy = { kind: 'busy', by: 'all' }
const OWNER_BUSY: Busy = { kind: 'busy', by: 'owner' }

const sizeOf = ({ path, query, headers }: Pick<ScanInput, 'path' | 'query' | 'headers'>): number =>
  headers.reduce((sum, [, value]) => sum + value.length, path.length + query.length)

/** A small compressed body may expand to a thousand times its size, so none is read here. */
const isInline = (bytes: number, content_encoding: string | null, isScanned: boolean): boolean =>
  bytes <= (isScanned ? INLINE_SCAN_BYTES : INLINE_BYTES) &&
  (content_encoding === null || bytes === 0)

type Packed = {
  readonly bytes: Buffer
  /** Memory that contains little more than the body, so that it can be given back with it. */
  readonly memory: ArrayBuffer | null
}

/** Small bodies are copied, because the memory around them may be used again while they wait. */
const pack = (body: Buffer): Packed => {
  const { buffer, byteLength } = body
  const isOwn =
    buffer instanceof ArrayBuffer &&
    byteLength >= OWN_MEMORY_BYTES &&
    buffer.byteLength - byteLength <= OVERHANG_BYTES
  return isOwn ? { bytes: body, memory: buffer } : { bytes: Buffer.from(body), memory: null }
}

const WARM_JOB: ScanJob = {
  kind: 'texts',
  texts: [{ bytes: Buffer.from('Hello.'), format: 'text', location: 'body' }],
  settings: { ...SCOPE_DEFAULTS.injection_detection, sensitivity: 'medium', mode: 'block' },
  wants_filter: false,
}

const forLoop = (): SearchBudget => SearchBudget.forLoop(INLINE_SEARCH_BYTES)

class Pool implements ScanPool {
  readonly #slots: WorkerSlots
  readonly #onBadPatterns: PoolLimits['onBadPatterns']
  #compileWaiters = 0
  /** The turn of the event loop of the last call that had waited for patterns. */
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor(slots: WorkerSlots, onBadPatterns: PoolLimits['onBadPatterns']) {
    this.#slots = slots
    this.#onBadPatterns = onBadPatterns
  }

  readBody(
    body: Buffer | null,
    questions: BodyQuestions,
    settings: DeferredSettings | null,
    owner: JobOwner | null = null,
  ): PooledFacts | Promise<PooledFacts> {
    const size = (body?.length ?? 0) + (questions.scan === null ? 0 : sizeOf(questions.scan))
    const isSmall = isInline(size, questions.content_encoding, settings !== null)
    const compiling = settings?.compiling ?? null
    if (!isSmall || compiling === null || this.#compileWaiters >= COMPILE_WAITERS_MAX)
      return this.#readOrQueue(body, questions, settings, owner, size)
    const held = body === null ? null : pack(body).bytes
    return this.#whenCompiled(compiling).then(() =>
      this.#readOrQueue(held, questions, settings, owner, size),
    )
  }

  /** The first calls of a scope would fill the queue, although most need no process once its patterns are compiled. */
  async #whenCompiled(compiling: Promise<void>): Promise<void> {
    this.#compileWaiters++
    await compiling
    // Each in a turn of its own, because all at once would stop the loop.
    this.#lastTurn = this.#lastTurn.then(() => setImmediate())
    await this.#lastTurn
    this.#compileWaiters--
  }

  #readOrQueue(
    body: Buffer | null,
    questions: BodyQuestions,
    settings: DeferredSettings | null,
    owner: JobOwner | null,
    size: number,
  ): PooledFacts | Promise<PooledFacts> {
    const isSmall = isInline(size, questions.content_encoding, settings !== null)
    if (isSmall && settings?.isForProcess !== true) {
      const budget = forLoop()
      const reading = readBody(body, questions, settings?.compiled ?? null, budget)
      if (!budget.isUndecided) return { kind: 'read', ...reading }
    }
    const room = this.#slots.room(size, owner)
    if (room !== 'yes') return room === 'owner_full' ? OWNER_BUSY : BUSY
    const reading = this.#facts(body, questions, settings, size, owner)
    // Nothing waits for a large body, which may take far longer than the patterns.
    if (isSmall) settings?.compileIn(reading)
    return reading
  }

  async #facts(
    body: Buffer | null,
    questions: BodyQuestions,
    settings: DeferredSettings | null,
    size: number,
    owner: JobOwner | null = null,
  ): Promise<PooledFacts> {
    // An empty body is not sent, but it is a body: a signature covers its hash.
    const packed = body === null || body.length === 0 ? null : pack(body)
    const job = { kind: 'call', body: packed?.bytes ?? null, questions } as const
    const freed = questions.keeps_body ? null : (packed?.memory ?? null)
    const reply = await this.#ask(job, settings, size, owner, freed)
    if (reply === null || reply.answer.kind !== 'call') return BUSY
    const { facts, is_stripped } = reply.answer
    const kept = questions.keeps_body ? (packed?.bytes ?? body) : null
    return { kind: 'read', facts, sent: is_stripped ? reply.body : kept, is_stripped }
  }

  scanRequest(
    input: ScanInput,
    settings: DeferredSettings,
    limit_bytes = INFLATED_LIMIT_BYTES,
    owner: JobOwner | null = null,
  ): PooledResult | Promise<PooledResult> {
    const { method, base_path, path, query, headers, content_encoding } = input
    const size = (input.body?.length ?? 0) + sizeOf(input)
    if (isInline(size, content_encoding, true) && !settings.isForProcess) {
      const budget = forLoop()
      const result = scanWithin(input, settings.compiled, limit_bytes, budget)
      if (!budget.isUndecided) return result
    }
    const room = this.#slots.room(size, owner)
    if (room !== 'yes') return room === 'owner_full' ? OWNER_BUSY : BUSY
    const questions: BodyQuestions = {
      content_type: input.content_type ?? '',
      content_encoding,
      limit_bytes,
      identity: null,
      asks_overrides: false,
      // The memory of the body stays the caller's.
      keeps_body: true,
      json_rpc: null,
      scan: { method, base_path, path, query, headers },
    }
    return this.#facts(input.body, questions, settings, size, owner).then((read) =>
      read.kind === 'busy' ? read : (read.facts.unread ?? read.facts.scan ?? BUSY),
    )
  }

  scanResponse(
    input: ResponseInput,
    settings: DeferredSettings,
    limit_bytes = INFLATED_LIMIT_BYTES,
    owner: JobOwner | null = null,
  ): PooledResult | Promise<PooledResult> {
    const { content_type, content_encoding } = input
    const size = input.body.length
    if (isInline(size, content_encoding, true) && !settings.isForProcess) {
      const budget = forLoop()
      const result = scanResponseBody(input, settings.compiled, limit_bytes, budget)
      if (!budget.isUndecided) return result
    }
    const room = this.#slots.room(size, owner)
    if (room !== 'yes') return room === 'owner_full' ? OWNER_BUSY : BUSY
    const { bytes: body } = pack(input.body)
    const job = { kind: 'response', body, content_type, content_encoding, limit_bytes } as const
    return this.#ask(job, settings, size, owner).then((reply) =>
      reply?.answer.kind === 'response' ? reply.answer.result : BUSY,
    )
  }

  scanTexts(texts: readonly Source[], settings: DeferredSettings, owner: JobOwner | null = null) {
    const size = texts.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (isInline(size, null, true) && !settings.isForProcess) {
      const budget = forLoop()
      const findings = scanTexts(texts, settings.compiled, budget)
      if (!budget.isUndecided) return findings
    }
    if (this.#slots.room(size, owner) !== 'yes') return null
    // The memory around them may be used again while they wait.
    const copies = texts.map((text) => ({ ...text, bytes: Buffer.from(text.bytes) }))
    return this.#ask({ kind: 'texts', texts: copies }, settings, size, owner).then((reply) =>
      reply?.answer.kind === 'texts' ? reply.answer.findings : null,
    )
  }

  async checkPatterns(settings: PatternSettings, owner: JobOwner): Promise<PatternProblems | Busy> {
    const room = this.#slots.room(0, owner)
    if (room !== 'yes') return room === 'owner_full' ? OWNER_BUSY : BUSY
    const job = { kind: 'patterns', settings, wants_filter: false } as const
    const reply = await this.#slots.run(job, 0, owner, null, PATTERNS_CHECK_MS)
    return reply?.answer?.kind === 'patterns' ? reply.answer.problems : BUSY
  }

  warm(): Promise<void> {
    return this.#slots.runInEach(WARM_JOB)
  }

  close(): Promise<void> {
    return this.#slots.close()
  }

  async #ask(
    job: JobOf<ScanJob>,
    settings: DeferredSettings | null,
    size: number,
    owner: JobOwner | null = null,
    freed: ArrayBuffer | null = null,
  ): Promise<{ readonly answer: ScanAnswer; readonly body: Buffer | null } | null> {
    const wants_filter = settings?.wantsFilter === true
    const whole: ScanJob = { ...job, settings: settings?.source ?? null, wants_filter }
    const reply = await this.#slots.run(whole, size, owner, freed)
    if (reply?.problem !== undefined) this.#onBadPatterns?.(reply.problem, owner)
    if (reply?.filter !== undefined) settings?.learn(reply.filter)
    return reply === null || reply.answer === null
      ? null
      : { answer: reply.answer, body: reply.body }
  }
}

type JobOf<Job> = Job extends ScanJob ? Omit<Job, 'settings' | 'wants_filter'> : never

export type PoolLimits = Omit<SlotLimits, 'queue_bytes'> & {
  readonly queue_bytes?: number
  /** Stored patterns cannot be used; the job is answered with `busy`. */
  readonly onBadPatterns?: (problem: ExpressionProblem, owner: JobOwner | null) => void
}

/** Processes for large bodies. They start with the first one and do not keep the process alive. */
export const openScanPool = ({ onBadPatterns, ...limits }: PoolLimits): ScanPool =>
  new Pool(new WorkerSlots({ queue_bytes: QUEUE_BYTES, ...limits }), onBadPatterns)
