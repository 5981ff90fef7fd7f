import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { HourIndexWriter } from '../../core/activity/hour-index-writer.ts'
import { INDEX_SUFFIX, indexOfHour, startOfHour } from '../../core/activity/list-hour-files.ts'

/** A little larger than level 6 makes it, in half of the time. */
const LEVEL = 4
/** Text of a member: some 240 entries, which a search reads as a whole. */
const MEMBER_BYTES = 1 << 18
/** The members that follow are twice as large, so that there are not too many. */
const MEMBERS_OF_ONE_SIZE = 16_384
const READ_BYTES = 1 << 18
/** A line has 33 kB at most. A damaged or foreign file may be one that never ends. */
const LINE_BYTES_MAX = 1 << 20
/** The store may be on the same disk, and would wait for a large write. */
const SYNC_BYTES = 4 << 20
const UNFINISHED = '.new'
const LINE_FEED = 0x0a
const compress = promisify(gzip)

/**
 * Replaces a closed hour file by one of gzip members with its index, or does this again with a compressed one whose index is
 * missing. The last line is a member of its own, so that it can be read alone. The file is replaced only after the new one is on
 * disk and was read back; whenever the process ends, one of the two is whole.
 * @throws (rejects) when the file is damaged, the disk is full or the signal aborts; the file is unchanged then
 */
export async function compressHour(
  folder: string,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  replaceHour(folder, file, await writeCompressed(folder, file, signal))
}

/** Names of the finished files in the folder of the hour; none of them counts yet. */
export interface CompressedHour {
  readonly file: string
  readonly index: string
}

/**
 * The part of `compressHour` that takes time. It changes nothing that was there, so it may run in another process.
 * @throws (rejects) when the file is damaged, the disk is full or the signal aborts
 */
export async function writeCompressed(
  folder: string,
  file: string,
  signal: AbortSignal,
): Promise<CompressedHour> {
  const from = join(folder, file)
  // Of this attempt only: a process that was paused may find that another has taken over.
  const attempt = `.${randomBytes(6).toString('hex')}${UNFINISHED}`
  const [newFile, newIndex] = [
    `${join(folder, compressedName(file))}${attempt}`,
    `${join(folder, indexOfHour(file))}${attempt}`,
  ]
  try {
    const made = await writeMembers(from, newFile, signal)
    const is = createHash('sha256')
    for await (const part of textOf(newFile, signal)) is.update(part)
    if (is.digest('hex') !== made.digest)
      throw new Error(`${file} was not the same after it was compressed`)
    await writeFile(newIndex, made.index, { mode: 0o600, flush: true })
    return { file: basename(newFile), index: basename(newIndex) }
  } catch (error) {
    for (const one of [newFile, newIndex]) await rm(one, { force: true })
    throw error
  }
}

/**
 * Puts the finished files in the place of an hour. At once, and in the process that lists and removes hours, so that it always sees one of
 * the two forms.
 * @throws when the hour was deleted meanwhile as too old
 */
export function replaceHour(folder: string, file: string, compressed: CompressedHour): void {
  const [newFile, newIndex] = [join(folder, compressed.file), join(folder, compressed.index)]
  const from = join(folder, file)
  const to = join(folder, compressedName(file))
  try {
    if (!existsSync(from)) throw new Error(`${file} was deleted while it was compressed`)
    renameSync(newIndex, join(folder, indexOfHour(file)))
    renameSync(newFile, to)
    if (from !== to) rmSync(from)
  } catch (error) {
    for (const one of [newFile, newIndex]) rmSync(one, { force: true })
    throw error
  }
}

const compressedName = (file: string): string => (file.endsWith('.gz') ? file : `${file}.gz`)

/** Removes what a process has left that ended while it compressed, or while it removed an hour. */
export async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const there = new Set(names)
  const isLeft = (name: string): boolean => {
    if (!name.endsWith(INDEX_SUFFIX)) return /\.(gz|index)\.([\da-f]+\.)?new$/.test(name)
    const file = name.slice(0, -INDEX_SUFFIX.length)
    return !there.has(`${file}.ndjson`) && !there.has(`${file}.ndjson.gz`)
  }
  for (const name of names.filter(isLeft)) await rm(join(folder, name), { force: true })
}

async function writeMembers(
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<{ readonly digest: string; readonly index: Buffer }> {
  const digest = createHash('sha256')
  const index = new HourIndexWriter(startOfHour(from))
  const file = await open(to, 'w', 0o600)
  try {
    let unsynced_bytes = 0
    for await (const text of membersOf(textOf(from, signal), () => index.members)) {
      digest.update(text)
      const bytes = await appendMember(file, text)
      index.add(text, bytes)
      unsynced_bytes += bytes
      if (unsynced_bytes < SYNC_BYTES) continue
      await file.datasync()
      unsynced_bytes = 0
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { digest: digest.digest('hex'), index: index.finish() }
}

async function appendMember(file: FileHandle, text: Buffer): Promise<number> {
  const member = await compress(text, { level: LEVEL, chunkSize: READ_BYTES })
  await file.appendFile(member)
  return member.length
}

/** The bytes of an hour. The error of either stream is that of the reader. */
function textOf(path: string, signal: AbortSignal): Readable {
  const file = createReadStream(path, { highWaterMark: READ_BYTES, signal })
  if (!/\.gz(\.[\da-f]+\.new)?$/.test(path)) return file
  return pipeline(file, createGunzip({ chunkSize: READ_BYTES }), () => undefined)
}

/** Whole lines of about the size of a member, the last line alone. */
async function* membersOf(text: Readable, made: () => number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const part of text as AsyncIterable<Buffer>) {
    parts.push(part)
    size += part.length
    if (size <= MEMBER_BYTES * 2 ** Math.floor(made() / MEMBERS_OF_ONE_SIZE)) continue
    const all = Buffer.concat(parts)
    // One byte less: what follows the last line of a file is empty, and that line is kept for the end.
    const end = all.lastIndexOf(LINE_FEED, -2) + 1
    if (end > 0) yield all.subarray(0, end)
    else if (size > LINE_BYTES_MAX)
      throw Object.assign(new Error('a line is too long'), { code: 'ERR_LINE_TOO_LONG' })
    parts = [all.subarray(end)]
    size = all.length - end
  }
  const rest = Buffer.concat(parts)
  const last = rest.lastIndexOf(LINE_FEED, -2) + 1
  if (last > 0) yield rest.subarray(0, last)
  if (last < rest.length) yield rest.subarray(last)
}
