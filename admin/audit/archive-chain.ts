import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  existsSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ArchiveHead,
  HEAD_FILE,
  readArchiveHead,
  writeArchiveHead,
} from '../../core/activity/archive-head.ts'
import {
  type ArchiveKey,
  type ArchiveLine,
  CHAIN_START,
  readArchiveLine,
  writeArchiveLines,
} from '../../core/activity/archive-line.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'
import { indexOfHour, listHourFiles } from '../../core/activity/list-hour-files.ts'
import { compressHour, removeUnfinished } from './compress-hour.ts'
import { lastLineOfGzip } from './last-line-of-gzip.ts'

const HOUR_MS = 3_600_000
/** An entry has 33 kB at most; the last line is looked for in this much of a file's end. */
const TAIL_BYTES = 1 << 20
/** Lines that are hashed between two requests: a millisecond or two. */
const STEP = 250
/** Files whose index is missing, of one look at the folder. */
const WAITING_MAX = 20
/** Before the first entry of every log. */
const START_PLACE = '0-0'

/** The archive of one organization on disk. What the files say is the truth; it is read when the chain is opened. */
export class ArchiveChain {
  readonly #folder: string
  readonly #key: ArchiveKey
  #head: ArchiveHead
  #place: string
  readonly #sealed_n: number
  #file = ''
  #size_bytes = 0
  readonly #closedBytes = new Map<string, number>()
  /** Compressed files that could not be read to their end, so they get no index. */
  readonly #damaged = new Set<string>()
  /** Files to compress. */
  #waiting: string[] = []

