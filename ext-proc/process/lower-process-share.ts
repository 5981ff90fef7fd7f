import { readFileSync, writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/** A third of what another process gets of a core that both need. */
const NICE = 5
/** The field of /proc/self/stat with the id of the session, counted after the name, which may hold spaces. */
const SESSION_FIELD = 3

/**
 * Lets other processes run first when they need the same core. Linux divides cores among sessions before it divides them among
 * processes (autogroups, outside of containers), so the session of this process gets the lower share too, if it has one of its own.
 */
export function lowerProcessShare(): void {
  if (process.platform !== 'linux') return
  setPriority(Math.min(getPriority() + NICE, constants.priority.PRIORITY_LOW))
  if (!leadsSession()) return
  try {
    writeFileSync('/proc/self/autogroup', String(NICE))
  } catch {
    // A kernel without autogroups.
  }
}

function leadsSession(): boolean {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ')
  return Number(fields?.[SESSION_FIELD]) === process.pid
}
