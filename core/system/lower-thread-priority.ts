import { constants, getPriority, setPriority } from 'node:os'

/** A thread of the same process then gets nine times as much of a core that both need. */
const STEPS = 10

/**
 * Lowers the priority of a thread of this process, the calling one unless another is named. Relative to what it has: without
 * privileges a process that was started with a low priority cannot raise it. On Linux the priority is that of a thread; elsewhere it
 * would be that of the process, and stays.
 */
export function lowerThreadPriority(steps = STEPS, thread = 0): void {
  if (process.platform !== 'linux') return
  setPriority(thread, Math.min(getPriority(thread) + steps, constants.priority.PRIORITY_LOW))
}
