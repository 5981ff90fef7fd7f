/** The best of so many runs counts. */
const RUNS = 5
/** Shorter runs are repeated, since the clock counts microseconds. */
const SHORTEST_US = 200
const REPEATED_MAX = 4_096
/** Cheaper than this, whatever its size, a function is not compared with itself. */
const NEGLIGIBLE_PASSES = 10

export const RATIO_MAX = 2.3
export const PASSES_MAX = 100

export interface Cost {
  /** Of the input at the limit, in plain passes over its bytes. */
  readonly passes: number
  /** Of the input at the limit to that of half of it. */
  readonly ratio: number
  readonly ms: number
}

const cpuUs = (run: () => void, times: number): number => {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

const bestUs = (run: () => void, runs: number): number => {
  let best = Number.POSITIVE_INFINITY
  let times = 1
  for (let i = 0; i < runs; i++) {
    const took_us = cpuUs(run, times)
    best = Math.min(best, took_us)
    if (took_us * times >= SHORTEST_US || times >= REPEATED_MAX) continue
    times *= 8
    i = -1
  }
  return best
}

/** Reads every byte once, as a hash does. */
const pass = (bytes: Uint8Array): number => {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum = (Math.imul(sum, 31) + (bytes[i] ?? 0)) | 0
  return sum
}

let us_per_byte = 0

/** Measured again for each text, so that it counts the same load of the machine. */
function passUs(bytes: number): number {
  const large = Buffer.alloc(1 << 18, 7)
  if (us_per_byte === 0) bestUs(() => void pass(large), RUNS)
  const now = bestUs(() => void pass(large), 2) / large.length
  us_per_byte = us_per_byte === 0 ? now : Math.min(us_per_byte, now)
  return us_per_byte * bytes
}

/**
 * The cost of a function for a text of so many bytes. A text that looks too expensive is measured again, best of five, so that a
 * busy machine is not taken for a slow function.
 */
export function costOf(run: (bytes: number) => () => void, bytes: number): Cost {
  const whole = run(bytes)
  const plain_us = passUs(bytes)
  let whole_us = bestUs(whole, 1)
  if (whole_us < plain_us * NEGLIGIBLE_PASSES)
    return { passes: whole_us / plain_us, ratio: 1, ms: whole_us / 1_000 }
  const half = run(bytes / 2)
  let half_us = bestUs(half, 1)
  for (let again = 0; again < 3 && isTooMuch(whole_us, half_us, plain_us); again++) {
    whole_us = Math.min(whole_us, bestUs(whole, RUNS))
    half_us = Math.min(half_us, bestUs(half, RUNS))
  }
  return {
    passes: whole_us / plain_us,
    ratio: whole_us < plain_us * NEGLIGIBLE_PASSES ? 1 : whole_us / half_us,
    ms: whole_us / 1_000,
  }
}

const isTooMuch = (whole_us: number, half_us: number, plain_us: number): boolean =>
  whole_us > plain_us * PASSES_MAX ||
  (whole_us > plain_us * NEGLIGIBLE_PASSES && whole_us > half_us * RATIO_MAX)

export const isLinear = ({ passes, ratio }: Cost): boolean =>
  passes <= PASSES_MAX && ratio <= RATIO_MAX
