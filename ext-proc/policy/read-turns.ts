import { TurnsFullError } from './step-turns.ts'

/** Reads of one organization at a time, of up to 2 MB each: they share the connection with all others. */
const AT_ONCE = 8
/** Of one organization. */
const WAITING_MAX = 2_000

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/** Reads from the store of which a few at a time run for each organization, so that none delays the replies to the others. */
export class ReadTurns {
  readonly #lines = new Map<string, Line>()

  /** @throws (rejects) with the error of the read, or TurnsFullError */
  async run<T>(organization_id: string, read: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(organization_id) ?? { running: 0, waiting: [] }
    this.#lines.set(organization_id, line)
    if (line.running < AT_ONCE) line.running++
    else if (line.waiting.length < WAITING_MAX)
      await new Promise<void>((resolve) => line.waiting.push(resolve))
    else throw new TurnsFullError()
    try {
      return await read()
    } finally {
      const next = line.waiting.shift()
      // The place passes to the one that waits.
      if (next !== undefined) next()
      else if (--line.running === 0) this.#lines.delete(organization_id)
    }
  }
}
