import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'

/** Test files that run in one process, one after the other. */
export interface Job {
  readonly name: string
  /** Whether the files run in a process that asks for the next one, or in one that has a single file. */
  readonly file: string | null
  /** The next file, null after the last. Unit jobs share one list, so that they end at the same time. */
  readonly next: () => string | null
  /** A job that takes longer hangs; several times what it takes on a busy machine. */
  readonly limit_ms: number
  /**
   * Whether `node:test` follows tests and suites only; see follow-tests-only.ts. Hooks outside of a suite then belong to the
   * process, not to their file.
   */
  readonly follows_tests_only: boolean
}

const MINUTE_MS = 60_000
const UNIT_LIMIT_MS = 10 * MINUTE_MS
const ALONE_LIMIT_MS = 10 * MINUTE_MS
const SHARED_LIMIT_MS = 20 * MINUTE_MS

const UNIT_PROCESSES_MAX = 4

/** A group of more files takes longer than all others together, and is done in parts that each start what they share. */
const PART_FILES = 20

/** Starts the product, which is most of what a file costs, or something smaller. */
const STARTS_PRODUCT = /\bstart(All|Stack|Parts|Fleet|Cluster|Admin)\(/g
const STARTS = /\b(start(?!s)\w*|adminInProcess|guideSteps|spawn\w*)\(/g
/** What a start of the product costs, in others. */
const PRODUCT = 3
/** What a page costs: a test of pages goes to many. */
const OPENS_PAGES = /\bopenBrowser\(/g
const PAGES = 50

/** A call of a function of the kit whose name begins so: files that share what it starts run in one process. */
const SHARES = /\b(shared[A-Z]\w*)\(\)/

const testsIn = (folder: string, words: readonly string[]): string[] =>
  readdirSync(fromRoot('dist', 'test', folder))
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .sort()
    .map((name) => fromRoot('dist', 'test', folder, name))

/** Imports a part of admin or cli, which load the largest packages. */
const LOADS_MOST = /from ['"]\.\.\/\.\.\/(admin|cli)\//

/**
 * The unit tests in as many processes as there are cores, up to a few, which share one list: half of them take files
 * from its beginning, the others from its end. Neighbours in the list load the same modules: first the files that load
 * the largest packages, then all others by name.
 */
export function planUnitJobs(words: readonly string[]): Job[] {
  const files = testsIn('unit', words)
  if (files.length === 1) return [jobOf('unit', files, UNIT_LIMIT_MS)]
  const loadsMost = new Set(files.filter((file) => LOADS_MOST.test(readFileSync(file, 'utf8'))))
  const waiting = [...loadsMost, ...files.filter((file) => !loadsMost.has(file))]
  const count = Math.min(availableParallelism(), UNIT_PROCESSES_MAX, Math.ceil(files.length / 4))
  return Array.from({ length: count }, (_, index) => ({
    name: count === 1 ? 'unit' : `unit ${index + 1}`,
    file: null,
    next: () => (index % 2 === 0 ? waiting.shift() : waiting.pop()) ?? null,
    limit_ms: UNIT_LIMIT_MS,
    follows_tests_only: true,
  }))
}

/** Files of one subject follow each other by name and take about as long, so that each part gets one of them. */
function inParts(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / PART_FILES)
  const parts = Array.from({ length: count }, (): string[] => [])
  for (const [i, file] of files.entries()) parts[i % count]?.push(file)
  return parts
}

function jobOf(name: string, files: readonly string[], limit_ms: number): Job {
  const waiting = [...files]
  const [file = null] = files
  return {
    name,
    file: files.length === 1 ? file : null,
    next: () => waiting.shift() ?? null,
    limit_ms,
    follows_tests_only: files.length === 1,
  }
}

/**
 * The integration tests that share what they run against in one process for each such thing, or in a few, each of the
 * others in its own. Told by their sources, so that no list has to be kept. Those that take longest come first, so that
 * no core is idle at the end: the groups, then the files that open pages, then those that start most.
 */
export function planIntegrationJobs(words: readonly string[]): Job[] {
  const groups = new Map<string, string[]>()
  const alone: { readonly job: Job; readonly starts: number }[] = []
  for (const file of testsIn('integration', words)) {
    const source = readFileSync(file, 'utf8')
    const shared = SHARES.exec(source)?.[1]
    const name = basename(file, '.test.js')
    const countOf = (what: RegExp): number => source.match(what)?.length ?? 0
    const starts =
      PAGES * countOf(OPENS_PAGES) + PRODUCT * countOf(STARTS_PRODUCT) + countOf(STARTS)
    if (shared === undefined) alone.push({ job: jobOf(name, [file], ALONE_LIMIT_MS), starts })
    else groups.set(shared, [...(groups.get(shared) ?? []), file])
  }
  const together = [...groups].flatMap(([name, files]) => {
    const parts = inParts(files)
    return parts.map((part, i) =>
      jobOf(parts.length === 1 ? name : `${name} ${i + 1}`, part, SHARED_LIMIT_MS),
    )
  })
  return [...together, ...alone.sort((a, b) => b.starts - a.starts).map(({ job }) => job)]
}
