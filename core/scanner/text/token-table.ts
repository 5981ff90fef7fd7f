import { foldBeyondAscii, foldCodePoint, KIND, KIND_SHIFT } from './fold.ts'

/** Words longer than this are known by their first letters; the expression of the pattern decides. */
export const KEY_LENGTH = 8
export const HASH_SEED = 0x811c9dc5 | 0
export const HASH_PRIME = 0x01000193

const isIdeograph = (word: string): boolean =>
  ((foldCodePoint(word.codePointAt(0) ?? 0) >> KIND_SHIFT) & 7) === KIND.ideograph

/**
 * The hash the tokeniser computes while it reads a word: FNV-1a over code points. Scripts without spaces
 * have no words, so there every two neighbouring characters are one.
 */
export const hashWord = (word: string): number => {
  let hash = HASH_SEED
  let length = 0
  const folded = foldBeyondAscii(word)
  const limit = isIdeograph(folded) ? 2 : KEY_LENGTH
  for (const character of folded) {
    if (length === limit) break
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), HASH_PRIME)
    length += 1
  }
  return hash === 0 ? 1 : hash
}

/** Bits of `filter`: some thirty times the words of the lists. */
export const FILTER_MASK = 0xffff

/** Open addressing. Keys are hashes (0: empty). */
export type HashTable = {
  readonly mask: number
  readonly keys: Int32Array
  readonly values: Uint16Array
  /** One bit per hash, small enough to stay in the CPU cache: most words of a text are in no list. */
  readonly filter: Uint8Array
}

/**
 * @param pairs a hash and its value, for each word
 * @param room slots for each word, at least
 */
export const hashTable = (pairs: ArrayLike<number>, room: number): HashTable => {
  let size = 1024
  while (size < (pairs.length / 2) * room) size *= 2
  const keys = new Int32Array(size)
  const values = new Uint16Array(size)
  const filter = new Uint8Array((FILTER_MASK + 1) >> 3)
  for (let at = 0; at < pairs.length; at += 2) {
    const hash = pairs[at] as number
    let slot = (hash ^ (hash >>> 15)) & (size - 1)
    while (keys[slot] !== 0) slot = (slot + 1) & (size - 1)
    keys[slot] = hash
    values[slot] = pairs[at + 1] as number
    const bit = (hash ^ (hash >>> 15)) & FILTER_MASK
    filter[bit >> 3] = (filter[bit >> 3] as number) | (1 << (bit & 7))
  }
  return { mask: size - 1, keys, values, filter }
}

/** Slots for each word of the lists. */
const ROOM = 4

/** Values are indexes of `classesOf`. */
export type TokenTable = HashTable & {
  /** Class numbers of each distinct word, ascending. Words of the same classes share the list. */
  readonly classesOf: readonly Uint16Array[]
}

export const buildTokenTable = (wordsOfClass: readonly (readonly string[])[]): TokenTable => {
  const classesByHash = new Map<number, number[]>()
  for (const [classNumber, words] of wordsOfClass.entries()) {
    for (const word of words) {
      const hash = hashWord(word)
      const classes = classesByHash.get(hash)
      if (classes === undefined) classesByHash.set(hash, [classNumber])
      // The numbers ascend, so only the last can be the same.
      else if (classes.at(-1) !== classNumber) classes.push(classNumber)
    }
  }
  const pairs: number[] = []
  const classesOf: Uint16Array[] = []
  const made = new Map<string, Uint16Array>()
  for (const [hash, classes] of classesByHash) {
    const name = classes.join(' ')
    let same = made.get(name)
    if (same === undefined) made.set(name, (same = new Uint16Array(classes)))
    pairs.push(hash, classesOf.push(same) - 1)
  }
  return { ...hashTable(pairs, ROOM), classesOf }
}

/** Index into `classesOf`, or -1. */
export const findToken = (table: TokenTable, hash: number): number => {
  let slot = (hash ^ (hash >>> 15)) & table.mask
  while (table.keys[slot] !== 0) {
    if (table.keys[slot] === hash) return table.values[slot] as number
    slot = (slot + 1) & table.mask
  }
  return -1
}
