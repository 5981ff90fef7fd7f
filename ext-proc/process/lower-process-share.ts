import { writeFileSync } from 'node:fs'
import { lowerThreadPriority } from '../../core/lower-thread-priority.ts'
import { processStat } from '../../core/process-stat.ts'

/** A third of what another process gets of a core that both need. */
const NICE = 5

/**
 * Lets other processes run first when they need the same core. Linux divides cores among sessions before it divides them among
 * processes (autogroups, outside of containers), so the session of this process gets the lower share too, if it has one of its own.
 */
export function lowerProcessShare(): void {
  lowerThreadPriority(NICE)
  if (processStat(process.pid)?.session !== process.pid) return
  try {
    writeFileSync('/proc/self/autogroup', String(NICE))
  } catch {
    // A kernel without autogroups.
  }
}
