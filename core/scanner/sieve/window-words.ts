import { BYTE, BYTE_CLASS } from '../text/byte-classes.ts'
import { HASH_PRIME, HASH_SEED, KEY_LENGTH } from '../text/token-table.ts'
import { type NeededWords, PREFIX_SALT, type WordSieve } from './word-sieve.ts'

/** Blocks of the window that are marked as a whole. */
const BLOCK_SHIFT = 8
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
  /** The numbers of the words of the present stretch. */
  readonly #stretch: Uint16Array
  readonly #found: Uint16Array
  #length = 0
  #from = -1
  #to = -1
  #stretchMarks = 0

  constructor(sieve: WordSieve, text: Buffer) {
    this.#sieve = sieve
    this.#text = text
    this.hashes = new Int32Array(text.length)
    this.starts = new Int32Array(text.length)
    this.#numbers = new Uint16Array(text.length)
    this.#stretch = new Uint16Array(text.length)
    this.#found = new Uint16Array(text.length)
    this.#marks = new Uint8Array((text.length >> BLOCK_SHIFT) + 1)
  }

  reset(): void {
    this.count = 0
    this.#numbered = 0
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
    const first = this.#firstFrom(bytes)
    for (let k = first; k < this.count; k += 1) starts[k - first] = (starts[k] as number) - bytes
    hashes.copyWithin(0, first, this.count)
    this.count -= first
    this.#numbered = 0
    this.#from = -1
  }

  /** The first word that begins there or behind it. */
  #firstFrom(place: number): number {
    const { starts } = this
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] as number) < place) low = middle + 1
      else high = middle
    }
    return low
  }

  #numberOf(hash: number): number {
    const { keys, values, mask } = this.#sieve
    let slot = (hash ^ (hash >>> 15)) & mask
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
    this.#length = 0
    this.#stretchMarks = this.#marksIn(from, to)
    if ((this.#stretchMarks & MARK.unsure) !== 0) return
    const { starts, hashes } = this
    const text = this.#text
    const numbers = this.#numbers
    const stretch = this.#stretch
    for (; this.#numbered < this.count; this.#numbered += 1)
      numbers[this.#numbered] =
        this.#numberOf(hashes[this.#numbered] as number) ||
        this.#numberAt(starts[this.#numbered] as number, end)
    let word = this.#firstFrom(from)
    const { count } = this
    let length = 0
    if (isWordByte(text[from] as number) && (word === count || starts[word] !== from)) {
      stretch[length] = this.#numberAt(from, to)
      length += 1
    }
    for (; word < count && (starts[word] as number) < to; word += 1) {
      stretch[length] = numbers[word] as number
      length += 1
    }
    const last = word === 0 ? 0 : (starts[word - 1] as number)
    const isCut = to < end && last >= from && last + KEY_LENGTH > to
    if (length > 0 && isCut && isWordByte(text[to] as number) && isWordByte(text[to - 1] as number))
      stretch[length - 1] = this.#numberAt(last, to)
    this.#length = length
  }

  /** Whether an expression may match in the stretch that was read; false is certain. */
  mayMatch(needed: NeededWords): boolean {
    if (this.#stretchMarks !== 0)
      return (this.#stretchMarks & MARK.unsure) !== 0 || this.#mayMatchBeyond(needed)
    const { classes, rows, steps, first, last, next } = needed
    const stretch = this.#stretch
    const found = this.#found
    const length = this.#length
    let count = 0
    let known = 0
    // What is between two words of the expression says only that they are not next to each other.
    for (let k = 0; k < length; k += 1) {
      const before = known
      known = classes[stretch[k] as number] as number
      if (known !== 0 || before !== 0) {
        found[count] = known * rows
        count += 1
      }
    }
    for (let row = 0; row < rows; row += 1) {
      const firsts = first[row] as number
      const nexts = next[row] as number
      let reached = 0
      let before = 0
      for (let k = 0; k < count; k += 1) {
        before =
          (((reached << 1) & ~nexts) | ((before << 1) & nexts) | firsts) &
          (steps[(found[k] as number) + row] as number)
        reached |= before
      }
      if ((reached & (last[row] as number)) !== 0) return true
    }
    return false
  }

  /** The same where words beyond ASCII stand somewhere: each may be any that is needed, and between any two words. */
  #mayMatchBeyond({ classes, rows, steps, first, last, beyond }: NeededWords): boolean {
    for (let row = 0; row < rows; row += 1) {
      const firsts = first[row] as number
      const anywhere = beyond[row] as number
      let reached = 0
      for (let k = -1; k < this.#length; k += 1) {
        const known = k < 0 ? 0 : (classes[this.#stretch[k] as number] as number)
        reached |= ((reached << 1) | firsts) & (steps[known * rows + row] as number)
        for (let more = anywhere; more !== 0; ) {
          more = ((reached << 1) | firsts) & anywhere & ~reached
          reached |= more
        }
        if ((reached & (last[row] as number)) !== 0) return true
      }
    }
    return false
  }
}
