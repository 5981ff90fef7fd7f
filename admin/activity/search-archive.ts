import type { FileHandle } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { hasIndex, indexName } from '../../core/activity/activity-index.ts'
import { readArchiveLine } from '../../core/activity/archive-line.ts'
import {
  type IndexMember,
  type IndexPart,
  membersOfList,
  membersOfRequest,
} from '../../core/activity/hour-index.ts'
import { indexHash } from '../../core/activity/index-hash.ts'
import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'
import { readAt } from '../../core/activity/read-at.ts'
import { readAhead } from '../../core/system/read-ahead.ts'
import {
  type ActivityFilter,
  matchesFilter,
  mayHold,
  roughFilter,
  WRITTEN_AFTER_MAX_MS,
  WRITTEN_BEFORE_MAX_MS,
} from './activity-filter.ts'
import {
  ALL_HOURS,
  type ArchiveHour,
  type ArchiveHours,
  indexPath,
  isMissing,
  type LoadedIndex,
} from '../context/archive-hours.ts'
import { closeFile, DiskHangs, type DiskReads } from '../context/disk-reads.ts'
import { plainPortions } from './plain-portions.ts'
import { readStoredEntry } from './read-stored-entry.ts'
import type { Placed } from './search-activity.ts'

const HOUR_MS = 3_600_000
/** Indexes and members that one search reads at the same time. */
const INDEXES_AT_ONCE = 8
const MEMBERS_AT_ONCE = 4
/** Requests are served at least this often. */
const STEP_MS = 4
const SKIPPED_MAX = 100
/** The largest members of the longest hours have half of it. */
const MEMBER_BYTES_MAX = 4 << 20
const LINE_FEED = 0x0a
const EMPTY = Buffer.alloc(0)
const inflate = promisify(gunzip)

interface ArchivePage {
  readonly found: readonly Placed[]
  readonly next: string | null
  readonly skipped_hours: readonly string[]
  /** Where the archive begins; null if it is empty. */
  readonly oldest_ms: number | null
}

/** Lines that were looked at, in their order, and where to go on below them; null if the lines do not say. */
interface Portion {
  readonly text: Buffer
  readonly floor: string | null
  /** The hour, if entries of it could not be looked at. */
  readonly skipped: string | null
}

/**
 * Entries that match, newest first, before a place (null: from the newest). Reads at least one portion, then as many as there is
 * time for. What an index says is only where to look: every entry is compared with the filter.
 */
export async function searchArchive(
  archive: ArchiveHours,
  organization_id: string,
  filter: ActivityFilter,
  {
    before,
    limit,
    nowMs,
    end_ms,
  }: {
    readonly before: string | null
    readonly limit: number
    readonly nowMs: () => number
    readonly end_ms: number
  },
): Promise<ArchivePage> {
  const upper = upperOf(before, filter.to_ms)
  const listed = await archive.list(organization_id, msBelow(upper))
  const hours = listed ?? []
  const skipped = new Set<string>(listed === null ? [ALL_HOURS] : [])
  const found: Placed[] = []
  const page = (next: string | null): ArchivePage => ({
    found,
    // Nothing is older than the first position, which no cursor names.
    next: next !== null && comparePlaces(next, '0-0') > 0 ? next : null,
    skipped_hours: [...skipped],
    oldest_ms: hours[0]?.start_ms ?? null,
  })
  let floor = upper
  let began_ms = nowMs()
  try {
    for await (const portion of portionsOf(archive, hours, filter, upper)) {
      if (portion.skipped !== null && skipped.size < SKIPPED_MAX) skipped.add(portion.skipped)
      for (const placed of matchesIn(portion.text, organization_id, filter, upper)) {
        found.push(placed)
        if (found.length === limit) return page(placed.place)
      }
      // A portion that does not say where it begins is never the last one, or the next page would begin with it again.
      const isLower =
        portion.floor !== null && (floor === null || comparePlaces(portion.floor, floor) < 0)
      if (isLower) floor = portion.floor
      if (isLower && nowMs() > end_ms) return page(floor)
      if (nowMs() - began_ms < STEP_MS) continue
      await turn()
      began_ms = nowMs()
    }
  } catch (error) {
    if (!(error instanceof DiskHangs)) throw error
    return { found, next: null, skipped_hours: [...skipped, ALL_HOURS], oldest_ms: null }
  }
  return page(null)
}

