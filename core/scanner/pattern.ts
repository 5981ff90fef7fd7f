import type { CategoryFoundBy } from './categories.ts'

/**
 * A pattern as data. `expression` is RE2 over the normalised text (lower case, folded letters, single spaces, apostrophes
 * inside words and underscores gone), with two abbreviations: `{word_class}` for a list of `words.ts`, and `{g4}` for up to
 * four words between two others.
 *
 * The expression is only tried near a place that passes a gate: a word of the first list, followed within `within` words by one
 * of the second. This keeps the search linear and fast. A gate must pass every match of the expression; a test checks this with
 * the examples, without the gates.
 */
export type Pattern = {
  readonly name: string
  readonly category: CategoryFoundBy<'expression'>
  readonly description: string
  readonly expression: string
  /**
   * The alternatives of `expression`, if it is so large that the memory of RE2 does not hold its automaton, which makes a search
   * some two hundred times as slow. Each of them is searched for by itself, and `expression` only where one matches.
   */
  readonly alternatives?: readonly string[]
  readonly gates: readonly Gate[]
  /** Never across the border of two strings of a body, since its words are common in instructions. */
  readonly within_one_text?: boolean
  /** Only in texts of at most this many bytes, as values of forms and tool arguments are. */
  readonly longest_text?: number
  /**
   * Given where people say the same to each other: a match counts as `suspicious_wording`, unless this RE2 or a general
   * sign that a model is meant matches the text around it (lower case, no accents). Empty: only a general sign counts. Where the
   * text shows that people are meant, this sign does not count.
   */
  readonly model_sign?: string
  readonly hits: readonly string[]
  readonly misses: readonly string[]
}

export type Gate =
  /** One word; with `after`, only behind one of these symbols (a blank may stand between). */
  | { readonly word: string; readonly after?: string }
  | { readonly first: string; readonly second: string; readonly within: number }
