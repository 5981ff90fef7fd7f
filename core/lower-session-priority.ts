import { writeFileSync } from 'node:fs'
import { lowerThreadPriority, PRIORITY_STEPS } from './lower-thread-priority.ts'

/**
 * Lowers the priority of a process that has a session of its own. Where Linux shares cores among sessions (autogroups), the
 * priority of a thread only counts within its session.
 */
export function lowerSessionPriority(): void {
  lowerThreadPriority()
  try {
    writeFileSync('/proc/self/autogroup', String(PRIORITY_STEPS))
  } catch {
    // Not every kernel has autogroups.
  }
}
