import { BYTE, BYTE_CLASS } from '../text/byte-classes.ts'
import { FILTER_MASK, HASH_PRIME, HASH_SEED, KEY_LENGTH } from '../text/token-table.ts'
import { PART, PREFIX_SALT, ROW_NUMBERS, rowBit, type WordSieve } from './word-sieve.ts'

/** Blocks of the window that are marked as a whole. */
const BLOCK_SHIFT = 8
/** Blocks of the window whose first word is known. */
const INDEX_SHIFT = 6
/** A block has letters beyond ASCII; it has a word of both kinds, or one that is cut. */
export const MARK = { beyond: 1, unsure: 2 } as const

const isWordByte = (byte: number): boolean => {
  const kind = BYTE_CLASS[byte]
  return kind === BYTE.lower || kind === BYTE.digit
}

/** The words of a window of text, and what can be said by them about a stretch of it without reading its bytes. */
export class WindowWords {
  readonly hashes: Int32Array
  readonly starts: Int32Array
  count = 0

  readonly #sieve: WordSieve
  readonly #text: Buffer
  readonly #marks: Uint8Array
  /** Numbers of the first words, as far as they were looked up. */
  readonly #numbers: Uint16Array
  #numbered = 0
  /** By block: the first word that begins in it or behind it, as far as words were looked up. */
  readonly #index: Int32Array
  #indexed = 0
  /** The present stretch, and its words. */
  #from = -1
  #to = -1
  #first = 0
  #last = 0
  /** Numbers of a word that is cut at the beginning or the end of the stretch; -1: it is not. */
  #cutFirst = -1
  #cutLast = -1
  /** Where the steps of those words begin that an expression knows. */
  readonly #found: Int32Array
  #foundCount = 0
  #stretchMarks = 0

  constructor(sieve: WordSieve, text: Buffer) {
    this.#sieve = sieve
    this.#text = text
    this.hashes = new Int32Array(text.length)
    this.starts = new Int32Array(text.length)
    this.#numbers = new Uint16Array(text.length)
    this.#found = new Int32Array(text.length)
    this.#index = new Int32Array((text.length >> INDEX_SHIFT) + 1)
    this.#marks = new Uint8Array((text.length >> BLOCK_SHIFT) + 1)
  }

  reset(): void {
    this.count = 0
    this.#numbered = this.#indexed = 0
    this.#from = -1
    this.#marks.fill(0)
  }

  mark(from: number, to: number, mark: number): void {
    for (let block = from >> BLOCK_SHIFT; block <= to >> BLOCK_SHIFT; block += 1)
      this.#marks[block] = (this.#marks[block] as number) | mark
  }

