import type { Pattern } from '../pattern.ts'
import { expressionsOf, sourceOfList, type WordClasses } from '../patterns/compile-patterns.ts'
import { foldBeyondAscii } from '../text/fold.ts'
import { type WordForm, mergeByShape, readForms } from './word-forms.ts'
import { buildWordSieve, type WordSieve } from './word-sieve.ts'

/** The sieve of all expressions that are searched for. This takes a second, so it is done when the programs are built. */
export const compileSieve = (patterns: readonly Pattern[], classes: WordClasses): WordSieve => {
  const lists = new Map<string, readonly WordForm[]>()
  const formsOfList = (name: string): readonly WordForm[] => {
    const known =
      lists.get(name) ?? mergeByShape(readForms(sourceOfList(classes[name] ?? ''), formsOfList))
    lists.set(name, known)
    return known
  }
  return buildWordSieve(
    patterns
      .flatMap(expressionsOf)
      .map((expression) => readForms(foldBeyondAscii(expression), formsOfList)),
  )
}
