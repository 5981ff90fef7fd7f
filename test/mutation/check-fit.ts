import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A text of a file, and what takes its place. */
interface Replacement {
  /** What is wrong then. */
  readonly name: string
  readonly file: string
  readonly find: string
}

/**
 * Each text must occur exactly once in its file. All are checked before anything is run, as a refactoring has to bring its edits
 * along.
 * @param list the file that has the edits
 * @throws if an edit does not fit the source
 */
export function checkFit(copy: string, edits: readonly Replacement[], list: string): void {
  const wrong = edits.flatMap(({ file, find, name }) => {
    const count = readFileSync(join(copy, file), 'utf8').split(find).length - 1
    return count === 1 ? [] : [`${file}: ${count} places for “${name}”, not one:\n${find}\n`]
  })
  if (wrong.length > 0) throw new Error(`${list} does not fit the source.\n\n${wrong.join('\n')}`)
}