  #marksIn(from: number, to: number): number {
    let marks = 0
    for (let block = from >> BLOCK_SHIFT; block <= to >> BLOCK_SHIFT; block += 1)
      marks |= this.#marks[block] as number
    return marks
  }

  /** To be called when the window, which ends at `end`, has moved by this many bytes. */
  shift(bytes: number, end: number): void {
    const marks = this.#marksIn(bytes, end)
    this.#marks.fill(0)
    this.mark(0, end - bytes, marks)
    const { starts, hashes } = this
    this.#lookUp(end)
    const first = this.#firstFrom(bytes)
    for (let k = first; k < this.count; k += 1) starts[k - first] = (starts[k] as number) - bytes
    hashes.copyWithin(0, first, this.count)
    this.count -= first
    this.#numbered = this.#indexed = 0
    this.#from = -1
  }

  /** The first word that begins there or behind it. */
  #firstFrom(place: number): number {
    const { starts, count } = this
    const block = place >> INDEX_SHIFT
    let word = block < this.#indexed ? (this.#index[block] as number) : count
    while (word < count && (starts[word] as number) < place) word += 1
    return word
  }

  /** Looks up the words up to here, in a window that ends at `end`. */
  #lookUp(end: number): void {
    const { starts, hashes, count } = this
    const numbers = this.#numbers
    const index = this.#index
    let indexed = this.#indexed
    for (let word = this.#numbered; word < count; word += 1) {
      const start = starts[word] as number
      for (; indexed <= start >> INDEX_SHIFT; indexed += 1) index[indexed] = word
      numbers[word] = this.#numberOf(hashes[word] as number) || this.#numberAt(start, end)
    }
    this.#indexed = indexed
    this.#numbered = count
  }

  #numberOf(hash: number): number {
    const { keys, values, mask, filter } = this.#sieve
    const bits = hash ^ (hash >>> 15)
    const bit = bits & FILTER_MASK
    if (((filter[bit >> 3] as number) & (1 << (bit & 7))) === 0) return 0
    let slot = bits & mask
    for (;;) {
      const held = keys[slot] as number
      if (held === 0) return 0
      if (held === hash) return values[slot] as number
      slot = (slot + 1) & mask
    }
  }

  /** Of the word that begins there, as a search that ends at `to` reads it; else of the longest known beginning of it. */
  #numberAt(from: number, to: number): number {
    const text = this.#text
    const stop = Math.min(to, from + KEY_LENGTH)
    let hash = HASH_SEED
    let number = 0
    for (let at = from; at < stop && isWordByte(text[at] as number); at += 1) {
      hash = Math.imul(hash ^ (text[at] as number), HASH_PRIME)
      number = this.#numberOf(hash ^ PREFIX_SALT) || number
    }
    return this.#numberOf(hash) || number
  }

  /** Reads the words of a stretch of the window, which ends at `end`. A word that is cut counts as what is left of it. */
  readStretch(from: number, to: number, end: number): void {
    if (from === this.#from && to === this.#to) return
    this.#from = from
    this.#to = to
    this.#stretchMarks = this.#marksIn(from, to)
    if ((this.#stretchMarks & MARK.unsure) !== 0) return
    this.#lookUp(end)
    const { starts, count } = this
    const text = this.#text
    const first = this.#firstFrom(from)
    const last = this.#firstFrom(to)
    this.#first = first
    this.#last = last
    const isFirstCut =
      isWordByte(text[from] as number) && (first === count || starts[first] !== from)
    this.#cutFirst = isFirstCut ? this.#numberAt(from, to) : -1
    const start = last > first ? (starts[last - 1] as number) : -1
    const isLastCut =
      to < end &&
      start >= 0 &&
      start + KEY_LENGTH > to &&
      isWordByte(text[to] as number) &&
      isWordByte(text[to - 1] as number)
    this.#cutLast = isLastCut ? this.#numberAt(start, to) : -1
  }

  /**
   * Collects the words of the stretch that an expression knows; 0 stands for any others between them. @returns in which rows a form
   * may begin and end
   */
  #findKnown(expression: number): number {
    const { data, classes } = this.#sieve
    const rows = data[expression] as number
    const classesAt = data[expression + PART.classes] as number
    const knownAt = data[expression + PART.known] as number
    const ends = data[expression + PART.ends] as number
    const steps = data[expression + PART.steps] as number
    const found = this.#found
    const numbers = this.#numbers
    const last = this.#last
    let count = 0
    let isKnown = false
    let begun = 0
    let ended = 0
    const first = this.#first
    const cutFirst = this.#cutFirst
    const lastCut = this.#cutLast < 0 ? last : last - 1
    for (let k = cutFirst < 0 ? first : first - 1; k < last; k += 1) {
      const number = k < first ? cutFirst : k < lastCut ? (numbers[k] as number) : this.#cutLast
      const wasKnown = isKnown
      isKnown = (((data[knownAt + (number >> 5)] as number) >> (number & 31)) & 1) !== 0
      if (isKnown) {
        const one = classes[classesAt + number] as number
        found[count] = steps + one * rows
        count += 1
        begun |= data[ends + 2 * one] as number
        ended |= (data[ends + 2 * one + 1] as number) & begun
      } else if (wasKnown) {
        found[count] = steps
        count += 1
      }
    }
    this.#foundCount = count
    return ended
  }

  /** Whether an expression may match in the stretch that was read; false is certain. @param expression where it begins in `data` */
  mayMatch(expression: number): boolean {
    if (this.#stretchMarks !== 0)
      return (this.#stretchMarks & MARK.unsure) !== 0 || this.#mayMatchBeyond(expression)
    const ended = this.#findKnown(expression)
    if (ended === 0) return false
    const { data } = this.#sieve
    const rows = data[expression] as number
    const found = this.#found
    const count = this.#foundCount
    let at = expression + PART.row
    for (let row = 0; row < rows; row += 1, at += ROW_NUMBERS) {
      if ((ended & rowBit(row)) === 0) continue
      const firsts = data[at] as number
      const nexts = data[at + 2] as number
      let reached = 0
      let before = 0
      for (let k = 0; k < count; k += 1) {
        before =
          (((reached << 1) & ~nexts) | ((before << 1) & nexts) | firsts) &
          (data[(found[k] as number) + row] as number)
        reached |= before
      }
      if ((reached & (data[at + 1] as number)) !== 0) return true
    }
    return false
  }

  /** The same where words beyond ASCII stand somewhere: each may be any that is needed, and between any two words. */
  #mayMatchBeyond(expression: number): boolean {
    this.#findKnown(expression)
    const { data } = this.#sieve
    const rows = data[expression] as number
    const none = data[expression + PART.steps] as number
    for (let row = 0; row < rows; row += 1) {
      const at = expression + PART.row + ROW_NUMBERS * row
      const firsts = data[at] as number
      const anywhere = data[at + 3] as number
      let reached = 0
      for (let k = -1; k < this.#foundCount; k += 1) {
        const steps = k < 0 ? none : (this.#found[k] as number)
        reached |= ((reached << 1) | firsts) & (data[steps + row] as number)
        for (let more = anywhere; more !== 0; ) {
          more = ((reached << 1) | firsts) & anywhere & ~reached
          reached |= more
        }
        if ((reached & (data[at + 1] as number)) !== 0) return true
      }
    }
    return false
  }
}
