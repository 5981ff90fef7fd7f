/** More alternatives than this are not listed: the texts before and after them are used instead. */
const ALTERNATIVES = 64
/** Nesting deeper than in any realistic expression; such an expression has no known literals. */
const DEEPEST_GROUP = 32

/**
 * What is known about a part of an expression: all texts that it matches (`exact`), or texts of which every match contains one
 * (`required`), or neither.
 */
type Known = {
  readonly exact: ReadonlySet<string> | null
  readonly required: ReadonlySet<string> | null
}

const UNKNOWN: Known = { exact: null, required: null }
const EMPTY: Known = { exact: new Set(['']), required: null }

/** Syntax that this reader does not know; the expression is then searched without a filter. */
class NotRead extends Error {}

const shortest = (texts: ReadonlySet<string>): number => {
  let least = Number.POSITIVE_INFINITY
  for (const text of texts) least = Math.min(least, text.length)
  return least
}

/** The set whose shortest text is longer is more specific. */
const better = (
  a: ReadonlySet<string> | null,
  b: ReadonlySet<string> | null,
): ReadonlySet<string> | null => {
  if (a === null || b === null) return a ?? b
  const difference = shortest(a) - shortest(b)
  return difference > 0 || (difference === 0 && a.size <= b.size) ? a : b
}

const union = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> | null => {
  const all = new Set([...a, ...b])
  return all.size > ALTERNATIVES ? null : all
}

const either = (a: Known, b: Known): Known => {
  const exact = a.exact === null || b.exact === null ? null : union(a.exact, b.exact)
  if (exact !== null) return { exact, required: null }
  const left = a.exact ?? a.required
  const right = b.exact ?? b.required
  return { exact: null, required: left === null || right === null ? null : union(left, right) }
}

const joined = (parts: readonly Known[]): Known => {
  let run: ReadonlySet<string> = new Set([''])
  let best: ReadonlySet<string> | null = null
  let isExact = true
  for (const { exact, required } of parts) {
    if (exact !== null && exact.size * run.size <= ALTERNATIVES) {
      run = new Set([...run].flatMap((before) => [...exact].map((text) => before + text)))
      continue
    }
    isExact = false
    best = better(best, better(run, required))
    run = exact ?? new Set([''])
  }
  return isExact ? { exact: run, required: null } : { exact: null, required: better(best, run) }
}

const lowerCase = (character: string): string =>
  character >= 'A' && character <= 'Z' ? character.toLowerCase() : character

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Known {
    const known = this.#alternatives()
    if (this.#at < this.#text.length) throw new NotRead()
    return known
  }

  #alternatives(): Known {
    let known = this.#sequence()
    while (this.#text[this.#at] === '|') {
      this.#at += 1
      known = either(known, this.#sequence())
    }
    return known
  }

  #sequence(): Known {
    const parts: Known[] = []
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at] as string))
      parts.push(this.#repeated(this.#one()))
    return joined(parts)
  }

  /** What is known about a part after its quantifier is applied. */
  #repeated(part: Known): Known {
    const rest = this.#text.slice(this.#at, this.#at + 16)
    const counted = /^\{(\d+)(?:,\d*)?\}/.exec(rest)
    const sign = counted?.[0] ?? /^[*+?]/.exec(rest)?.[0]
    if (sign === undefined) return part
    this.#at += sign.length
    if (this.#text[this.#at] === '?') this.#at += 1
    if (/^[*+?]|^\{\d/.test(this.#text.slice(this.#at, this.#at + 2))) throw new NotRead()
    if (sign === '?') return either(part, EMPTY)
    return sign === '*' || Number(counted?.[1] ?? 1) === 0
      ? UNKNOWN
      : { exact: null, required: part.exact ?? part.required }
  }

  #one(): Known {
    const character = this.#text[this.#at] as string
    this.#at += 1
    if (character === '(') return this.#group()
    if (character === '[') return this.#class()
    if (character === '\\') return this.#escape()
    if (character === '.') return UNKNOWN
    if (character === '^' || character === '$') return EMPTY
    if ('*+?'.includes(character)) throw new NotRead()
    return literal(character)
  }

  #group(): Known {
    const lead = /^\?(?:P?<\w+>|[a-zA-Z-]*(?=[:)]):?)/.exec(
      this.#text.slice(this.#at, this.#at + 64),
    )
    if (this.#text[this.#at] === '?' && lead === null) throw new NotRead()
    this.#at += lead?.[0].length ?? 0
    this.#depth += 1
    if (this.#depth > DEEPEST_GROUP) throw new NotRead()
    const known = this.#alternatives()
    if (this.#text[this.#at] !== ')') throw new NotRead()
    this.#at += 1
    this.#depth -= 1
    return known
  }

  /** Members of a small class are listed; ranges, negations and named classes are not. */
  #class(): Known {
    const text = this.#text
    const isNegated = text[this.#at] === '^'
    if (isNegated) this.#at += 1
    const start = this.#at
    while (this.#at === start || text[this.#at] !== ']') {
      if (this.#at >= text.length) throw new NotRead()
      if (text.startsWith('[:', this.#at)) {
        const end = text.indexOf(':]', this.#at)
        if (end < 0) throw new NotRead()
        this.#at = end + 2
      } else this.#at += text[this.#at] === '\\' ? 2 : 1
    }
    const members = text.slice(start, this.#at)
    this.#at += 1
    const isPlain = /^[\w .,:;/#@=]{0,7}[\w .,:;/#@=-]$/.test(members)
    if (isNegated || !isPlain) return UNKNOWN
    return { exact: new Set(Array.from(members, lowerCase)), required: null }
  }

  #escape(): Known {
    const character = this.#text[this.#at]
    this.#at += 1
    if (character === undefined) throw new NotRead()
    if ('dDwWsSnrtfv'.includes(character)) return UNKNOWN
    if ('bBAz'.includes(character)) return EMPTY
    if (/[\w]/.test(character) || character > '~') throw new NotRead()
    return literal(character)
  }
}

const literal = (character: string): Known =>
  character >= ' ' && character <= '~'
    ? { exact: new Set([lowerCase(character)]), required: null }
    : UNKNOWN

/**
 * Texts of which every match of an RE2 expression contains one, in any case; null if none are known. They are ASCII, in lower
 * case, and may be short.
 */
export const requiredLiterals = (expression: string): ReadonlySet<string> | null => {
  try {
    const { exact, required } = new Reader(expression).whole()
    const found = exact ?? required
    return found === null || found.has('') ? null : found
  } catch (error) {
    if (error instanceof NotRead) return null
    throw error
  }
}
