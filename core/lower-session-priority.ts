import { writeFileSync } from 'node:fs'

/** The session then gets a third of the share of others. With 10, a body of 64 kB took 17 to 57 ms on a busy machine. */
const STEPS = 5

/**
 * Lowers the priority of the session of this process. Where Linux shares cores among sessions (autogroups), the priority of a
 * thread only counts within its session.
 */
export function lowerSessionPriority(): void {
  try {
    writeFileSync('/proc/self/autogroup', String(STEPS))
  } catch {
    // Not every kernel has autogroups.
  }
}
