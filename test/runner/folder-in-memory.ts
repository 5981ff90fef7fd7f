import { statfsSync } from 'node:fs'

/** In it, what programs write is only in memory. */
const FOLDER = '/dev/shm'
/** The stores that are there at the same time need less. Containers often have 64 MiB. */
const NEEDED_BYTES = 2 ** 30

/** A folder in memory with enough room for the stores of the tests; null where there is none. */
export function folderInMemory(): string | null {
  try {
    const { bavail, bsize } = statfsSync(FOLDER)
    return bavail * bsize < NEEDED_BYTES ? null : FOLDER
  } catch {
    return null
  }
}
