import { existsSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'

/** An hour of an archive, since 1970: as it is written, or compressed. */
const HOUR_FILE = /^\d{4}-\d\d-\d\dT\d\d\.ndjson(\.gz)?$/
/** Beside a compressed hour, in place of `.ndjson.gz`: what is needed to search it (core/activity/hour-index.ts). */
export const INDEX_SUFFIX = '.index'

/**
 * The hour files of a folder, from old to new, one for each hour. A plain file beside its compressed one is what counts:
 * the process ended before it could remove it.
 */
export const listHourFiles = (folder: string): string[] =>
  existsSync(folder) ? hourFilesAmong(readdirSync(folder)) : []

/** The same for the names in a folder. */
export function hourFilesAmong(names: readonly string[]): string[] {
  const files = names.filter(isHourFile)
  const there = new Set(files)
  return files.filter((name) => !name.endsWith('.gz') || !there.has(name.slice(0, -3))).sort()
}

/** `Date.parse` takes the 31st of any month, and hour 24, for an hour of the next day. */
function isHourFile(name: string): boolean {
  const start_ms = startOfHour(name)
  return (
    HOUR_FILE.test(name) &&
    start_ms >= 0 &&
    new Date(start_ms).toISOString().startsWith(hourOfFile(name))
  )
}

/** The length of `2026-03-01T00`. */
const HOUR_LENGTH = 13

export const hourOfFile = (path: string): string => basename(path).slice(0, HOUR_LENGTH)

export const startOfHour = (path: string): number => Date.parse(`${hourOfFile(path)}:00:00Z`)

export const indexOfHour = (file: string): string => `${hourOfFile(file)}${INDEX_SUFFIX}`
