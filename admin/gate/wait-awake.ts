import { setTimeout as wait } from 'node:timers/promises'

/** So often at most, on a machine that is always late. */
const ATTEMPTS_MAX = 10

/**
 * Waits, and again as long as this process is held up meanwhile, as on a busy machine: requests that have come in the meantime are
 * read only after the timer.
 */
export async function waitAwake(ms: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const began_ms = performance.now()
    await wait(ms)
    if (performance.now() - began_ms < ms * 2) return
  }
}
