import RE2 from 're2'
import type { Pattern } from '../pattern.ts'
import { foldBeyondAscii } from '../text/fold.ts'
import { buildTokenTable, type TokenTable } from '../text/token-table.ts'
import { NO_SIEVE, type WordSieve } from '../sieve/word-sieve.ts'
import { buildGateProgram, type CompiledGate, type GateProgram } from './gate-program.ts'

export type CompiledPatterns = {
  readonly patterns: readonly Pattern[]
  /** Compiled when it is first asked for: most patterns never match, and all together take 100 ms. */
  readonly matcherOf: (pattern: number) => RE2
  /**
   * The same without upper bounds of repetition, which find whatever the matchers find and cost far less on any text. Of a pattern
   * with alternatives only needed when the budget is used up.
   */
  readonly relaxedOf: (pattern: number) => RE2
  /** What is searched for first, without upper bounds as well: the pattern, or each of its alternatives. */
  readonly soughtOf: (pattern: number) => readonly RE2[]
  /** Where the words that each of them needs begin in the sieve; -1: it needs none. */
  readonly neededOf: (pattern: number) => readonly number[]
  readonly sieve: WordSieve
  /** The compiled `model_sign` of a pattern that everyday wording matches too; null for the others. */
  readonly modelSignOf: (pattern: number) => RE2 | null
  /** Whether a match would not be one with a line break in it: commands and code end with their line. */
  readonly endsWithLine: (pattern: number) => boolean
  readonly table: TokenTable
  readonly class_count: number
  readonly gates: GateProgram
}

/** `word`, `stem*`, or a phrase in which `^` marks the word that opens the gate (else the longest one). */
export type WordClasses = Readonly<Record<string, string>>

const ASCII_WORD = /^[a-z0-9 ]+$/

export const splitWords = (list: string): string[] =>
  list
    .split(/[\n,]+/)
    .map((word) => word.trim())
    .filter(Boolean)

/** The word of an entry that the tokenizer searches for. */
export const anchorOf = (entry: string): string => {
  const parts = entry.split(' ')
  const marked = parts.find((part) => part.startsWith('^'))
  const longest = parts.reduce((a, b) => (b.length > a.length ? b : a))
  return (marked ?? longest).replace('^', '').replace('*', '')
}

const entrySource = (entry: string): string => {
  const folded = foldBeyondAscii(entry.replaceAll('^', ''))
  const isAscii = ASCII_WORD.test(folded.replaceAll('*', ''))
  const source = folded.replaceAll(' ', isAscii ? '[^a-z0-9]+' : '.{0,3}').replaceAll('*', '[a-z]*')
  return isAscii ? `\\b${source}\\b` : source.replaceAll('[a-z]*', '')
}

export const sourceOfList = (list: string): string =>
  `(?:${splitWords(list).map(entrySource).join('|')})`

/** Up to n words between two others, as the normalised text has them. */
const gapSource = (words: number, between: string): string =>
  `(?:${between}[a-z0-9]+){0,${words}}?${between}`

/** Where prose is wrapped, a line break separates words like a blank. Classes of characters say what they mean. */
const acrossLines = (expression: string): string =>
  expression.replace(/\\.|\[(?:\\.|[^\]\\])*\]| /g, (part) => (part === ' ' ? '[ \\n]' : part))

const expandExpression = (expression: string, sourceOfClass: (name: string) => string): string =>
  foldBeyondAscii(expression).replace(/\{([a-z][a-z_0-9]*)\}/g, (_, name: string) => {
    const gap = /^([gs])(\d+)$/.exec(name)
    if (gap !== null)
      return gapSource(Number(gap[2]), gap[1] === 's' ? '[^a-z0-9.!?\\n]+' : '[^a-z0-9]+')
    return sourceOfClass(name)
  })

/**
 * Counting makes an automaton of one state for each set of places where the counting began: a text of trigger words in
 * any order makes RE2 build new states at every byte. Without upper bounds there are few.
 */
