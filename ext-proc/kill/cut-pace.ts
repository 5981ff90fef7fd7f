import { setImmediate as nextTurn } from 'node:timers/promises'
import { chunksOf } from '../../core/system/chunks-of.ts'
import type { CallInFlight } from './calls-in-flight.ts'

/**
 * Calls of one connection that are cut in one turn of the event loop, some 30 µs each with the code in cache, and much more at first, or
 * where many processes share a processor. Between two turns, Envoy's keepalive is answered.
 */
const CUT_AT_ONCE = 25
/**
 * So many are cut before Envoy has ended them. It needs longer than this end for each, and reads what follows only then: behind thousands
 * it would find the answer to its keepalive so late that it would close the connection, and with it the calls of others.
 */
const UNENDED_MAX = 100
/** Envoy stands, or does not end what was cut: to wait longer helps no other call. */
const STALL_MS = 200

/** What the Envoy of a connection has still to end. */
interface Line {
  unended: number
  ended: number
  /** Who waits for room. */
  readonly waiting: Set<() => void>
}

/** For calls of which it is not known. */
const NO_CONNECTION = {}

/** Cuts calls no faster than Envoy ends them. */
export class CutPace {
  readonly #lines = new WeakMap<object, Line>()
  #busy = 0

  /** Calls are cut as soon as the event loop gets there. */
  get isBusy(): boolean {
    return this.#busy > 0
  }

  /**
   * Of each connection, the first are cut before this returns, whatever else is being cut: a kill of a few calls waits for no other.
   * @param cutNow cuts a call; resolves when Envoy has ended it
   */
  async cut<C extends Pick<CallInFlight, 'connection'>>(
    calls: readonly C[],
    cutNow: (call: C) => Promise<void>,
  ): Promise<void> {
    const byLine = new Map<Line, C[]>()
    for (const call of calls) {
      const line = this.#lineOf(call)
      const own = byLine.get(line)
      if (own === undefined) byLine.set(line, [call])
      else own.push(call)
    }
    const all = [...byLine].map(async ([line, own]) => {
      const ends: Promise<void>[] = []
      for (const some of chunksOf(own, CUT_AT_ONCE)) {
        if (ends.length > 0) {
          await roomIn(line)
          this.#busy++
          await nextTurn()
          this.#busy--
        }
        for (const call of some) ends.push(counted(line, cutNow(call)))
      }
      await Promise.all(ends)
    })
    await Promise.all(all)
  }

  /** The same for one of many that are cut on their own. Resolves when it is cut. */
  async cutOne(call: CallInFlight, cutNow: () => void): Promise<void> {
    const line = this.#lineOf(call)
    if (line.unended >= UNENDED_MAX) await roomIn(line)
    cutNow()
    void counted(line, call.ended)
  }

  #lineOf({ connection = NO_CONNECTION }: Pick<CallInFlight, 'connection'>): Line {
    const known = this.#lines.get(connection)
    const line = known ?? { unended: 0, ended: 0, waiting: new Set() }
    if (known === undefined) this.#lines.set(connection, line)
    return line
  }
}

async function counted(line: Line, end: Promise<void>): Promise<void> {
  line.unended++
  await end
  line.unended--
  line.ended++
  if (line.unended >= UNENDED_MAX) return
  for (const resume of line.waiting) resume()
  line.waiting.clear()
}

/** Resolves when Envoy has few left to end, or ends none any more. */
async function roomIn(line: Line): Promise<void> {
  for (let before = -1; line.unended >= UNENDED_MAX && line.ended !== before; ) {
    before = line.ended
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resume, STALL_MS)
      function resume(): void {
        clearTimeout(timer)
        line.waiting.delete(resume)
        resolve()
      }
      line.waiting.add(resume)
    })
  }
}
