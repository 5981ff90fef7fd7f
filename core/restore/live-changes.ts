import { readRowsAfter } from '../activity/read-rows-after.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { CHANGES_MAX, type LoggedChange, readLoggedChange } from './logged-change.ts'

const ROWS = 500

/** The changes that the log of a running store has after a position, and its first row if rows before it are gone. */
export async function liveChanges(
  redis: RedisClient,
  organization_id: string,
  after: string,
): Promise<{ readonly changes: readonly LoggedChange[]; readonly begins_at: string | null }> {
  const changes: LoggedChange[] = []
  let begins_at: string | null = null
  for (let place = after; ; ) {
    const { rows, has_more, trimmed } = await readRowsAfter(redis, organization_id, place, ROWS)
    if (place === after && trimmed > 0) begins_at = rows[0]?.place ?? null
    for (const row of rows) {
      // A block holds allowed calls alone.
      if (row.isBlock) continue
      for (const entry of row.entries()) {
        const change = readLoggedChange(entry.text, entry.place, organization_id, true)
        if (change === null) continue
        if (changes.length >= CHANGES_MAX) throw new Error(TOO_MANY)
        changes.push(change)
      }
    }
    const last = rows.at(-1)?.place
    if (last === undefined || !has_more) return { changes, begins_at }
    place = last
  }
}

const TOO_MANY = `The log of the store has more than ${CHANGES_MAX} changes after the backup. Use a newer backup.`