async function* portionsOf(
  archive: ArchiveHours,
  hours: readonly ArchiveHour[],
  filter: ActivityFilter,
  upper: string | null,
): AsyncGenerator<Portion> {
  const upper_ms = msBelow(upper)
  const lower_ms = Math.max(0, (filter.from_ms ?? 0) - WRITTEN_BEFORE_MAX_MS)
  const wanted = hours
    .filter(({ start_ms }) => start_ms <= upper_ms && start_ms + HOUR_MS > lower_ms)
    .toReversed()
  const read = (hour: ArchiveHour): Promise<LoadedIndex | null> =>
    hour.isPlain ? Promise.resolve(null) : archive.index(hour)
  const isWithin = ({ first_ms, last_ms }: IndexMember): boolean =>
    first_ms <= upper_ms && last_ms >= lower_ms
  for await (const { item: hour, result } of readAhead(wanted, INDEXES_AT_ONCE, read)) {
    try {
      yield* hour.isPlain
        ? plainHour(archive, hour, filter, { upper, isWithin })
        : compressedHour(archive, hour, result, filter, isWithin)
    } catch (error) {
      if (error instanceof DiskHangs) throw error
      // The file is damaged, or may not be read; the other hours can be searched all the same.
      archive.noteDamage(hour)
      yield { text: EMPTY, floor: null, skipped: hour.name }
    }
    yield { text: EMPTY, floor: `${hour.start_ms}-0`, skipped: null }
  }
}

async function* plainHour(
  archive: ArchiveHours,
  hour: ArchiveHour,
  filter: ActivityFilter,
  { upper, isWithin }: { readonly upper: string | null; readonly isWithin: IsWithin },
): AsyncGenerator<Portion> {
  const file = await openIfThere(archive.disk, `${hour.path}.ndjson`)
  if (file === null) {
    // It was compressed since the folder was listed.
    yield* compressedHour(archive, hour, await archive.index(hour), filter, isWithin)
    return
  }
  try {
    for await (const text of plainPortions(archive.disk, file, upper)) yield portionOf(text)
  } finally {
    closeFile(file)
  }
}

async function* compressedHour(
  archive: ArchiveHours,
  hour: ArchiveHour,
  loaded: LoadedIndex | null,
  filter: ActivityFilter,
  isWithin: IsWithin,
): AsyncGenerator<Portion> {
  const members = loaded === null ? null : await membersOf(archive, hour, loaded, filter)
  if (members?.length === 0) return
  const file = await openIfThere(archive.disk, `${hour.path}.ndjson.gz`)
  // Deleted by retention.
  if (file === null) return
  try {
    const { size } = await archive.disk.run(() => file.stat())
    if (members === null || size !== loaded?.index.file_bytes) {
      if (members !== null) await archive.discard(hour)
      yield { text: EMPTY, floor: null, skipped: hour.name }
      return
    }
    const wanted = members.map((number) => loaded.index.member(number)).filter(isWithin)
    const read = (member: IndexMember): Promise<Buffer | null> =>
      readMember(archive.disk, file, member)
    // Others of its first millisecond may be in the member before it.
    for await (const { item, result } of readAhead(wanted.reverse(), MEMBERS_AT_ONCE, read)) {
      if (result === null) archive.noteDamage(hour)
      yield result === null
        ? { text: EMPTY, floor: `${item.first_ms + 1}-0`, skipped: hour.name }
        : portionOf(result)
    }
  } finally {
    closeFile(file)
  }
}

