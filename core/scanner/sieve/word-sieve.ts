import { FILTER_MASK, type HashTable, hashTable, hashWord } from '../text/token-table.ts'
import { BEYOND, type WordForm, PREFIX, type NeededWord, stepsOf } from './word-forms.ts'

/** Steps of one row: bits of a number. */
const ROW_STEPS = 32
/** Words that are told apart for one expression; class 0 is any other word. */
const CLASSES = 256

/**
 * The words that an expression needs, in order, as rows of bits. Each bit is a step of one of its forms; the bit of the step before
 * is one to the right.
 */
type NeededWords = {
  /** By the number of a word: which words this expression does not tell apart. */
  readonly classes: Uint8Array
  readonly rows: number
  /** By class and row: the steps that the word is of. */
  readonly steps: Int32Array
  /** By row: first and last steps of forms, those that directly follow the one before, and those of words beyond ASCII. */
  readonly first: Int32Array
  readonly last: Int32Array
  readonly next: Int32Array
  readonly beyond: Int32Array
}

/**
 * What `data` has of an expression, from where it begins: how many rows, where its classes begin in `classes`, where in `data` a bit
 * for each word that has a class, where by class the rows in which it begins and ends a form (see `rowBit`), where the steps
 * by class and row; then of each row `first`, `last`, `next` and `beyond`. All in one place, since a search reads those of many
 * expressions, and each array would cost a look into memory.
 */
export const PART = { rows: 0, classes: 1, known: 2, ends: 3, steps: 4, row: 5 } as const
export const ROW_NUMBERS = 4

/** The table has numbers of words and of their beginnings. */
export type WordSieve = HashTable & {
  /** The highest number. */
  readonly count: number
  /** By expression: where it begins in `data`; -1 where it may match without any word. */
  readonly begins: Int32Array
  readonly data: Int32Array
  readonly classes: Uint8Array
}

/** Says nothing about any expression. */
export const NO_SIEVE: WordSieve = {
  mask: 0,
  keys: new Int32Array(1),
  values: new Uint16Array(1),
  filter: new Uint8Array((FILTER_MASK + 1) >> 3),
  count: 0,
  begins: new Int32Array(),
  data: new Int32Array(),
  classes: new Uint8Array(),
}

const packRows = (forms: readonly (readonly NeededWord[])[]): (readonly NeededWord[])[][] => {
  const rows: (readonly NeededWord[])[][] = []
  let left = 0
  for (const steps of forms) {
    if (steps.length > left) {
      rows.push([])
      left = ROW_STEPS
    }
    rows.at(-1)?.push(steps)
    left -= steps.length
  }
  return rows
}

const nameOf = (steps: readonly NeededWord[]): string =>
  steps.map(({ words, isNext }) => `${isNext ? '+' : ' '}${[...words].sort().join()}`).join(';')

/** Without forms that are there already. */
const distinct = (forms: readonly (readonly NeededWord[])[]): (readonly NeededWord[])[] =>
  Array.from(new Map(forms.map((steps) => [nameOf(steps), steps])).values())

/** A row among others; those beyond the bits of a number share one. */
export const rowBit = (row: number): number => 1 << Math.min(row, ROW_STEPS - 1)

type Rows = Omit<NeededWords, 'classes' | 'steps'>
type Expression = Rows & { readonly stepsOfWord: Map<string, Int32Array> }

const add = (bits: Int32Array, at: number, bit: number): void => {
  bits[at] = (bits[at] as number) | bit
}

const numberSteps = (forms: readonly (readonly NeededWord[])[]): Expression => {
  const packed = packRows(forms)
  const rows = packed.length
  const made = { first: new Int32Array(rows), last: new Int32Array(rows) }
  const [next, beyond] = [new Int32Array(rows), new Int32Array(rows)]
  const stepsOfWord = new Map<string, Int32Array>()
  for (const [row, list] of packed.entries()) {
    let place = 0
    for (const steps of list)
      for (const [index, { words, isNext }] of steps.entries()) {
        const bit = 1 << place
        place += 1
        if (index === 0) add(made.first, row, bit)
        if (index === steps.length - 1) add(made.last, row, bit)
        if (isNext) add(next, row, bit)
        for (const word of words) {
          const bits = stepsOfWord.get(word) ?? new Int32Array(rows)
          if (word === BEYOND) add(beyond, row, bit)
          else stepsOfWord.set(word, bits)
          add(bits, row, bit)
        }
      }
  }
  return { rows, ...made, next, beyond, stepsOfWord }
}

/** A word also is what each of its beginnings is. @param words of all expressions */
const addPrefixes = ({ stepsOfWord }: Expression, words: readonly string[]): void => {
  for (const [prefix, bits] of Array.from(stepsOfWord)) {
    if (!prefix.endsWith(PREFIX)) continue
    const beginning = prefix.slice(0, -1)
    for (const word of words) {
      if (word === prefix || !word.startsWith(beginning)) continue
      const merged = stepsOfWord.get(word)?.slice() ?? new Int32Array(bits.length)
      for (const [row, bit] of bits.entries()) add(merged, row, bit)
      stepsOfWord.set(word, merged)
    }
  }
}

