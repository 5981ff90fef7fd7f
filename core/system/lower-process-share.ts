import { readdirSync, writeFileSync } from 'node:fs'
import { lowerThreadPriority } from './lower-thread-priority.ts'
import { processStat } from './process-stat.ts'

/**
 * Lets other processes run first when they need the same core. Linux divides cores among sessions before it divides them among
 * processes (autogroups, outside of containers), so the session of this process gets the lower share too, if it has one of its own.
 * @param steps of niceness, up to 19: with 5 it gets a third of what another process gets of a core that both need, with 19 a seventieth
 */
export function lowerProcessShare(steps: number): void {
  lowerAllThreads(steps)
  if (processStat(process.pid)?.session !== process.pid) return
  try {
    writeFileSync('/proc/self/autogroup', String(steps))
  } catch {
    // A kernel without autogroups.
  }
}

/** Threads that Node has started already keep the priority that they have, those of zlib and files among them. Later ones inherit it. */
function lowerAllThreads(steps: number): void {
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task').map(Number)) {
    try {
      lowerThreadPriority(steps, thread)
    } catch {
      // The thread has ended.
    }
  }
}
