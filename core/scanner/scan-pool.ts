import { Worker } from 'node:worker_threads'
import type { CompiledInjectionSettings } from './compile-settings.ts'
import {
  INFLATED_LIMIT_BYTES,
  type ScanInput,
  type ScanResult,
  scanRequest,
} from './scan-request.ts'
import { type ResponseInput, scanResponseBody } from './scan-response.ts'
import type { ScanJob } from './scan-worker.ts'

/** Scanned at once on the event loop: below half a millisecond, where a hand-over costs a tenth. */
export const INLINE_BYTES = 16_384
/** A compressed body may hold a thousand times its size, so only the smallest stay. */
export const INLINE_COMPRESSED_BYTES = 512
/** No body that Envoy lets in takes a tenth of this; a worker that does is replaced. */
const JOB_TIMEOUT_MS = 15_000

export type PooledResult = ScanResult | { readonly kind: 'busy' }

export type ScanPool = {
  /**
   * Scans on the event loop or in a worker. `busy`: the queue is full, the caller answers 503. A promise
   * that rejects is a fault in the scanner; the caller refuses the call.
   */
  scanRequest(
    input: ScanInput,
    settings: CompiledInjectionSettings,
    limit_bytes?: number,
  ): PooledResult | Promise<PooledResult>
  scanResponse(
    input: ResponseInput,
    settings: CompiledInjectionSettings,
    limit_bytes?: number,
  ): PooledResult | Promise<PooledResult>
  close(): Promise<void>
}

type Waiting = {
  readonly job: ScanJob
  readonly resolve: (result: PooledResult) => void
  readonly reject: (error: Error) => void
}
type Seat = { worker: Worker | null; waiting: Waiting | null; timer: NodeJS.Timeout | null }

const isInline = (body: Buffer | null, content_encoding: string | null): boolean => {
  const size = body?.length ?? 0
  const isCompressed =
    content_encoding !== null && content_encoding !== '' && content_encoding !== 'identity'
  return size <= (isCompressed ? INLINE_COMPRESSED_BYTES : INLINE_BYTES)
}

/** Guards that each accepted job is answered once, and that no seat holds two. */
class WorkerPool implements ScanPool {
  readonly #seats: Seat[] = []
  readonly #queue: Waiting[] = []
  readonly #workers: number
  readonly #queueLimit: number
  #lastId = 0
  #isClosed = false

  constructor(workers: number, queueLimit: number) {
    this.#workers = workers
    this.#queueLimit = queueLimit
  }

  scanRequest(
    input: ScanInput,
    settings: CompiledInjectionSettings,
    limit_bytes = INFLATED_LIMIT_BYTES,
  ) {
    return isInline(input.body, input.content_encoding)
      ? scanRequest(input, settings, limit_bytes)
      : this.#enqueue('request', input, settings, limit_bytes)
  }

  scanResponse(
    input: ResponseInput,
    settings: CompiledInjectionSettings,
    limit_bytes = INFLATED_LIMIT_BYTES,
  ) {
    return isInline(input.body, input.content_encoding)
      ? scanResponseBody(input, settings, limit_bytes)
      : this.#enqueue(
          'response',
          { ...input, path: '', query: '', headers: [] },
          settings,
          limit_bytes,
        )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const waiting of this.#queue.splice(0)) waiting.resolve({ kind: 'busy' })
    await Promise.all(
      this.#seats.map(async (seat) => {
        finish(seat)?.resolve({ kind: 'busy' })
        seat.worker?.removeAllListeners()
        await seat.worker?.terminate()
      }),
    )
  }

  #enqueue(
    kind: ScanJob['kind'],
    input: ScanJob['input'],
    settings: CompiledInjectionSettings,
    limit_bytes: number,
  ): PooledResult | Promise<PooledResult> {
    let seat = this.#seats.find((one) => one.waiting === null)
    const isFull =
      seat === undefined &&
      this.#seats.length >= this.#workers &&
      this.#queue.length >= this.#queueLimit
    if (this.#isClosed || isFull) return { kind: 'busy' }
    if (seat === undefined && this.#seats.length < this.#workers) {
      seat = { worker: null, waiting: null, timer: null }
      this.#seats.push(seat)
    }
    this.#lastId += 1
    const job: ScanJob = { id: this.#lastId, kind, input, settings: settings.source, limit_bytes }
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject })
      if (seat !== undefined) this.#start(seat)
    })
  }

  #start(seat: Seat): void {
    const waiting = this.#queue.shift()
    if (waiting === undefined) {
      seat.worker?.unref()
      return
    }
    seat.worker ??= this.#hire(seat)
    seat.waiting = waiting
    seat.worker.ref()
    const late = new Error(`a scan took more than ${JOB_TIMEOUT_MS} ms`)
    seat.timer = setTimeout(() => this.#replace(seat, late), JOB_TIMEOUT_MS)
    seat.worker.postMessage(waiting.job)
  }

  #hire(seat: Seat): Worker {
    const worker = new Worker(new URL('./scan-worker.js', import.meta.url))
    worker.on('message', (message: { result?: ScanResult; error?: string }) => {
      const waiting = finish(seat)
      if (message.result !== undefined) waiting?.resolve(message.result)
      else waiting?.reject(new Error(`the scanner failed: ${message.error}`))
      this.#start(seat)
    })
    worker.on('error', (error) => this.#replace(seat, error))
    worker.on('exit', () => this.#replace(seat, new Error('a scan worker ended')))
    return worker
  }

  /** A worker that failed goes with its job; the seat takes the next one. */
  #replace(seat: Seat, error: Error): void {
    const failed = finish(seat)
    const { worker } = seat
    seat.worker = null
    worker?.removeAllListeners()
    worker?.on('error', () => {})
    void worker?.terminate()
    failed?.reject(error)
    if (!this.#isClosed) this.#start(seat)
  }
}

const finish = (seat: Seat): Waiting | null => {
  const { waiting } = seat
  if (seat.timer !== null) clearTimeout(seat.timer)
  seat.timer = null
  seat.waiting = null
  return waiting
}

/** Worker threads for large bodies. They start with the first one and do not keep the process alive. */
export const openScanPool = (options: {
  readonly workers: number
  readonly queue_limit: number
}): ScanPool => new WorkerPool(options.workers, options.queue_limit)