/** Words that are the same for all expressions have the same number, from 1; 0 is any other word. */
const numberWords = (
  words: readonly string[],
  expressions: readonly (Expression | null)[],
): ReadonlyMap<string, number> => {
  const names = new Map<string, string[]>(words.map((word) => [word, []]))
  for (const [index, one] of expressions.entries())
    for (const [word, bits] of one?.stepsOfWord ?? [])
      names.get(word)?.push(`${index}:${bits.join()}`)
  // Words of many expressions come first, so that what is read most stands close together in memory.
  const usage = (word: string): number => names.get(word)?.length ?? 0
  const numbers = new Map<string, number>()
  return new Map(
    [...words]
      .sort((a, b) => usage(b) - usage(a))
      .map((word) => {
        const name = names.get(word)?.join(' ') ?? ''
        const number = numbers.get(name) ?? numbers.size + 1
        numbers.set(name, number)
        return [word, number]
      }),
  )
}

const knownOf = ({ classes }: NeededWords): Int32Array => {
  const known = new Int32Array((classes.length >> 5) + 1)
  for (const [word, own] of classes.entries())
    if (own !== 0) add(known, word >> 5, 1 << (word & 31))
  return known
}

const endsOf = ({ rows, steps, first, last }: NeededWords): Int32Array => {
  const ends = new Int32Array((2 * steps.length) / rows)
  for (const [at, bits] of steps.entries()) {
    const row = at % rows
    const pair = 2 * ((at - row) / rows)
    if ((bits & (first[row] as number)) !== 0) add(ends, pair, rowBit(row))
    if ((bits & (last[row] as number)) !== 0) add(ends, pair + 1, rowBit(row))
  }
  return ends
}

const pack = (
  needed: readonly (NeededWords | null)[],
  count: number,
): Pick<WordSieve, 'begins' | 'data' | 'classes'> => {
  const data: number[] = []
  const classes = new Uint8Array(needed.length * (count + 1))
  const begins = needed.map((one, index) => {
    if (one === null) return -1
    const begin = data.length
    const { rows, steps, first, last, next, beyond } = one
    const [known, ends] = [knownOf(one), endsOf(one)]
    const knownAt = begin + PART.row + ROW_NUMBERS * rows
    const endsAt = knownAt + known.length
    data.push(rows, index * (count + 1), knownAt, endsAt, endsAt + ends.length)
    for (let row = 0; row < rows; row += 1)
      for (const bits of [first, last, next, beyond]) data.push(bits[row] as number)
    data.push(...known, ...ends, ...steps)
    classes.set(one.classes, index * (count + 1))
    return begin
  })
  return { begins: Int32Array.from(begins), data: Int32Array.from(data), classes }
}

const classify = (
  { stepsOfWord, ...rows }: Expression,
  numbers: ReadonlyMap<string, number>,
  count: number,
): NeededWords | null => {
  const known = new Map<string, number>()
  const classes = new Uint8Array(count + 1)
  const steps = Array<number>(rows.rows).fill(0)
  for (const [word, bits] of stepsOfWord) {
    const name = bits.join()
    let one = known.get(name)
    if (one === undefined) {
      known.set(name, (one = known.size + 1))
      steps.push(...bits)
    }
    classes[numbers.get(word) ?? 0] = one
  }
  return known.size < CLASSES ? { ...rows, classes, steps: Int32Array.from(steps) } : null
}

/** What a beginning of a word is looked up by, so that it is not taken for the word. */
export const PREFIX_SALT = 0x5bd1e995

/** Slots for each word of the sieve. */
const ROOM = 2

/** @param pairs a hash and the number of its word, for each word and each beginning of one */
export const tableOfWords = (pairs: ArrayLike<number>): HashTable => hashTable(pairs, ROOM)

const hashOf = (word: string): number =>
  word.endsWith(PREFIX) ? hashWord(word.slice(0, -1)) ^ PREFIX_SALT : hashWord(word)

/** @param expressions the forms of each */
export const buildWordSieve = (expressions: readonly (readonly WordForm[])[]): WordSieve => {
  const numbered = expressions.map((forms) => {
    const steps = distinct(forms.map((form) => stepsOf(form).slice(0, ROW_STEPS)))
    return steps.some((one) => one.length === 0) ? null : numberSteps(steps)
  })
  const words = Array.from(
    new Set(numbered.flatMap((one) => (one === null ? [] : [...one.stepsOfWord.keys()]))),
  )
  for (const one of numbered) if (one !== null) addPrefixes(one, words)
  const numbers = numberWords(words, numbered)
  const count = Math.max(0, ...numbers.values())
  const pairs = Array.from(numbers).flatMap(([word, number]) => [hashOf(word), number])
  return {
    ...tableOfWords(pairs),
    count,
    ...pack(
      numbered.map((one) => (one === null ? null : classify(one, numbers, count))),
      count,
    ),
  }
}
