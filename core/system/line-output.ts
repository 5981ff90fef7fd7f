import { constants, fstatSync, openSync, writeSync } from 'node:fs'

/** Text that waits for a reader that has fallen behind. Lines beyond it are counted and lost. */
const WAITING_MAX_BYTES = 1 << 20
const RETRY_MS = 50
/** The space that kills free on a full disk (core/redis/disk-reserve.ts) is not for the log. */
const FULL_PAUSE_MS = 10_000

const lostLineAsJson = (lost: number): string =>
  JSON.stringify({ level: 40, time: Date.now(), msg: lostSentence(lost) })

export const lostSentence = (lost: number): string =>
  `${lost} lines of the log are lost because they could not be written`

/**
 * Writes lines to standard output or standard error of a program that has more to do than to print. A reader that is gone or reads
 * nothing and a full disk cost lines, but neither end the program nor make it wait. When lines can be written again, the first one says
 * how many are lost.
 */
export class LineOutput {
  readonly #fd: number
  readonly #lostLine: (lost: number) => string
  readonly #nowMs: () => number
  #waiting: Buffer[] = []
  #waiting_bytes = 0
  #lost = 0
  #paused_until_ms = -Infinity
  #isRetrying = false

  constructor(
    fd: number,
    lostLine: (lost: number) => string = lostLineAsJson,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#fd = withoutWaiting(fd)
    this.#lostLine = lostLine
    this.#nowMs = nowMs
  }

  /** @param text one or more whole lines */
  write(text: string): void {
    const bytes = Buffer.from(text)
    if (this.#waiting_bytes + bytes.length > WAITING_MAX_BYTES) {
      this.#lost++
      return
    }
    this.#enqueue(bytes)
    this.#flush()
  }

  #enqueue(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waiting_bytes += bytes.length
  }

  #flush(): void {
    if (this.#nowMs() < this.#paused_until_ms) return this.#lose()
    for (;;) {
      if (this.#waiting.length === 0 && this.#lost > 0) {
        this.#enqueue(Buffer.from(`${this.#lostLine(this.#lost)}\n`))
        this.#lost = 0
      }
      const [first] = this.#waiting
      if (first === undefined) return
      let written = 0
      try {
        written = writeSync(this.#fd, first)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EAGAIN') return this.#retryLater()
        if (code === 'ENOSPC' || code === 'EDQUOT')
          this.#paused_until_ms = this.#nowMs() + FULL_PAUSE_MS
        return this.#lose()
      }
      this.#waiting_bytes -= written
      if (written === first.length) this.#waiting.shift()
      else this.#waiting[0] = first.subarray(written)
    }
  }

  #lose(): void {
    this.#lost += this.#waiting.length
    this.#waiting = []
    this.#waiting_bytes = 0
  }

  #retryLater(): void {
    if (this.#isRetrying) return
    this.#isRetrying = true
    setTimeout(() => {
      this.#isRetrying = false
      this.#flush()
    }, RETRY_MS).unref()
  }
}

/**
 * A pipe or terminal is opened a second time, because what is set on the given descriptor holds for all programs that share it.
 * Where that is impossible, as for a socket, Node sets it when it opens the stream.
 */
function withoutWaiting(fd: number): number {
  try {
    if (fstatSync(fd).isFile()) return fd
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    void (fd === 2 ? process.stderr : process.stdout)
    return fd
  }
}

/** For a program that has more to do than to print: what Node or a library prints does not end it either. */
export function survivesItsReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}