  /** @throws when the folder cannot be used, or its last line is none of ours */
  constructor(folder: string, keys: readonly ArchiveKey[]) {
    const [key] = keys
    if (key === undefined) throw new Error('an archive requires a key')
    this.#folder = folder
    this.#key = key
    const headFile = join(folder, HEAD_FILE)
    const sealed = existsSync(headFile)
      ? readArchiveHead(readFileSync(headFile, 'utf8'), keys)
      : null
    this.#sealed_n = sealed?.n ?? 0
    const last = this.#readLast()
    this.#place = last?.place ?? START_PLACE
    this.#head = {
      first_n: sealed?.first_n ?? 1,
      before: sealed?.before ?? CHAIN_START,
      n: last?.n ?? 0,
      mac: last?.mac ?? CHAIN_START,
    }
  }

  get head(): ArchiveHead {
    return this.#head
  }

  /** Where the last archived entry was in the store. */
  get place(): string {
    return this.#place
  }

  /**
   * Notes for ever that lines were cut off the end, where the head beside them or that of the store knows of more: those
   * are written after the lines. Returns how many.
   * @param known_n as the store said before this chain was opened
   * @param begin_place where an archive that has lost all lines continues; the record is kept as long as entries of that time
   */
  async noteCut(known_n: number, begin_place: () => Promise<string>): Promise<number> {
    const missing = Math.max(known_n, this.#sealed_n) - this.#head.n
    if (missing <= 0) return 0
    const entry_text = JSON.stringify({ cut: { missing } })
    const place = this.#place === START_PLACE ? await begin_place() : this.#place
    await this.append([{ n: this.#head.n, place, entry_text }])
    return missing
  }

  /**
   * Appends lines and makes them last, then notes the new end. One call at a time.
   * @param giveWay is awaited after each step of the computation
   * @throws (rejects) when somebody else has written to the file meanwhile; the chain must be opened again then
   */
  async append(
    lines: readonly ArchiveLine[],
    giveWay: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    // Made with the first line: a folder without a head says that somebody has emptied it.
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    for (let from = 0; from < lines.length; ) {
      const hour = hourOf(lines[from])
      let to = from
      while (to < lines.length && hourOf(lines[to]) === hour) to++
      await this.#appendTo(fileOf(hour), lines.slice(from, to), giveWay)
      from = to
    }
    this.#writeHead()
  }

  /** Removes hour files that ended before a time; the newest stays, since it holds the end of the chain. */
  removeBefore(ms: number): void {
    const limit = new Date(ms - HOUR_MS).toISOString().slice(0, 13)
    this.#remove(this.#closedFiles().filter((file) => file.slice(0, 13) <= limit))
  }

  /** The hours whose files can be removed, from old to new, with the bytes of each. */
  closedHours(): readonly { readonly hour: string; readonly bytes: number }[] {
    return this.#closedFiles().map((file) => ({
      hour: file.slice(0, 13),
      bytes: this.#bytesOfClosed(file),
    }))
  }

  /** Of the file that is written. */
  get openBytes(): number {
    return this.#size_bytes
  }

  /** Removes the files of these hours and all before; the newest stays. */
  removeUpTo(hour: string): void {
    this.#remove(this.#closedFiles().filter((file) => file.slice(0, 13) <= hour))
  }

  /**
   * Compresses the oldest closed file that is not compressed yet, or else makes the index of the newest that has none. Returns
   * whether there was one. It changes nothing that `append` depends on, so both may run at the same time.
   * @param compress does the work
   * @throws (rejects) when the file is damaged, the disk is full or the signal aborts; the file is unchanged then
   */
  async compressNext(signal: AbortSignal, compress = compressHour): Promise<boolean> {
    if (this.#waiting.length === 0) {
      this.#waiting = this.#withoutIndex()
      await removeUnfinished(this.#folder)
    }
    const file = this.#waiting.shift()
    if (file === undefined) return false
    // Deleted meanwhile as too old.
    if (!existsSync(join(this.#folder, file))) return true
    try {
      await compress(this.#folder, file, signal)
    } catch (error) {
      if (/^(Z_|ERR_)/.test(String((error as { code?: unknown }).code))) this.#damaged.add(file)
      throw error
    } finally {
      this.#closedBytes.delete(file)
    }
    return true
  }

  /** Those that are not compressed come first, and then some of the newest, because a folder may have thousands. */
  #withoutIndex(): string[] {
    const closed = this.#closedFiles()
    if (closed.length === 0) return []
    const there = new Set(readdirSync(this.#folder))
    const compressed = closed.filter(
      (name) => name.endsWith('.gz') && !there.has(indexOfHour(name)) && !this.#damaged.has(name),
    )
    return [
      ...closed.filter((name) => !name.endsWith('.gz')),
      ...compressed.reverse().slice(0, WAITING_MAX),
    ]
  }

  #closedFiles(): string[] {
    return this.#files().slice(0, -1)
  }

  /** A closed file does not change any more. */
  #bytesOfClosed(file: string): number {
    const known = this.#closedBytes.get(file)
    if (known !== undefined) return known
    const { size } = statSync(join(this.#folder, file))
    const index = statSync(join(this.#folder, indexOfHour(file)), { throwIfNoEntry: false })
    const bytes = size + (index?.size ?? 0)
    this.#closedBytes.set(file, bytes)
    return bytes
  }

  #remove(old: readonly string[]): void {
    const newest = old.at(-1)
    const lastOld = newest === undefined ? null : this.#lastLineOf(newest)
    if (lastOld === null) return
    // The head first: a file that is still there says the same as before.
    if (lastOld.n >= this.#head.first_n)
      this.#head = { ...this.#head, first_n: lastOld.n + 1, before: lastOld.mac }
    this.#writeHead()
    for (const file of old) {
      rmSync(join(this.#folder, file), { force: true })
      // A process that ended while it compressed has left both.
      rmSync(join(this.#folder, `${file}.gz`), { force: true })
      rmSync(join(this.#folder, indexOfHour(file)), { force: true })
      this.#closedBytes.delete(file)
    }
  }

  async #appendTo(
    file: string,
    lines: readonly ArchiveLine[],
    giveWay: () => Promise<void>,
  ): Promise<void> {
    const { n, place } = lines.at(-1) ?? { n: this.#head.n, place: this.#place }
    let { mac } = this.#head
    const parts: Buffer[] = []
    for (let at = 0; at < lines.length; at += STEP) {
      const written = writeArchiveLines(lines.slice(at, at + STEP), this.#key, mac)
      parts.push(written.bytes)
      mac = written.mac
      await giveWay()
    }
    const bytes = Buffer.concat(parts)
    const handle = await open(join(this.#folder, file), 'a', 0o600)
    try {
      const { size } = await handle.stat()
      if (size !== (file === this.#file ? this.#size_bytes : 0))
        throw new Error(`${file} was written by another process`)
      await handle.appendFile(bytes)
      // The disk may take long; requests are answered meanwhile.
      await handle.sync()
    } finally {
      await handle.close()
    }
    this.#size_bytes = (file === this.#file ? this.#size_bytes : 0) + bytes.length
    this.#file = file
    this.#place = place
    this.#head = { ...this.#head, n, mac }
  }

  #writeHead(): void {
    const file = join(this.#folder, HEAD_FILE)
    writeFileSync(`${file}.new`, writeArchiveHead(this.#head, this.#key), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  #files(): string[] {
    return listHourFiles(this.#folder)
  }

  #readLast(): { n: number; place: string; mac: string } | null {
    for (const file of this.#files().reverse()) {
      const line = this.#lastLineOf(file, 'mend')
      if (line === null) continue
      return line
    }
    return null
  }

  /** A line that a crash has left without its end was never acknowledged: to mend cuts it off. */
  #lastLineOf(
    file: string,
    torn: 'mend' | 'keep' = 'keep',
  ): { n: number; place: string; mac: string } | null {
    if (file.endsWith('.gz')) return lastLineIn(lastLineOfGzip(join(this.#folder, file)), file)
    const fd = openSync(join(this.#folder, file), torn === 'mend' ? 'r+' : 'r')
    try {
      const { size } = fstatSync(fd)
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
      readSync(fd, bytes, 0, bytes.length, size - bytes.length)
      const end = bytes.lastIndexOf(0x0a) + 1
      if (torn === 'mend') {
        if (end < bytes.length) ftruncateSync(fd, size - bytes.length + end)
        this.#file = file
        this.#size_bytes = size - bytes.length + end
      }
      if (end === 0) return null
      const begin = end < 2 ? 0 : bytes.lastIndexOf(0x0a, end - 2) + 1
      return lastLineIn(bytes.toString('utf8', begin, end - 1), file)
    } finally {
      closeSync(fd)
    }
  }
}

function lastLineIn(text: string | null, file: string): { n: number; place: string; mac: string } {
  const line = text === null ? null : readArchiveLine(text)
  if (line === null) throw new Error(`the last line of ${file} is not an archive line`)
  return line
}

/** The hour in which the store took the entry, as a number since 1970. */
const hourOf = (line: ArchiveLine | undefined): number =>
  Math.floor(msOfPlace(line?.place ?? '0-0') / HOUR_MS)

const fileOf = (hour: number): string =>
  `${new Date(hour * HOUR_MS).toISOString().slice(0, 13)}.ndjson`
