import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ArchiveHead, HEAD_FILE, readArchiveHead } from './archive-head.ts'
import {
  type ArchiveKey,
  archiveKeys,
  type ArchiveRoots,
  CHAIN_START,
  readArchiveLine,
} from './archive-line.ts'
import { listHourFiles } from './list-hour-files.ts'
import { readArchiveLines } from './read-archive-lines.ts'

export interface ArchiveProblem {
  readonly organization_id: string
  readonly file: string
  /** Counted from 1; null if the error is not in a line. */
  readonly line: number | null
  readonly problem: string
}

export interface ArchiveReport {
  readonly organizations: number
  readonly files: number
  readonly lines: number
  /** Entries that the store dropped before they were archived, as the archive records. */
  readonly missed: number
  /** False if it was stopped before the end. */
  readonly complete: boolean
  readonly problems: readonly ArchiveProblem[]
}

/** Of an archive that is written to meanwhile: its lines after the given end are left out. */
export interface ArchiveBounds {
  readonly organization_id: string
  /** Asked after each line. */
  readonly isOver: () => boolean
}

/** The maximum number of errors that are listed per archive. */
const PROBLEMS_MAX = 200

/**
 * Verifies the archive of one deployment and reports lines that were changed, dropped, moved, added or cut off. `heads` are
 * the ends of the archives according to the store; without them, only the sealed heads in the folder are used.
 */
export async function verifyArchive(
  folder: string,
  roots: ArchiveRoots,
  heads: ReadonlyMap<string, Pick<ArchiveHead, 'n' | 'mac'>> = new Map(),
  bounds: ArchiveBounds | null = null,
): Promise<ArchiveReport> {
  const report = {
    organizations: 0,
    files: 0,
    lines: 0,
    missed: 0,
    complete: true,
    problems: [] as ArchiveProblem[],
  }
  const found = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const organization_ids =
    bounds === null
      ? new Set([...found.map(({ name }) => name), ...heads.keys()])
      : [bounds.organization_id]
  for (const organization_id of [...organization_ids].sort()) {
    report.organizations++
    const keys = archiveKeys(roots, organization_id)
    const chain = new Chain(organization_id, keys, report, bounds)
    await chain.walk(join(folder, organization_id), heads.get(organization_id) ?? null)
  }
  return report
}

type Findings = { -readonly [M in keyof ArchiveReport]: ArchiveReport[M] } & {
  readonly problems: ArchiveProblem[]
}

class Chain {
  readonly #organization_id: string
  readonly #keys: readonly ArchiveKey[]
  readonly #report: Findings
  readonly #bounds: ArchiveBounds | null
  #head: ArchiveHead | null = null
  #first_n: number | null = null
  #n = 0
  /** The hash of the previous line; null after an unreadable line. */
  #previous: string | null = CHAIN_START
  #file = ''

  constructor(
    organization_id: string,
    keys: readonly ArchiveKey[],
    report: Findings,
    bounds: ArchiveBounds | null,
  ) {
    this.#organization_id = organization_id
    this.#keys = keys
    this.#report = report
    this.#bounds = bounds
  }

