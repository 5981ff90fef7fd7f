import { writeFileSync } from 'node:fs'
import { lowerThreadPriority } from './lower-thread-priority.ts'
import { processStat } from './process-stat.ts'

/**
 * Lets other processes run first when they need the same core. Linux divides cores among sessions before it divides them among
 * processes (autogroups, outside of containers), so the session of this process gets the lower share too, if it has one of its own.
 * @param steps of niceness, up to 19: with 5 it gets a third of what another process gets of a core that both need, with 19 a seventieth
 */
export function lowerProcessShare(steps: number): void {
  lowerThreadPriority(steps)
  if (processStat(process.pid)?.session !== process.pid) return
  try {
    writeFileSync('/proc/self/autogroup', String(steps))
  } catch {
    // A kernel without autogroups.
  }
}
