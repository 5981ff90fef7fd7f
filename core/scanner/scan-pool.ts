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
type Seat = { worker: Worker; waiting: Waiting | null; timer: NodeJS.Timeout | null }

const isInline = (body: Buffer | null, content_encoding: string | null): boolean => {
  const size = body?.length ?? 0
  const isCompressed =
    content_encoding !== null && content_encoding !== '' && content_encoding !== 'identity'
  return size <= (isCompressed ? INLINE_COMPRESSED_BYTES : INLINE_BYTES)
}

/** Worker threads for large bodies. They start with the first one and do not keep the process alive. */
export const openScanPool = (options: {
  readonly workers: number
  readonly queue_limit: number
}): ScanPool => {
  const seats: Seat[] = []
  const queue: Waiting[] = []
  let lastId = 0
  let isClosed = false

  const finish = (seat: Seat): Waiting | null => {
    const { waiting } = seat
    if (seat.timer !== null) clearTimeout(seat.timer)
    seat.timer = null
    seat.waiting = null
    return waiting
  }

  const start = (seat: Seat): void => {
    const waiting = queue.shift()
    if (waiting === undefined) {
      seat.worker.unref()
      return
    }
    seat.waiting = waiting
    seat.worker.ref()
    seat.timer = setTimeout(
      () => replace(seat, new Error(`a scan took more than ${JOB_TIMEOUT_MS} ms`)),
      JOB_TIMEOUT_MS,
    )
    seat.worker.postMessage(waiting.job)
  }

  const replace = (seat: Seat, error: Error): void => {
    const failed = finish(seat)
    seat.worker.removeAllListeners()
    seat.worker.on('error', () => {})
    void seat.worker.terminate()
    failed?.reject(error)
    if (isClosed) return
    seat.worker = hire(seat)
    start(seat)
  }

  const hire = (seat: Seat): Worker => {
    const worker = new Worker(new URL('./scan-worker.js', import.meta.url))
    worker.on('message', (message: { result?: ScanResult; error?: string }) => {
      const waiting = finish(seat)
      if (message.result !== undefined) waiting?.resolve(message.result)
      else waiting?.reject(new Error(`the scanner failed: ${message.error}`))
      start(seat)
    })
    worker.on('error', (error) => replace(seat, error))
    worker.on('exit', () => replace(seat, new Error('a scan worker ended')))
    return worker
  }

  const enqueue = (
    kind: ScanJob['kind'],
    input: ScanJob['input'],
    settings: CompiledInjectionSettings,
    limit_bytes: number,
  ): Promise<PooledResult> | PooledResult => {
    const idle = seats.find((seat) => seat.waiting === null)
    if (
      isClosed ||
      (idle === undefined && seats.length >= options.workers && queue.length >= options.queue_limit)
    )
      return { kind: 'busy' }
    lastId += 1
    const job: ScanJob = { id: lastId, kind, input, settings: settings.source, limit_bytes }
    return new Promise((resolve, reject) => {
      queue.push({ job, resolve, reject })
      if (idle !== undefined) start(idle)
      else if (seats.length < options.workers) {
        const seat = { waiting: null, timer: null } as unknown as Seat
        seat.worker = hire(seat)
        seats.push(seat)
        start(seat)
      }
    })
  }

  return {
    scanRequest: (input, settings, limit_bytes = INFLATED_LIMIT_BYTES) =>
      isInline(input.body, input.content_encoding)
        ? scanRequest(input, settings, limit_bytes)
        : enqueue('request', input, settings, limit_bytes),
    scanResponse: (input, settings, limit_bytes = INFLATED_LIMIT_BYTES) =>
      isInline(input.body, input.content_encoding)
        ? scanResponseBody(input, settings, limit_bytes)
        : enqueue(
            'response',
            { ...input, path: '', query: '', headers: [] },
            settings,
            limit_bytes,
          ),
    close: async () => {
      isClosed = true
      for (const waiting of queue.splice(0)) waiting.resolve({ kind: 'busy' })
      await Promise.all(
        seats.map(async (seat) => {
          finish(seat)?.resolve({ kind: 'busy' })
          seat.worker.removeAllListeners()
          await seat.worker.terminate()
        }),
      )
    },
  }
}
