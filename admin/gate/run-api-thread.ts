import { Worker } from 'node:worker_threads'
import { fromRoot } from '../../core/system/root.ts'
import { runDelay_ms } from './run-delay.ts'
import { startPatiently } from './start-patiently.ts'

/** Unix sockets on which the thread serves what came to a listener. */
export type ApiSockets = Readonly<Record<'api' | 'envoy', string>>

export type FromApiThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'pong' }
  /** Which thread it is; see `ownThread`. */
  | { readonly kind: 'thread'; readonly thread: string | null }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'failed'; readonly message: string }

/** A thread that has ended is replaced after this long. */
const START_AGAIN_MS = 1_000

export type ToApiThread = 'ping' | 'stop'

/** Pings within the silence limit, so that one that is late decides nothing. */
const PINGS_IN_LIMIT = 5
/** On a busy machine a thread may take this many times as long. */
const BUSY_PATIENCE = 6
/** A thread that has never answered may still be loading its code on a busy machine. */
const START_LIMIT_MS = 60_000

export interface ApiThreadParts {
  readonly sockets: ApiSockets
  /** A thread that has not answered for so long is ended, and replaced. */
  readonly silence_limit_ms: number
  readonly onTokenMade: (token: string) => void
  readonly log: { error(data: object, message: string): void }
}

export interface ApiThread {
  stop(): Promise<void>
}

/**
 * Runs the API in a thread. A thread that ends unexpectedly, such as out of memory, or that hangs, is replaced; kills are served
 * meanwhile.
 * @throws (rejects) with a message for the operator if the first one cannot start
 */
export async function runApiThread(parts: ApiThreadParts): Promise<ApiThread> {
  let isStopping = false
  const noteFailure = (error: string): void =>
    parts.log.error({ error }, 'the API thread could not be started')
  let running = await startPatiently(() => start(parts), noteFailure)
  const watch = (thread: Running): void => {
    void thread.ended.then(async (error) => {
      if (isStopping) return
      parts.log.error({ error }, 'the API thread ended and is started again')
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS))
        if (isStopping) return
        const replacement = await start(parts).catch((cause: Error) => {
          noteFailure(cause.message)
          return null
        })
        if (replacement === null) continue
        running = replacement
        return watch(replacement)
      }
    })
  }
  watch(running)
  return {
    stop: async () => {
      isStopping = true
      await running.stop()
    },
  }
}

interface Running {
  /** The error that ended it, if there was one. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

async function start(parts: ApiThreadParts): Promise<Running> {
  const { sockets, onTokenMade } = parts
  const worker = new Worker(fromRoot('dist', 'admin', 'api-thread.js'), { workerData: sockets })
  let error = ''
  worker.on('error', (cause) => {
    error = String(cause)
  })
  const ended = new Promise<string>((resolve) => worker.once('exit', () => resolve(error)))
  endIfSilent(worker, parts, ended)
  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromApiThread) => {
      if (message.kind === 'token') onTokenMade(message.token)
      else if (message.kind === 'ready') resolve()
      else if (message.kind === 'failed') reject(new Error(message.message))
    })
    void ended.then((cause) => reject(new Error(cause || 'the API thread ended')))
  })
  return {
    ended,
    stop: async () => {
      const stopped = new Promise<void>((resolve) => {
        worker.on('message', ({ kind }: FromApiThread) => {
          if (kind === 'stopped') resolve()
        })
      })
      worker.postMessage('stop' satisfies ToApiThread)
      await Promise.race([stopped, ended])
      await worker.terminate()
    },
  }
}

/** The watchdog of `agw start` asks the main thread, which answers for the process even if this thread hangs. */
function endIfSilent(
  worker: Worker,
  { silence_limit_ms, log }: Pick<ApiThreadParts, 'silence_limit_ms' | 'log'>,
  ended: Promise<string>,
): void {
  const pause_ms = silence_limit_ms / PINGS_IN_LIMIT
  let limit_ms = Math.max(silence_limit_ms, START_LIMIT_MS)
  // Counted in pauses, not by the clock: no thread answers while the process is stopped. Nor does it while it waits for a core,
  // which on a busy machine says nothing about the thread.
  let silent_ms = 0
  let thread: string | null = null
  let delay_ms = 0
  worker.on('message', (message: FromApiThread) => {
    if (message.kind === 'thread') ({ thread } = message)
    silent_ms = 0
    limit_ms = silence_limit_ms
  })
  const timer = setInterval(() => {
    if (silent_ms >= limit_ms) {
      clearInterval(timer)
      log.error({ silent_ms }, 'the API thread does not answer and is ended')
      void worker.terminate()
      return
    }
    const waited_ms = Math.max(0, runDelay_ms(thread) - delay_ms)
    delay_ms += waited_ms
    // Part of each pause counts in any case, so that a thread that hangs is replaced at last on the busiest machine.
    silent_ms += Math.max(pause_ms / BUSY_PATIENCE, pause_ms - waited_ms)
    worker.postMessage('ping' satisfies ToApiThread)
  }, pause_ms)
  void ended.then(() => clearInterval(timer))
}