/** The members that may hold an entry; null if the index is damaged, and is made again. */
async function membersOf(
  archive: ArchiveHours,
  hour: ArchiveHour,
  { index, bytes }: LoadedIndex,
  { equal, request_id }: ActivityFilter,
): Promise<readonly number[] | null> {
  const wanted: { readonly part: IndexPart; readonly read: (text: Buffer) => number[] }[] = []
  for (const [member, value] of equal) {
    if (!hasIndex(member, value)) continue
    const part = index.listOf(indexHash(indexName(member, value)))
    if (part === null) return []
    wanted.push({ part, read: (list) => membersOfList(list, part, index.members) })
  }
  if (request_id !== null) {
    const hash = indexHash(request_id)
    const part = index.bucketOf(hash, bytes)
    if (part.bytes === 0) return []
    wanted.unshift({ part, read: (bucket) => membersOfRequest(bucket, part, hash) })
  }
  if (wanted.length === 0) return Array.from({ length: index.members }, (_, i) => i)
  const file = await openIfThere(archive.disk, indexPath(hour))
  if (file === null) return null
  try {
    let members: readonly number[] | null = null
    for (const { part, read } of wanted) {
      if (part.at + part.bytes > bytes) throw new Error('a part of an index is outside of it')
      const text = await archive.disk.run(() => readAt(file, part.at, part.bytes))
      const own = new Set(read(text))
      members = (members ?? [...own]).filter((one) => own.has(one))
      if (members.length === 0) break
    }
    return members ?? []
  } catch (error) {
    // A disk that hangs or fails says nothing about the index.
    if (error instanceof DiskHangs || isSystemError(error)) throw error
    await archive.discard(hour)
    return null
  } finally {
    closeFile(file)
  }
}

const isSystemError = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).errno !== undefined

type IsWithin = (member: IndexMember) => boolean

async function openIfThere(disk: DiskReads, path: string): Promise<FileHandle | null> {
  try {
    return await disk.open(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** The text of a member; null if the hour file is damaged there. */
async function readMember(
  disk: DiskReads,
  file: FileHandle,
  { at, bytes, text_bytes }: IndexMember,
): Promise<Buffer | null> {
  if (Math.max(bytes, text_bytes) > MEMBER_BYTES_MAX) return null
  const member = await disk.run(() => readAt(file, at, bytes))
  try {
    // One piece, which the member fills.
    const options = { chunkSize: text_bytes + 64, maxOutputLength: text_bytes + 64 }
    const text = await inflate(member, options)
    return text.length === text_bytes ? text : null
  } catch {
    return null
  }
}

const portionOf = (text: Buffer): Portion => ({ text, floor: firstPlace(text), skipped: null })

/** Of the first entry; a line about missing entries has the place of another. */
function firstPlace(text: Buffer): string | null {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(LINE_FEED, at)
    const line = readArchiveLine(text.toString('utf8', at, end < 0 ? text.length : end))
    if (line !== null && !isAboutMissing(line.entry_text)) return line.place
    if (end < 0) return null
    at = end + 1
  }
  return null
}

const isAboutMissing = (entry_text: string): boolean => /^\{"(gap|cut)":/.test(entry_text)

/** From new to old. */
function* matchesIn(
  text: Buffer,
  organization_id: string,
  filter: ActivityFilter,
  before: string | null,
): Generator<Placed> {
  const rough = roughFilter(filter)
  // All lines at once and without decoding them: most have no match.
  if (rough.exact.some((one) => !text.includes(one))) return
  if (rough.inside !== '' && !text.toString('latin1').toLowerCase().includes(rough.inside)) return
  for (const line of text.toString('utf8').split('\n').reverse()) {
    if (!mayHold(rough, line)) continue
    const read = readArchiveLine(line)
    if (read === null || isAboutMissing(read.entry_text)) continue
    if (before !== null && comparePlaces(read.place, before) >= 0) continue
    const entry = entryOf(read.entry_text)
    // A file of another organization may have been put here.
    if (entry?.organization_id !== organization_id) continue
    if (matchesFilter(filter, entry, msOfPlace(read.place))) yield { place: read.place, entry }
  }
}

function entryOf(text: string): ActivityEntry | null {
  try {
    const entry = readStoredEntry(text)
    return typeof entry.data === 'object' && entry.data !== null ? entry : null
  } catch {
    return null
  }
}

const msBelow = (upper: string | null): number =>
  upper === null ? Number.POSITIVE_INFINITY : msOfPlace(upper)

/** The place before which entries are looked for. */
function upperOf(before: string | null, to_ms: number | null): string | null {
  if (to_ms === null) return before
  const to = `${to_ms + WRITTEN_AFTER_MAX_MS}-0`
  return before !== null && comparePlaces(before, to) < 0 ? before : to
}
