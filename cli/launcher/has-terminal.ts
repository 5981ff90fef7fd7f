import { closeSync, openSync } from 'node:fs'

/** Whether this process has a terminal that is still there. After it is closed, the kernel refuses to open it. */
export function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
