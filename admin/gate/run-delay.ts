import { readFileSync, readlinkSync } from 'node:fs'

/** The path of the calling thread below /proc, such as `42/task/43`; null where the system has none. */
export function ownThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return null
  }
}

/**
 * How long a thread has waited for a core since it began, in milliseconds; 0 if the system does not say.
 * Source: the second number of /proc/PID/task/TID/schedstat, in nanoseconds.
 * @param thread what `ownThread` has returned in that thread
 */
export function runDelay_ms(thread: string | null): number {
  if (thread === null) return 0
  try {
    const [, delay_ns] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')
    return Number(delay_ns ?? 0) / 1e6
  } catch {
    return 0
  }
}
