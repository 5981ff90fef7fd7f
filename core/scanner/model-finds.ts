import { LayeredScanner } from './layered-scanner.ts'
import type { LearnedModel } from './model/learned-model.ts'
import { builtIn } from './patterns/built-in.ts'
import type { SearchBudget } from './text/search-budget.ts'
import { LEARNED_PATTERN } from './text/text-scanner.ts'

let scanner: LayeredScanner | null = null
let none: Uint8Array | null = null

/** Whether the learned model alone finds something in a text. Bounded by its callers, who ask a few times a source. */
export const modelFinds = (text: Buffer, model: LearnedModel, budget: SearchBudget): boolean => {
  const { patterns, trie } = builtIn()
  scanner ??= new LayeredScanner(patterns, trie)
  none ??= new Uint8Array(patterns.patterns.length)
  scanner.model = model
  scanner.budget = budget
  scanner.begin(text, none)
  scanner.text.piece(0, text.length, false)
  scanner.finish()
  return scanner.hits.some((hit) => hit.pattern === LEARNED_PATTERN)
}
