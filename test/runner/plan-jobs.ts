import { readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { fromRoot } from '../../core/root.ts'

/** Test files that run in one process. */
export interface Job {
  readonly name: string
  readonly files: readonly string[]
  /** A job that takes longer hangs; several times what it takes on a busy machine. */
  readonly limit_ms: number
}

const MINUTE_MS = 60_000
const UNIT_LIMIT_MS = 3 * MINUTE_MS
const ALONE_LIMIT_MS = 5 * MINUTE_MS
const SHARED_LIMIT_MS = 10 * MINUTE_MS

const UNIT_PROCESSES_MAX = 4

/** Starts the product, which is most of what a file costs. */
const STARTS = /\bstart(All|Stack|Parts|Fleet)\(/g

/** A call of a function of the kit whose name begins so: files that share what it starts run in one process. */
const SHARES = /\b(shared[A-Z]\w*)\(\)/

const testsIn = (folder: string, words: readonly string[]): string[] =>
  readdirSync(fromRoot('dist', 'test', folder))
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .sort()
    .map((name) => fromRoot('dist', 'test', folder, name))

/**
 * The unit tests in as many processes as there are cores, up to a few. Files with similar names load the same modules,
 * so each process takes neighbours, and about as many bytes of tests as the others.
 */
export function planUnitJobs(words: readonly string[]): Job[] {
  const files = testsIn('unit', words)
  const count = Math.min(availableParallelism(), UNIT_PROCESSES_MAX, Math.ceil(files.length / 4))
  const parts: string[][] = Array.from({ length: count }, () => [])
  const sizes = files.map((file) => statSync(file).size)
  const total_bytes = sizes.reduce((sum, size) => sum + size, 0)
  let passed_bytes = 0
  for (const [index, file] of files.entries()) {
    parts[Math.floor((passed_bytes / total_bytes) * count)]?.push(file)
    passed_bytes += sizes[index] ?? 0
  }
  const jobs = parts.filter(({ length }) => length > 0)
  return jobs.map((part, index) => ({
    name: count === 1 ? 'unit' : `unit ${index + 1}`,
    files: part,
    limit_ms: UNIT_LIMIT_MS,
  }))
}

/**
 * The integration tests that share what they run against in one process for each such thing, each of the others in its
 * own. Told by their sources, so that no list has to be kept. Those that take longest come first: the groups, then the
 * files that start the product most often.
 */
export function planIntegrationJobs(words: readonly string[]): Job[] {
  const groups = new Map<string, string[]>()
  const alone: (Job & { readonly starts: number })[] = []
  for (const file of testsIn('integration', words)) {
    const source = readFileSync(file, 'utf8')
    const shared = SHARES.exec(source)?.[1]
    const name = basename(file, '.test.js')
    const starts = source.match(STARTS)?.length ?? 0
    if (shared === undefined) alone.push({ name, files: [file], limit_ms: ALONE_LIMIT_MS, starts })
    else groups.set(shared, [...(groups.get(shared) ?? []), file])
  }
  const together = [...groups].map(([name, files]) => ({ name, files, limit_ms: SHARED_LIMIT_MS }))
  return [...together, ...alone.sort((a, b) => b.starts - a.starts)]
}
