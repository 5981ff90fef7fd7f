import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { fromRoot } from '../root.ts'
import type { ScanJob, ScanReply } from './answer-job.ts'
import { frameReader, writeFrame } from './frames.ts'
import { freeMemory } from './free-memory.ts'

export interface ScanProcessParts {
  /** The program; others in tests. */
  readonly url: URL | undefined
  /** A process that needs more memory for one body ends; the bytes of bodies do not count. */
  readonly heap_mb: number
  readonly onReply: (reply: ScanReply) => void
  /** It ended without being told to. */
  readonly onEnd: (error: Error) => void
}

/** What Node itself may need to start. */
const ENVIRONMENT: NodeJS.ProcessEnv =
  process.env['LD_LIBRARY_PATH'] === undefined
    ? {}
    : { LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'] }

/** The descriptor of the child that carries jobs and replies. */
const CHANNEL = 3

/**
 * A process that reads bodies, and does nothing else. It has no credentials: neither the environment nor connections of the one
 * that starts it. It is in a session of its own because Linux shares cores among sessions first (autogroups): a thread that scans
 * would use up the share of the thread that serves calls and kills, whatever its own priority.
 */
export class ScanProcess {
  readonly #child: ChildProcess
  readonly #channel: Socket
  #isOver = false

  constructor({ url, heap_mb, onReply, onEnd }: ScanProcessParts) {
    const program =
      url === undefined
        ? fromRoot('dist', 'core', 'inspection', 'scan-worker.js')
        : fileURLToPath(url)
    const args = [`--max-old-space-size=${heap_mb}`, program]
    const child = spawn(process.execPath, args, {
      detached: true,
      env: ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    })
    this.#child = child
    this.#channel = child.stdio[CHANNEL] as Socket
    const end = (error: Error): void => {
      if (this.#isOver) return
      this.#isOver = true
      onEnd(error)
    }
    // An error of the channel is followed by the end of the process.
    this.#channel.on('error', () => undefined)
    this.#channel.on(
      'data',
      frameReader(({ value, bytes }) => onReply({ ...(value as ScanReply), body: bytes })),
    )
    child.once('error', end)
    child.once('exit', (code, signal) =>
      end(new Error(`a scan process ended with ${signal ?? code}`)),
    )
  }

  /** @param freed memory that is not used any more once the job is sent */
  send(job: ScanJob, freed: ArrayBuffer | null): void {
    const { body, ...rest } = job.kind === 'texts' ? { ...job, body: null } : job
    writeFrame(this.#channel, { value: rest, bytes: body === null ? null : asBuffer(body) }, () => {
      if (freed !== null) freeMemory(freed)
    })
  }

  /** Whether it keeps the process that started it alive. */
  holdOpen(isHeld: boolean): void {
    const method = isHeld ? 'ref' : 'unref'
    this.#child[method]()
    this.#channel[method]()
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

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)
