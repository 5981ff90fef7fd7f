import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HEAD_FILE, readArchiveHead } from '../activity/archive-head.ts'
import { archiveKeys, type ArchiveRoots, readArchiveLine } from '../activity/archive-line.ts'
import { listHourFiles, startOfHour } from '../activity/list-hour-files.ts'
import { comparePlaces, msOfPlace } from '../activity/log-place.ts'
import { readArchiveLines } from '../activity/read-archive-lines.ts'
import { CHANGES_MAX, type LoggedChange, readLoggedChange } from './logged-change.ts'

const HOUR_MS = 3_600_000

export interface ArchivedChanges {
  readonly changes: readonly LoggedChange[]
  /** Of the last line; null without an archive. */
  readonly last_place: string | null
  /** Why the archive does not prove that these are all changes until its last line; null if it does. */
  readonly problem: string | null
}

/**
 * The changes that the archive of an organization has after a position. They are proven if the chain verifies from there to the sealed
 * end; all of them are returned either way.
 */
export async function archivedChanges(
  folder: string,
  roots: ArchiveRoots,
  organization_id: string,
  after: string,
): Promise<ArchivedChanges> {
  const own = join(folder, organization_id)
  const all = listHourFiles(own)
  // The hour before has the line that the first one follows.
  const first = all.findIndex((file) => startOfHour(file) + HOUR_MS > msOfPlace(after))
  const files = first < 0 ? all.slice(-1) : all.slice(Math.max(0, first - 1))
  if (files.length === 0) return { changes: [], last_place: null, problem: 'there is no archive' }
  const keys = archiveKeys(roots, organization_id)
  const changes: LoggedChange[] = []
  let problem: string | null = null
  let last: { readonly n: number; readonly place: string; readonly mac: string } | null = null
  const failed = (why: string): void => {
    problem ??= why
  }
  for (const file of files)
    try {
      for await (const text of readArchiveLines(join(own, file))) {
        const line = readArchiveLine(text)
        if (line === null) {
          failed(`${file} has a line that is none of an archive`)
          continue
        }
        const key = keys.find(({ key_id }) => key_id === line.key_id)?.key
        const before: string | null = last?.mac ?? null
        if (last === null && comparePlaces(line.place, after) > 0 && line.n > 1)
          failed('it begins after the backup')
        else if (key === undefined) failed(`the key ${line.key_id} of ${file} is unknown`)
        else if (before !== null && !line.isGenuine(key, before))
          failed(`entry ${line.n} in ${file} was changed, or entries before it are missing`)
        if (/^\{"(gap|cut)":/.test(line.entry_text) && comparePlaces(line.place, after) > 0)
          failed('entries are missing that the store dropped before they were archived')
        last = line
        if (comparePlaces(line.place, after) <= 0) continue
        const change = readLoggedChange(line.entry_text, line.place, organization_id, true)
        if (change === null) continue
        if (changes.length < CHANGES_MAX) changes.push(change)
        else failed(`it has more than ${CHANGES_MAX} changes`)
      }
    } catch (error) {
      failed(`${file} cannot be read: ${(error as Error).message}`)
    }
  const head = existsSync(join(own, HEAD_FILE))
    ? readArchiveHead(readFileSync(join(own, HEAD_FILE), 'utf8'), keys)
    : null
  // A head may be older than the last line if the writer exited between the two writes.
  if (head === null) failed('its head is missing or was changed')
  else if (last !== null && (last.n < head.n || (last.n === head.n && last.mac !== head.mac)))
    failed('it is cut off at the end')
  return {
    changes: problem === null ? changes : changes.map((one) => ({ ...one, is_proven: false })),
    last_place: last?.place ?? null,
    problem,
  }
}
