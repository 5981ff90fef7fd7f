import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { isStoreError } from '../../core/redis/is-store-error.ts'
import { ALL_HOURS, UNSEARCHED_MAX } from '../context/archive-hours.ts'
import type { RequestTurns } from '../context/request-turns.ts'
import { waitForReader } from '../http/wait-for-reader.ts'
import type { ActivityFilter } from './activity-filter.ts'
import { ACTIVITY_MEMBERS, activityView } from './activity-view.ts'
import { csvLine } from './csv-line.ts'
import { type SearchParts, searchActivity } from './search-activity.ts'

export type ExportFormat = 'ndjson' | 'csv'

const PAGE = 200

interface ExportOptions {
  /** Only entries before this position in the log; null for all. */
  readonly before: string | null
  /** Hours of the archive that the response has said to be missing. */
  readonly announced?: readonly string[]
  /** A page takes a turn; the wait for the reader does not. */
  readonly turns: Pick<RequestTurns, 'take'>
  readonly format: ExportFormat
  readonly out: Writable
  readonly ended: AbortSignal
}

/** A page that finds little ends then, so that exports of other organizations get their turns. */
const PAGE_BUDGET_MS = 45
/** A page is read again after an error of the store, so that a failover does not end an export. */
const ATTEMPTS_MAX = 6
const RETRY_MS = 2_000
/** The exports of one organization are bounded elsewhere, and wait in their order. */
const ALL_EXPORTS = 'exports'

/**
 * Writes every entry that matches the filter, newest first. Entries written meanwhile are newer and are not included. It holds
 * one page at a time and waits for the reader, and for a store that is unavailable for seconds.
 * @throws (rejects) when it is ended before its last entry, or entries cannot be read that were not announced as missing: the
 *   response must not end as a whole one
 */
export async function exportActivity(
  parts: SearchParts,
  organization_id: string,
  filter: ActivityFilter,
  { before: begin, announced = [], turns, format, out, ended }: ExportOptions,
): Promise<void> {
  const page_parts = { ...parts, budget_ms: PAGE_BUDGET_MS }
  const lineOf = format === 'csv' ? csvOf : ndjsonOf
  const names = new Set(announced)
  // No more are named than so many.
  const isAnnounced = names.has(ALL_HOURS) || names.size >= UNSEARCHED_MAX
  let text = format === 'csv' ? csvLine(ACTIVITY_MEMBERS) : ''
  const readPage = async (before: string | null): Promise<string | null> => {
    // Not null: more pages may wait than there are exports.
    const leave = await turns.take(organization_id, ALL_EXPORTS)
    try {
      const page = await searchActivity(page_parts, organization_id, filter, {
        before,
        limit: PAGE,
      })
      const missing = isAnnounced ? undefined : page.skipped_hours.find((one) => !names.has(one))
      if (missing !== undefined)
        throw new Error(`the archive could not be searched whole: ${missing}`)
      for (const { entry } of page.found) text += lineOf(entry)
      return page.next
    } finally {
      leave?.()
    }
  }
  for (let before: string | null = begin; ; ) {
    ended.throwIfAborted()
    const next = await despiteOutage(() => readPage(before), ended)
    if (text !== '' && !out.write(text)) await waitForReader(out, ended)
    text = ''
    if (next === null) return
    before = next
  }
}

async function despiteOutage<T>(read: () => Promise<T>, ended: AbortSignal): Promise<T> {
  for (let attempts = 1; ; attempts++)
    try {
      return await read()
    } catch (error) {
      if (attempts === ATTEMPTS_MAX || !isStoreError(error)) throw error
      await wait(RETRY_MS, undefined, { signal: ended })
    }
}

const ndjsonOf = (entry: ActivityEntry): string => `${JSON.stringify(activityView(entry))}\n`

const csvOf = (entry: ActivityEntry): string =>
  csvLine(
    Object.values(activityView(entry)).map((value) =>
      typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value),
    ),
  )
