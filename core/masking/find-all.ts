import type RE2 from 're2'

/** A match of an expression; offsets are in UTF-16 code units. */
export interface Found {
  readonly groups: readonly (string | undefined)[]
  readonly start: number
  readonly end: number
}

/** So many matches of one text are looked at; a text with more of them is not shown from there on. */
const MATCHES_MAX = 250

/** What is left of that for one text, and where it has ended. */
export class MaskBudget {
  #left = MATCHES_MAX
  spent_at: number | null = null

  /** Whether the match at this position is looked at. */
  takes(start: number): boolean {
    if (this.#left-- > 0) return true
    this.spent_at = Math.min(start, this.spent_at ?? start)
    return false
  }
}

/**
 * The matches of an expression with the flag `g` that the budget takes, in order. RE2 reads UTF-8 and would convert the whole string again for each
 * match, so it is converted once here, and offsets are counted from match to match.
 */
export function* findAll(expression: RE2, text: string, budget: MaskBudget): Generator<Found> {
  const bytes = Buffer.from(text, 'utf8')
  const isAscii = bytes.length === text.length
  expression.lastIndex = 0
  let at = 0
  let at_byte = 0
  const indexOf = (byte: number): number => {
    at = isAscii ? byte : at + bytes.toString('utf8', at_byte, byte).length
    at_byte = byte
    return at
  }
  for (;;) {
    const found = expression.exec(bytes)
    if (found === null) return
    const [whole, ...groups] = found as unknown as [Buffer, ...(Buffer | undefined)[]]
    const end_byte = found.index + whole.length
    const start = indexOf(found.index)
    if (!budget.takes(start)) return
    yield { groups: groups.map((group) => group?.toString('utf8')), start, end: indexOf(end_byte) }
    // The caller may use the expression between two matches.
    expression.lastIndex = whole.length === 0 ? end_byte + 1 : end_byte
  }
}
