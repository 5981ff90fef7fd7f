import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'

/** A disk that has not answered for this long hangs. */
const ANSWER_LIMIT_MS = 5_000
/** The process has four threads for files, host names and compression, and a read that hangs holds one of them. */
const AT_ONCE = 2

/** The disk does not respond. Not even a time-out ends a read of it. */
export class DiskHangs extends Error {}

/**
 * Reads of a disk that may hang, such as one of a network: each has a time limit, and while one hangs all others fail at once, so
 * that they hold neither the request that waits for them nor a thread.
 */
export class DiskReads {
  readonly #limit_ms: number
  readonly #waiting: { readonly go: () => void; readonly fail: (error: Error) => void }[] = []
  #running = 0
  #hanging = 0

  constructor(limit_ms = ANSWER_LIMIT_MS) {
    this.#limit_ms = limit_ms
  }

  /**
   * @param drop gets a result that comes too late
   * @throws (rejects) DiskHangs, or what `read` rejects with
   */
  async run<T>(read: () => Promise<T>, drop: (late: T) => void = () => undefined): Promise<T> {
    if (this.#hanging > 0) throw new DiskHangs()
    if (this.#running < AT_ONCE) this.#running++
    else await new Promise<void>((go, fail) => this.#waiting.push({ go, fail }))
    return await new Promise((resolve, reject) => {
      let isLate = false
      const giveUp = (): void => {
        isLate = true
        this.#hanging++
        for (const { fail } of this.#waiting.splice(0)) fail(new DiskHangs())
        reject(new DiskHangs())
      }
      let check: NodeJS.Immediate | undefined
      // After a pause of this process, results that are there are taken first.
      const timer = setTimeout(() => (check = setImmediate(giveUp)), this.#limit_ms)
      const end = (): void => {
        clearTimeout(timer)
        clearImmediate(check)
        if (isLate) this.#hanging--
        const next = this.#waiting.shift()
        if (next === undefined) this.#running--
        else next.go()
      }
      read().then(
        (result) => {
          end()
          if (isLate) drop(result)
          else resolve(result)
        },
        (error: Error) => {
          end()
          reject(error)
        },
      )
    })
  }

  /** The file must be closed with `closeFile`. */
  open(path: string): Promise<FileHandle> {
    return this.run(() => open(path, 'r'), closeFile)
  }
}

/** Without waiting for it: a read of the file may hang. */
export const closeFile = (file: FileHandle): void => void file.close().catch(() => undefined)
