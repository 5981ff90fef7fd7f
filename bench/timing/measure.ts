import { type Filling, fillTo } from './fillings.ts'
import type { Prepared, Subject } from './subjects.ts'

/** The best of so many runs counts. */
const RUNS = 5
/** Shorter runs are repeated, since the clock counts microseconds. */
const SHORTEST_US = 200
const REPEATED_MAX = 512
/** Cheaper than this, whatever its size, a function is not compared with itself. */
const NEGLIGIBLE_PASSES = 10

export const RATIO_MAX = 2.3
export const PASSES_MAX = 100

/** Prepares a run with at most so many bytes. Those of another turn differ, so that no cache answers. */
export type Prepare = (bytes: number, turn: number) => Prepared

export interface Cost {
  /** Of the input at the limit, in plain passes over its bytes. */
  readonly passes: number
  /** Of the input at the limit to that of half of it. */
  readonly ratio: number
  readonly ms: number
}

/** The least CPU time that a function has taken for texts of one size; every further run can only lower it. */
class Best {
  us = Number.POSITIVE_INFINITY
  /** As many were read. */
  read_bytes = 0
  readonly #prepare: Prepare
  readonly #bytes: number
  #times = 1
  #turn = 0

  constructor(prepare: Prepare, bytes: number) {
    this.#prepare = prepare
    this.#bytes = bytes
  }

  /** @param isExact whether short runs are repeated until the clock can tell them apart */
  run(runs: number, isExact = true): void {
    for (let i = 0; i < runs; i++) {
      const made = Array.from({ length: this.#times }, () =>
        this.#prepare(this.#bytes, this.#turn++ % REPEATED_MAX),
      )
      const before = process.cpuUsage()
      for (const { run } of made) run()
      const { user, system } = process.cpuUsage(before)
      const took_us = user + system
      this.read_bytes = made[0]?.bytes ?? 0
      this.us = Math.min(this.us, took_us / this.#times)
      if (!isExact || took_us >= SHORTEST_US || this.#times >= REPEATED_MAX) continue
      this.#times *= 8
      i = -1
    }
  }
}

/** Reads every byte once, as a hash does. */
const pass = (bytes: Uint8Array): number => {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum = (Math.imul(sum, 31) + (bytes[i] ?? 0)) | 0
  return sum
}

const large = Buffer.alloc(1 << 18, 7)
const plain = new Best(() => ({ bytes: large.length, run: () => pass(large) }), large.length)

/** Measured again for each text, so that it counts the same load of the machine. */
function passUs(bytes: number): number {
  plain.run(plain.us === Number.POSITIVE_INFINITY ? RUNS : 1)
  return (plain.us / large.length) * bytes
}

/** How much of the text is read once it is framed and escaped is the same for all sizes. */
const SAMPLE_BYTES = 4_096

/** A subject with a text that is as long as the limit allows once it is framed and escaped. */
export function filled({ prepare }: Subject, filling: Filling): Prepare {
  const sample = prepare(fillTo(SAMPLE_BYTES, filling)).bytes
  const share = Math.min(1, SAMPLE_BYTES / sample)
  return (bytes, turn) => prepare(fillTo(bytes * share, filling, turn))
}

/**
 * The cost of a function for input of so many bytes, and of half as many. What looks too expensive is measured again, best of
 * five, so that a busy machine is not taken for a slow function.
 * @param repeats 0: a first impression
 */
export function costOf(prepare: Prepare, bytes: number, repeats: number): Cost {
  const whole = new Best(prepare, bytes)
  const half = new Best(prepare, bytes / 2)
  whole.run(1, false)
  // Some texts vanish when they are encoded.
  const plain_us = passUs(Math.max(whole.read_bytes, bytes / 2))
  const isNegligible = (): boolean => whole.us < plain_us * NEGLIGIBLE_PASSES
  const isTooMuch = (): boolean =>
    whole.us > plain_us * PASSES_MAX || whole.us > half.us * RATIO_MAX
  if (!isNegligible()) half.run(1, false)
  for (let again = 0; again < repeats && !isNegligible() && isTooMuch(); again++) {
    whole.run(1)
    half.run(1)
  }
  return {
    passes: whole.us / plain_us,
    ratio: isNegligible() ? 1 : whole.us / half.us,
    ms: whole.us / 1_000,
  }
}

export const isLinear = ({ passes, ratio }: Cost): boolean =>
  passes <= PASSES_MAX && ratio <= RATIO_MAX

const SHARE = 8
const ATTEMPTS = 5

/**
 * For a test that a busy machine must not fail: what is quadratic costs 64 times as much for 8 times the text, what is linear 8
 * times. Only what costs more than 24 times as much in each of five attempts grows too fast.
 * @returns what the attempts showed, if all did
 */
export function growthIfTooFast(prepare: Prepare, bytes: number): string | null {
  const whole = new Best(prepare, bytes)
  const part = new Best(prepare, bytes / SHARE)
  const shown: string[] = []
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    whole.run(attempt)
    if (whole.us < passUs(whole.read_bytes) * NEGLIGIBLE_PASSES) return null
    part.run(attempt)
    if (whole.us <= 3 * SHARE * part.us) return null
    shown.push(`${whole.us.toFixed(0)} for ${part.us.toFixed(0)} µs`)
  }
  return shown.join(', ')
}
