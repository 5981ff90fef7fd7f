import { readFileSync } from 'node:fs'

/** The unit of times in /proc on every Linux that Node runs on. */
const US_PER_TICK = 10_000

export interface ProcessStat {
  readonly parent: number
  /** The id of its session, which is that of the process that leads it. */
  readonly session: number
  readonly niceness: number
  /** User and system time so far, to 10,000 µs. */
  readonly cpu_us: number
  /** The same of its children that have ended, and of theirs. */
  readonly children_cpu_us: number
}

/** What Linux says of a process in /proc/PID/stat; null for one that has ended, even between two calls of the system. */
export function processStat(pid: number): ProcessStat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The name before them may hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ')
  const at = (field: number): number => Number(fields[field])
  return {
    parent: at(1),
    session: at(3),
    niceness: at(16),
    cpu_us: (at(11) + at(12)) * US_PER_TICK,
    children_cpu_us: (at(13) + at(14)) * US_PER_TICK,
  }
}
