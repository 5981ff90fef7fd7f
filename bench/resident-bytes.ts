import { readFileSync } from 'node:fs'

/**
 * Memory of a process that is in RAM.
 * @throws when the process has ended
 */
export const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