  async walk(folder: string, stored: Pick<ArchiveHead, 'n' | 'mac'> | null): Promise<void> {
    this.#file = HEAD_FILE
    this.#head = this.#sealedHead(folder)
    for (const file of listHourFiles(folder)) {
      this.#file = file
      if (this.#isPast(stored)) break
      this.#report.files++
      await this.#walkFile(join(folder, file), stored)
    }
    if (!this.#report.complete) return
    this.#file = HEAD_FILE
    const sealed = this.#head
    if (sealed !== null && this.#first_n !== null && this.#first_n > sealed.first_n)
      this.#problem(
        null,
        `entries ${sealed.first_n} to ${this.#first_n - 1} are missing at the beginning`,
      )
    // The sealed head may be newer than the given end.
    const heads = this.#bounds === null ? [sealed, stored] : [stored]
    for (const head of heads) if (head !== null) this.#checkEnd(head)
  }

  /** At the end that was given, or out of time. */
  #isPast(stored: Pick<ArchiveHead, 'n'> | null): boolean {
    if (this.#bounds === null || this.#n >= (stored?.n ?? 0)) return this.#bounds !== null
    if (this.#bounds.isOver()) this.#report.complete = false
    return !this.#report.complete
  }

  async #walkFile(path: string, stored: Pick<ArchiveHead, 'n'> | null): Promise<void> {
    let number = 0
    try {
      for await (const text of readArchiveLines(path)) {
        this.#check(text, ++number)
        if (this.#isPast(stored)) return
      }
    } catch (error) {
      this.#problem(number + 1, `cannot be read from here: ${(error as Error).message}`)
      this.#previous = null
    }
  }

  #sealedHead(folder: string): ArchiveHead | null {
    const file = join(folder, HEAD_FILE)
    if (!existsSync(file)) {
      this.#problem(null, 'the head is missing, so the end of the archive cannot be determined')
      return null
    }
    const head = readArchiveHead(readFileSync(file, 'utf8'), this.#keys)
    if (head === null) this.#problem(null, 'the head was changed')
    return head
  }

  /** A head may be older than the last line if the writer exited between the two writes. */
  #checkEnd(head: Pick<ArchiveHead, 'n' | 'mac'>): void {
    if (this.#n < head.n)
      this.#problem(
        null,
        `the archive is cut off: entries ${this.#n + 1} to ${head.n} are missing at the end`,
      )
    else if (this.#n === head.n && this.#previous !== head.mac && this.#previous !== null)
      this.#problem(null, `entry ${head.n}, the last, does not match the archived entry`)
  }

  #check(text: string, number: number): void {
    this.#report.lines++
    const line = readArchiveLine(text)
    if (line === null) {
      this.#problem(number, 'is not an archive line: it was changed or cut off')
      this.#previous = null
      return
    }
    const cut = numberIn(line.entry_text, 'cut')
    const missed = numberIn(line.entry_text, 'gap')
    if (this.#first_n === null) this.#start(line.n + (cut > 0 ? 1 : 1 - Math.max(1, missed)))
    const expected = this.#n + (cut > 0 ? 0 : Math.max(1, missed))
    if (line.n < expected && line.n <= this.#n) {
      this.#problem(number, `entry ${line.n} is out of order or duplicated`)
      return
    }
    const key = this.#keys.find(({ key_id }) => key_id === line.key_id)?.key
    if (key === undefined) this.#problem(number, `its key ${line.key_id} is unknown`)
    else if (line.n > expected && this.#previous !== null)
      this.#problem(
        number,
        `entries ${this.#n + 1} to ${line.n - 1} are missing before entry ${line.n}`,
      )
    else if (this.#previous !== null && !line.isGenuine(key, this.#previous))
      this.#problem(number, `entry ${line.n} was changed`)
    else if (cut > 0)
      this.#problem(
        number,
        `entries ${line.n + 1} to ${line.n + cut} had been archived and were cut off before this was written`,
      )
    this.#report.missed += missed
    this.#n = line.n
    this.#previous = line.mac
  }

  /** Older files may have been removed by retention; the head says where the archive begins. */
  #start(n: number): void {
    this.#first_n = n
    // An archive that begins late begins with a line that records the number of missing entries.
    if (this.#head === null || this.#head.first_n !== n) {
      if (n > 1) [this.#n, this.#previous] = [n - 1, null]
      return
    }
    this.#n = n - 1
    this.#previous = this.#head.before
  }

  #problem(line: number | null, problem: string): void {
    const { problems } = this.#report
    const place = { organization_id: this.#organization_id, file: this.#file, line }
    if (problems.length < PROBLEMS_MAX) problems.push({ ...place, problem })
    else if (problems.length === PROBLEMS_MAX) problems.push({ ...place, problem: 'and more' })
  }
}

/** The number of missing entries that a line records; 0 for an entry. */
function numberIn(entry_text: string, kind: 'gap' | 'cut'): number {
  if (!entry_text.startsWith(`{"${kind}":`)) return 0
  const told = JSON.parse(entry_text) as { [name: string]: { missing?: number } | undefined }
  return told[kind]?.missing ?? 0
}
