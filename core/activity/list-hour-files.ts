import { existsSync, readdirSync } from 'node:fs'

/** An hour of an archive: as it is written, or compressed. */
const HOUR_FILE = /^\d{4}-\d\d-\d\dT\d\d\.ndjson(\.gz)?$/

/**
 * The hour files of a folder, from old to new, one for each hour. A plain file beside its compressed one is what counts:
 * the process ended before it could remove it.
 */
export function listHourFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => HOUR_FILE.test(name))
  const there = new Set(names)
  return names.filter((name) => !name.endsWith('.gz') || !there.has(name.slice(0, -3))).sort()
}