const withoutUpperBounds = (source: string): string =>
  source.replace(/(?<!\\)\{(\d+),\d+\}/g, (_, least: string) => `{${least},}`)

/** Matches no text. */
const NEVER = '[^\\s\\S]'

const symbolTable = (symbols: string): Uint8Array => {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(symbols)) table[byte] = 1
  return table
}

/** Gates by the class that closes them. */
const collectGates = (
  patterns: readonly Pattern[],
  class_count: number,
  numberOf: (name: string) => number,
): CompiledGate[][] => {
  const gatesOf: CompiledGate[][] = Array.from({ length: class_count }, () => [])
  for (const [index, pattern] of patterns.entries()) {
    for (const gate of pattern.gates) {
      if ('word' in gate)
        gatesOf[numberOf(gate.word)]?.push({
          first: -1,
          within: 0,
          pattern: index,
          after: gate.after === undefined ? null : symbolTable(gate.after),
        })
      else
        gatesOf[numberOf(gate.second)]?.push({
          first: numberOf(gate.first),
          within: gate.within,
          pattern: index,
          after: null,
        })
    }
  }
  return gatesOf
}

/** What is searched for of each pattern. */
export const expressionsOf = ({ expression, alternatives }: Pattern): readonly string[] =>
  alternatives ?? [expression]

export const compilePatterns = (
  patterns: readonly Pattern[],
  classes: WordClasses,
  reserved: readonly (readonly string[])[],
  sieve: WordSieve = NO_SIEVE,
): CompiledPatterns => {
  const names = Object.keys(classes)
  const numberOf = (name: string): number => {
    const index = names.indexOf(name)
    if (index < 0) throw new Error(`no word class is called ${name}`)
    return index + reserved.length
  }
  const words = names.map((name) => splitWords(classes[name] ?? '').map(anchorOf))
  const gatesOf = collectGates(patterns, names.length + reserved.length, numberOf)
  const table = buildTokenTable([...reserved, ...words])
  const classSources = new Map<string, string>()
  const sourceOfClass = (name: string): string => {
    const known = classSources.get(name)
    if (known !== undefined) return known
    const list = classes[name]
    if (list === undefined) throw new Error(`no word class is called ${name}`)
    const source = sourceOfList(list)
    classSources.set(name, source)
    return source
  }
  const endsWithLine = (pattern: number): boolean =>
    patterns[pattern]?.category === 'shell_injection'
  const sourceOf = (pattern: number, expression = patterns[pattern]?.expression ?? ''): string =>
    expandExpression(endsWithLine(pattern) ? expression : acrossLines(expression), sourceOfClass)
  const relax = (source: string): RE2 => new RE2(withoutUpperBounds(source), 'us')
  const relaxedOf = (pattern: number): RE2 => (relaxed[pattern] ??= relax(sourceOf(pattern)))
  const divide = (pattern: number): RE2[] =>
    patterns[pattern]?.alternatives?.map((one) => relax(sourceOf(pattern, one))) ?? [
      relaxedOf(pattern),
    ]
  let begin = 0
  const needed = patterns.map((pattern) =>
    expressionsOf(pattern).map(() => sieve.begins[begin++] ?? -1),
  )
  const matchers: RE2[] = []
  const relaxed: RE2[] = []
  const sought: RE2[][] = []
  const signs: RE2[] = []
  return {
    patterns,
    matcherOf: (pattern) => (matchers[pattern] ??= new RE2(sourceOf(pattern), 'us')),
    relaxedOf,
    soughtOf: (pattern) => (sought[pattern] ??= divide(pattern)),
    neededOf: (pattern) => needed[pattern] ?? [],
    sieve,
    modelSignOf: (pattern) => {
      const sign = patterns[pattern]?.model_sign
      if (sign === undefined) return null
      return (signs[pattern] ??= new RE2(sign === '' ? NEVER : foldBeyondAscii(sign), 'us'))
    },
    endsWithLine,
    table,
    class_count: names.length + reserved.length,
    gates: buildGateProgram(table.classesOf, gatesOf),
  }
}
