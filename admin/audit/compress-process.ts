import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { BARE_ENVIRONMENT } from '../../core/system/bare-environment.ts'
import { fromRoot } from '../../core/system/root.ts'
import { type CompressedHour, replaceHour } from './compress-hour.ts'

/** A line to the process. Each is answered by a line. */
export interface CompressJob {
  readonly folder: string
  readonly file: string
}

export interface CompressAnswer {
  /** The file of the job. */
  readonly of: string
  readonly compressed?: CompressedHour
  readonly failure?: { readonly message: string; readonly code: string | undefined }
}

interface Running {
  readonly jobs: Writable
  readonly answers: AsyncIterator<string>
  /** Its exit code, the signal that ended it, or why it could not be started. */
  readonly ended: Promise<string>
  readonly kill: () => void
}

/**
 * `compressHour`, whose long part runs in a process with the lowest priority and a session of its own, which is started with the first
 * file. The hour of a busy deployment takes minutes of CPU time, for which calls would wait.
 */
export class CompressProcess {
  #running: Running | null = null

  /**
   * One file at a time. Aborted, it leaves unfinished files, which are removed before the next attempt.
   * @throws (rejects) as `compressHour` does, with its message and code
   */
  async compress(folder: string, file: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { jobs, answers, ended, kill } = (this.#running ??= start())
    signal.addEventListener('abort', kill, { once: true })
    try {
      jobs.write(`${JSON.stringify({ folder, file } satisfies CompressJob)}\n`)
      const { value, done } = await answers.next()
      if (done === true) {
        kill()
        signal.throwIfAborted()
        throw new Error(`the process that compressed ${file} ended: ${await ended}`)
      }
      const { of, compressed, failure } = JSON.parse(value) as CompressAnswer
      if (failure !== undefined)
        throw Object.assign(new Error(failure.message), { code: failure.code })
      if (of !== file || compressed === undefined)
        throw new Error('the process that compresses sent something else than an answer')
      replaceHour(folder, file, compressed)
    } catch (error) {
      // Its next answer might belong to this file.
      kill()
      this.#running = null
      throw error
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }

  end(): void {
    this.#running?.jobs.end()
    this.#running = null
  }
}

function start(): Running {
  const program = fromRoot('dist', 'admin', 'audit', 'compress-worker.js')
  const child = spawn(process.execPath, [program], {
    detached: true,
    env: BARE_ENVIRONMENT,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code, signal) => resolve(String(signal ?? code)))
  })
  // They are missing if the system refuses a further process.
  const { stdin, stdout } = child as { stdin?: Writable; stdout?: Readable }
  if (stdin === undefined || stdout === undefined)
    throw new Error('no process could be started to compress archive files')
  // An error of the pipe is followed by the end of the process.
  stdin.on('error', () => undefined)
  return {
    jobs: stdin,
    answers: createInterface({ input: stdout })[Symbol.asyncIterator](),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}
