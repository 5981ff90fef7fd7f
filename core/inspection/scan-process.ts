import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { BARE_ENVIRONMENT } from '../system/bare-environment.ts'
import { processStat } from '../system/process-stat.ts'
import { fromRoot } from '../system/root.ts'
import type { ScanJob, ScanReply } from './answer-job.ts'
import { frameReader, writeFrame } from './frames.ts'
import { freeMemory } from './free-memory.ts'

export interface ScanProcessParts {
  /** The program; others in tests. */
  readonly url: URL | undefined
  /** A process that needs more memory for one body ends; the bytes of bodies do not count. */
  readonly heap_mb: number
  /** @param cpu_ms of the job */
  readonly onReply: (reply: ScanReply, cpu_ms: number) => void
  /** It ended without being told to. */
  readonly onEnd: (error: Error) => void
}

/** A body that something was cut out of, and what was found in it. */
const REPLY_LIMIT_BYTES = 256 << 20

/** A reply has the number of its job, so that it can never count for another one. */
export type Numbered<Value> = Value & { readonly job: number }

/** The descriptor of the child that carries jobs and replies. */
const CHANNEL = 3

/**
 * A process that reads bodies, and does nothing else. It has no credentials: neither the environment nor connections of the one
 * that starts it. It is in a session of its own because Linux shares cores among sessions first (autogroups): a thread that scans
 * would use up the share of the thread that serves calls and kills, whatever its own priority.
 */
export class ScanProcess {
  readonly #child: ChildProcess
  /** None if the process could not be started. */
  readonly #channel: Socket | undefined
  #jobs = 0
  /** What it had used up when it replied to the job before. */
  #cpu_us = 0
  #isOver = false

  /** @throws if the system refuses for another reason than a lack of descriptors or processes, which `onEnd` reports */
  constructor({ url, heap_mb, onReply, onEnd }: ScanProcessParts) {
    const program =
      url === undefined
        ? fromRoot('dist', 'core', 'inspection', 'scan-worker.js')
        : fileURLToPath(url)
    const args = [`--max-old-space-size=${heap_mb}`, program, String(process.pid)]
    const child = spawn(process.execPath, args, {
      detached: true,
      env: BARE_ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    })
    this.#child = child
    this.#channel = (child.stdio as ChildProcess['stdio'] | undefined)?.[CHANNEL] as
      | Socket
      | undefined
    const end = (error: Error): void => {
      if (this.#isOver) return
      this.#isOver = true
      onEnd(error)
    }
    const read = frameReader(REPLY_LIMIT_BYTES, ({ value, bytes }) => {
      const { job, cpu_us, ...reply } = value as Numbered<ScanReply> & { readonly cpu_us: number }
      if (job !== this.#jobs) throw new Error(`a reply to job ${job} of ${this.#jobs}`)
      const used_ms = (cpu_us - this.#cpu_us) / 1_000
      this.#cpu_us = cpu_us
      onReply({ ...reply, body: bytes }, used_ms)
    })
    // An error of the channel is followed by the end of the process.
    this.#channel?.on('error', () => undefined)
    this.#channel?.on('data', (part: Buffer) => {
      if (this.#isOver) return
      try {
        read(part)
      } catch (error) {
        end(new Error(`a scan process sent something else than a reply: ${String(error)}`))
      }
    })
    child.on('error', end)
    child.once('exit', (code, signal) =>
      end(new Error(`a scan process ended with ${signal ?? code}`)),
    )
  }

  /** @param freed memory that is not used any more once the job is sent */
  send(job: ScanJob, freed: ArrayBuffer | null): void {
    const { body, ...rest } = 'body' in job ? job : { ...job, body: null }
    const value: Numbered<object> = { ...rest, job: ++this.#jobs }
    if (this.#channel === undefined) return
    writeFrame(this.#channel, { value, bytes: body }, () => {
      if (freed !== null) freeMemory(freed)
    })
  }

  /** What the present job has used so far. */
  cpuMs(): number {
    const { pid } = this.#child
    const stat = pid === undefined ? null : processStat(pid)
    return stat === null ? 0 : Math.max(0, stat.cpu_us - this.#cpu_us) / 1_000
  }

  /** Whether it keeps the process that started it alive. */
  holdOpen(isHeld: boolean): void {
    const method = isHeld ? 'ref' : 'unref'
    this.#child[method]()
    this.#channel?.[method]()
  }

  async kill(): Promise<void> {
    this.#isOver = true
    const { exitCode, signalCode, pid } = this.#child
    if (exitCode !== null || signalCode !== null || pid === undefined) return
    const ended = once(this.#child, 'exit')
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await ended
  }
}
