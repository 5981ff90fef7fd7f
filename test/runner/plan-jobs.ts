import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fromRoot } from '../../core/root.ts'

/** Test files that run in one process. */
export interface Job {
  readonly name: string
  readonly files: readonly string[]
}

/** A call of a function of the kit whose name begins so: files that share what it starts run in one process. */
const SHARES = /\b(shared[A-Z]\w*)\(\)/

const testsIn = (folder: string, words: readonly string[]): string[] =>
  readdirSync(fromRoot('dist', 'test', folder))
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .sort()
    .map((name) => fromRoot('dist', 'test', folder, name))

/** The unit tests in one process. */
export function planUnitJobs(words: readonly string[]): Job[] {
  const files = testsIn('unit', words)
  return files.length === 0 ? [] : [{ name: 'unit', files }]
}

/**
 * The integration tests that share what they run against in one process for each such thing, each of the others in its
 * own. Told by their sources, so that no list has to be kept. The groups take longest and come first.
 */
export function planIntegrationJobs(words: readonly string[]): Job[] {
  const groups = new Map<string, string[]>()
  const alone: Job[] = []
  for (const file of testsIn('integration', words)) {
    const shared = SHARES.exec(readFileSync(file, 'utf8'))?.[1]
    if (shared === undefined) alone.push({ name: basename(file, '.test.js'), files: [file] })
    else groups.set(shared, [...(groups.get(shared) ?? []), file])
  }
  return [...[...groups].map(([name, files]) => ({ name, files })), ...alone]
}
