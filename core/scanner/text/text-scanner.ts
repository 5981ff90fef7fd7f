import type { CompiledPatterns } from '../patterns/compile-patterns.ts'
import {
  BYTE,
  BYTE_CLASS,
  SYMBOL_MARK,
  SYMBOL_MARKS,
  WORD_BYTE,
  WORD_KIND_SHIFT,
} from './byte-classes.ts'
import {
  clearSigns,
  emptySigns,
  mark,
  noteHyphen,
  noteWord,
  SEEN,
  type Signs,
} from './disguise-signs.ts'
import { CODE_POINT_MASK, expansionAt, foldCodePoint, INVISIBLE, KIND, KIND_SHIFT } from './fold.ts'
import { HiddenLetters, mayHide } from './hidden-letters.ts'
import { MARK, WindowWords } from '../sieve/window-words.ts'
import { type Hit, PlaceSearch } from './place-search.ts'
import { type Escape, readEscape } from './read-escape.ts'
import type { SearchBudget } from './search-budget.ts'
import { FILTER_MASK, HASH_PRIME, HASH_SEED, KEY_LENGTH } from './token-table.ts'

/** The size of the window of normalised text; it slides over longer texts. */
const WINDOW_BYTES = 65_536
/** A window is evaluated when less than this is free: more than one character or escape adds. */
const WINDOW_SLACK_BYTES = 256
/** How much is kept when the window slides, so that a match across the boundary is found. */
const OVERLAP_BYTES = 2_048
/** The distance of everything read before a source from its first word. */
const FAR_TOKENS = 1_000
/** Rulers and fillers: further repetitions of one symbol add nothing. */
const SAME_SYMBOL = 3
/** So many lines in a row, none with more words than this, may be one sentence. */
export const SHORT_LINES = 2
export const SHORT_LINE_WORDS = 3
/** Words of letters within these lengths are not a sign of a disguise. */
const SHORTEST_PLAIN_WORD = 3
const LONGEST_PLAIN_WORD = 15
const DIGIT_BIT = 1 << BYTE.digit
const BEYOND_BIT = 1 << BYTE.beyond
const LETTER_R = 0x72
/** The tag characters from U+E0000 on, in blocks of 128. */
const TAG_BLOCK = 0xe0000 >> 7

/** The pattern number of hits of the learned model. */
export const LEARNED_PATTERN = -1

/** Scores words by their hashes, from the first up to an end; a hit is a range of words. */
export type WordJudge = (
  hashes: Int32Array,
  first: number,
  end: number,
) => { readonly from: number; readonly to: number; readonly score: number } | null

/** A window of text when it was evaluated, for decoding disguises. */
export type WindowView = {
  readonly source: Buffer
  readonly text: Buffer
  /** Source offset of each byte of `text`. */
  readonly offsets: Int32Array
  readonly start: number
  readonly end: number
  readonly signs: Signs
}

/**
 * Reads bytes once, writes them normalised into a sliding window, looks up each word, and tries the expressions only where the
 * words of a gate occur together. One instance processes one text at a time.
 */
export class TextScanner {
  /** Characters without a glyph, and the source offset of the first. */
  invisible_count = 0
  invisible_at = -1
  /** Letters that are hidden from filters. */
  readonly hidden = new HiddenLetters()
  /** Whether a JSON string has escapes other than those of line breaks, tabs and quotes. */
  has_odd_escapes = false

  readonly #compiled: CompiledPatterns
  readonly #onWindow: (view: WindowView) => void
  readonly #text = Buffer.allocUnsafe(WINDOW_BYTES)
  readonly #offsets = new Int32Array(WINDOW_BYTES)
  readonly #places: PlaceSearch
  #source: Buffer = Buffer.alloc(0)
  #n = 0
  #windowStart = 0
  #pieceStart = 0
  #tokens = FAR_TOKENS
  #length = 0
  #hash = HASH_SEED
  #bits = 0
  #wordStart = 0
  #ideographBefore = 0
  /** The words before the present line, and the short lines directly before it. */
  #lineTokens = FAR_TOKENS
  #shortLines = 0
  readonly #escape: Escape = { code_point: 0, length: 0 }
  readonly #signs: Signs = emptySigns()
  readonly #lastToken: Int32Array
  readonly #lastAt: Int32Array
  readonly #words: WindowWords
  /** The words up to here were passed to the learned model. */
  #judged = 0
  readonly #onWords: WordJudge | null

  constructor(
    compiled: CompiledPatterns,
    onWindow: (view: WindowView) => void,
    onWords: WordJudge | null = null,
  ) {
    this.#onWords = onWords
    this.#compiled = compiled
    this.#words = new WindowWords(compiled.sieve, this.#text)
    this.#places = new PlaceSearch(compiled, this.#text, this.#offsets, this.#words)
    this.#onWindow = onWindow
    this.#lastToken = new Int32Array(compiled.class_count).fill(-1e9)
    this.#lastAt = new Int32Array(compiled.class_count)
  }

  /** After this many hits, reading of a source pauses. */
  hit_limit = Number.POSITIVE_INFINITY

  get isFull(): boolean {
    return this.#places.hits.length >= this.hit_limit
  }

  get hits(): readonly Hit[] {
    return this.#places.hits
  }

  /** The patterns to search for, one byte each: 0 skips one. */
  get active(): Uint8Array {
    return this.#places.active
  }

  set active(active: Uint8Array) {
    this.#places.active = active
  }

  /** The budget of the request that the next sources belong to. */
  set budget(budget: SearchBudget) {
    this.#places.budget = budget
  }

  /** Begins a new source: offsets of later hits are offsets in it. */
  begin(source: Buffer): void {
    this.#source = source
    this.#places.budget.refill(source.length)
    this.#n = 0
    this.#windowStart = 0
    this.#pieceStart = 0
    this.#places.reset()
    this.#words.reset()
    this.#judged = 0
    this.#tokens = FAR_TOKENS
    this.#lineTokens = FAR_TOKENS
    this.#shortLines = 0
    this.#lastToken.fill(-1e9)
    this.invisible_count = 0
    this.invisible_at = -1
    this.hidden.begin()
    this.has_odd_escapes = false
    clearSigns(this.#signs)
    this.#signs.seen = 0
  }

  /** Ends the source: waiting positions are searched, and the rest of the window is evaluated. */
  finish(): void {
    this.#workOff(true)
  }

  /**
   * Reads one piece of the source: up to `end`, or with `isJson` up to the quote that closes the string. The strings of a body
   * follow one another in the window, so that an attack that is split over the elements of an array is read as one text. Where
   * the position of a text matters, a pattern stays within its string.
   * @returns the offset after what was read: of the closing quote, or `end`
   */
  piece(start: number, end: number, isJson: boolean): number {
    this.#pieceStart = this.#n
    this.#places.beginPiece(this.#n)
    this.hidden.beginText()
    const after = this.#read(start, end, isJson)
    this.#places.search(this.#n, true)
    this.#judgeWords()
    if (this.#n > WINDOW_BYTES - OVERLAP_BYTES) this.#workOff(false)
    if (this.#n > this.#pieceStart) {
      this.#noteLineBreak(this.#text[this.#n - 1] as number)
      this.#write(0x0a, start)
    }
    this.#lineTokens = this.#tokens
    this.#shortLines = 0
    this.#pieceStart = this.#n
    return after
  }

  // One loop, since its state lives in registers: split into functions it takes twice as long.
  // oxlint-disable-next-line max-lines-per-function
  #read(start: number, end: number, isJson: boolean): number {
    // Imported names are looked up at every use, which this loop would feel: 18 ns a byte against 5.
    const byteClasses = BYTE_CLASS
    const wordBytes = WORD_BYTE
    const kindShift = WORD_KIND_SHIFT
    const prime = HASH_PRIME
    const seed = HASH_SEED
    const keyLength = KEY_LENGTH
    const shortestPlain = SHORTEST_PLAIN_WORD
    const longestPlain = LONGEST_PLAIN_WORD
    const {
      lower: lowerKind,
      newline: newlineKind,
      space: spaceKind,
      other: otherKind,
      quote: quoteKind,
      apostrophe: apostropheKind,
      escape: escapeKind,
      upper: upperKind,
    } = BYTE
    const symbolMarks = SYMBOL_MARKS
    const source = this.#source
    const text = this.#text
    const offsets = this.#offsets
    const words = this.#words
    const wordHashes = words.hashes
    const wordStarts = words.starts
    const { filter } = this.#compiled.table
    const filterMask = FILTER_MASK
    const oddBits = DIGIT_BIT | BEYOND_BIT
    const limit = WINDOW_BYTES - WINDOW_SLACK_BYTES
    let n = this.#n
    let length = 0
    let hash = seed
    let bits = 0
    let wordStart = n
    let i = start
    while (i < end) {
      const byte = source[i] as number
      let word = wordBytes[byte] as number
      if (word !== 0 && n < limit) {
        if (length === 0) wordStart = n
        const before = n
        const stop = end - i < limit - n ? end : i + limit - n
        const hashed = length < keyLength ? i + keyLength - length : i
        const hashStop = hashed < stop ? hashed : stop
        let seen = 0
        while (i < hashStop) {
          word = wordBytes[source[i] as number] as number
          if (word === 0) break
          text[n] = word
          offsets[n] = i
          n += 1
          i += 1
          hash = Math.imul(hash ^ (word & 0xff), prime)
          seen |= word
        }
        // Only the first letters count for the hash.
        if (word !== 0) {
          while (i < stop) {
            word = wordBytes[source[i] as number] as number
            if (word === 0) break
            text[n] = word
            offsets[n] = i
            n += 1
            i += 1
            seen |= word
          }
        }
        length += n - before
        bits |= seen >> kindShift
        continue
      }
      let kind = byteClasses[byte] as number
      if (n >= limit) {
        this.#n = n
        if (length > 0) this.#endWord(hash, wordStart, length, bits)
        words.mark(n - 1, n, MARK.unsure)
        this.#workOff(false)
        n = this.#n
        length = bits = 0
        hash = seed
        continue
      }
      let value = byte
      let width = 1
      if (kind === apostropheKind) {
        const next = byteClasses[source[i + 1] as number] as number
        if (length > 0 && i + 1 < end && (next === lowerKind || next === upperKind)) {
          i += 1
          continue
        }
        kind = otherKind
      } else if (kind === escapeKind && isJson && byte === 0x5c) {
        // The most frequent escapes of JSON texts; all others take the slow path.
        const next = source[i + 1]
        if (next === 0x6e || next === 0x72) kind = newlineKind
        else if (next === 0x74) kind = spaceKind
        else if (next === 0x22) {
          kind = otherKind
          value = 0x22
        }
        if (kind !== escapeKind) width = 2
      }
      if (kind <= newlineKind) {
        if (length > 0) {
          // Most words are in no list and have no sign of a disguise: they end here.
          const isPlain =
            (bits & oddBits) === 0 && length >= shortestPlain && length <= longestPlain
          const bit = (hash ^ (hash >>> 15)) & filterMask
          if (isPlain && ((filter[bit >> 3] as number) & (1 << (bit & 7))) === 0) {
            this.#tokens += 1
            const { count } = words
            wordHashes[count] = hash
            wordStarts[count] = wordStart
            words.count = count + 1
          } else {
            this.#n = n
            this.#endWord(hash, wordStart, length, bits)
          }
          length = bits = 0
          hash = seed
          if (byte === 0x20) {
            text[n] = byte
            offsets[n] = i
            n += 1
            i += 1
            continue
          }
        }
        const before = n > this.#pieceStart ? (text[n - 1] as number) : 0x20
        if (kind !== otherKind) {
          if (byte === 0x1b) this.#signs.seen |= SEEN.escape_character
          if (kind === newlineKind)
            this.#noteLineEnd(before === 0x20 && n > 1 ? (text[n - 2] as number) : before)
          if (before !== 0x20 && before !== 0x0a) {
            text[n] = kind === newlineKind ? 0x0a : 0x20
            offsets[n] = i
            n += 1
          } else if (kind === newlineKind && n > this.#pieceStart) text[n - 1] = 0x0a
        } else if (
          before !== value ||
          n < SAME_SYMBOL ||
          text[n - 2] !== value ||
          text[n - 3] !== value
        ) {
          text[n] = value
          offsets[n] = i
          n += 1
          const marks = symbolMarks[value] as number
          if (marks !== 0) this.#noteSymbol(marks, before, n - 1)
        }
        i += width
        continue
      }
      if (kind === quoteKind) {
        if (isJson) break
        kind = otherKind
      }
      this.#n = n
      this.#length = length
      this.#hash = hash
      this.#bits = bits
      this.#wordStart = wordStart
      i = this.#readSpecial(byte, kind, i, end, isJson)
      n = this.#n
      length = this.#length
      hash = this.#hash
      bits = this.#bits
      wordStart = this.#wordStart
    }
    this.#n = n
    if (length > 0) this.#endWord(hash, wordStart, length, bits)
    this.#length = 0
    this.#ideographBefore = 0
    return i
  }

  /** Reads a character that is not an ASCII letter or digit, a blank or an ordinary symbol. */
  #readSpecial(byte: number, kind: number, at: number, end: number, isJson: boolean): number {
    const source = this.#source
    if (kind === BYTE.beyond) return this.#readBeyondAscii(byte, at, end)
    if (kind === BYTE.escape) {
      if (isJson && byte === 0x5c) this.has_odd_escapes = true
      readEscape(source, at, end, isJson, this.#escape)
      if (this.#escape.code_point >= 0) {
        if (byte !== 0x5c || !isJson) this.#signs.escapes += 1
        this.#noteHidden(this.#escape.code_point, at, at + this.#escape.length)
        this.#emit(this.#escape.code_point, at)
        return at + this.#escape.length
      }
    }
    this.#emit(byte, at)
    return at + 1
  }

  /** Decodes one UTF-8 sequence, also one that is longer than needed; an invalid byte counts as a symbol. */
  #readBeyondAscii(byte: number, at: number, end: number): number {
    const source = this.#source
    const more = byte < 0xc0 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : byte < 0xf5 ? 3 : 0
    let codePoint = byte & (0x3f >> more)
    let k = 1
    for (; k <= more && at + k < end; k += 1) {
      const next = source[at + k] as number
      if ((next & 0xc0) !== 0x80) break
      codePoint = (codePoint << 6) | (next & 0x3f)
    }
    if (more === 0 || k <= more || codePoint > 0x10ffff) {
      this.#emit(0xfffd, at)
      return at + 1
    }
    this.#noteHidden(codePoint, at, at + k)
    this.#emit(codePoint, at)
    return at + k
  }

  #noteHidden(codePoint: number, start: number, end: number): void {
    if (!mayHide(codePoint)) return
    // The letter before must stand in the source as it is: an escape may end with a letter too.
    const last = this.#n - 1
    const followsLetter =
      last >= 0 &&
      this.#offsets[last] === start - 1 &&
      BYTE_CLASS[this.#text[last] as number] === BYTE.lower
    this.hidden.note(this.#source, codePoint, start, end, followsLetter)
  }

  /** Adds one character: a letter extends the word, anything else ends it. */
  #emit(codePoint: number, at: number): void {
    const folded = foldCodePoint(codePoint)
    if ((folded & INVISIBLE) !== 0) {
      if (this.invisible_at < 0) this.invisible_at = at
      this.invisible_count += 1
    }
    const kind = (folded >> KIND_SHIFT) & 7
    const value = folded & CODE_POINT_MASK
    if (kind === KIND.dropped) {
      // The selectors from U+E0100 can carry bytes from 16 up, which is every letter.
      if (codePoint >= 0xe0100 && codePoint <= 0xe01ef && this.#signs.selectors.length < 8_192)
        this.#signs.selectors.push(codePoint - 0xe0100 + 16, at)
      return
    }
    if (kind === KIND.word) {
      if (codePoint >> 7 === TAG_BLOCK) mark(this.#signs.tags, this.#n)
      this.#lengthen(value, at)
      return
    }
    if (kind === KIND.expanded) {
      for (const character of expansionAt(value)) {
        const inner = character.codePointAt(0) ?? 0
        if (((foldCodePoint(inner) >> KIND_SHIFT) & 7) === KIND.word) this.#lengthen(inner, at)
        else this.#separate(inner, at)
      }
      return
    }
    const before = this.#ideographBefore
    this.#separate(kind === KIND.space ? 0x20 : kind === KIND.newline ? 0x0a : value, at)
    if (kind === KIND.ideograph) {
      this.#words.mark(this.#n - 1, this.#n, MARK.beyond)
      // Scripts without spaces: every two neighbours count as a word.
      if (before !== 0) {
        const pair = Math.imul(HASH_SEED ^ before, HASH_PRIME)
        this.#tokens += 1
        this.#lookUp(Math.imul(pair ^ value, HASH_PRIME), this.#n - 6 < 0 ? 0 : this.#n - 6)
      }
      this.#ideographBefore = value
    }
  }

  #lengthen(value: number, at: number): void {
    if (this.#length === 0) this.#wordStart = this.#n
    this.#write(value, at)
    if (this.#length < KEY_LENGTH) this.#hash = Math.imul(this.#hash ^ value, HASH_PRIME)
    this.#length += 1
    if (value >= 0x80) this.#bits |= BEYOND_BIT | (1 << BYTE.lower)
    else this.#bits |= value >= 0x30 && value <= 0x39 ? DIGIT_BIT : 1 << BYTE.lower
  }

  #separate(value: number, at: number): void {
    if (this.#length > 0) {
      this.#endWord(this.#hash, this.#wordStart, this.#length, this.#bits)
      this.#length = 0
      this.#bits = 0
      this.#hash = HASH_SEED
    }
    this.#ideographBefore = 0
    if (value < 0x20 || (value >= 0x7f && value < 0xa0)) this.#signs.controls += 1
    const before = this.#n > this.#pieceStart ? this.#text[this.#n - 1] : 0x20
    if (value <= 0x20 && (before === 0x20 || before === 0x0a)) return
    this.#write(value, at)
    if (value === 0x0a) this.#noteLineEnd(before as number)
    if (value >= 0x80) return
    const marks = SYMBOL_MARKS[value] as number
    if (marks !== 0) this.#noteSymbol(marks, before as number, this.#n - 1)
  }

  /** @param marks of the symbol, from `SYMBOL_MARKS` @param before the byte before it */
  #noteSymbol(marks: number, before: number, at: number): void {
    if ((marks & SYMBOL_MARK.leet) !== 0) mark(this.#signs.symbols, at)
    if (marks === SYMBOL_MARK.hyphen) noteHyphen(this.#signs, before, at)
    else this.#signs.seen |= before === LETTER_R ? marks : marks & ~SYMBOL_MARK.parenthesis
  }

  #noteLineEnd(before: number): void {
    this.#noteLineBreak(before)
    const words = this.#tokens - this.#lineTokens
    if (words === 0) return
    this.#lineTokens = this.#tokens
    this.#shortLines = words > SHORT_LINE_WORDS ? 0 : this.#shortLines + 1
    if (this.#shortLines === SHORT_LINES) this.#signs.seen |= SEEN.short_lines
  }

  #noteLineBreak(before: number): void {
    if (before === 0x2d || before === 0x3d) this.#signs.seen |= SEEN.hyphenation
  }

  #write(value: number, at: number): void {
    const text = this.#text
    let n = this.#n
    const first = n
    if (value < 0x80) text[n++] = value
    else if (value < 0x800) {
      text[n++] = 0xc0 | (value >> 6)
      text[n++] = 0x80 | (value & 0x3f)
    } else if (value < 0x10000) {
      text[n++] = 0xe0 | (value >> 12)
      text[n++] = 0x80 | ((value >> 6) & 0x3f)
      text[n++] = 0x80 | (value & 0x3f)
    } else {
      text[n++] = 0xf0 | (value >> 18)
      text[n++] = 0x80 | ((value >> 12) & 0x3f)
      text[n++] = 0x80 | ((value >> 6) & 0x3f)
      text[n++] = 0x80 | (value & 0x3f)
    }
    for (let k = first; k < n; k += 1) this.#offsets[k] = at
    this.#n = n
  }

  #endWord(key: number, wordStart: number, length: number, bits: number): void {
    this.#tokens += 1
    const words = this.#words
    words.hashes[words.count] = key
    words.starts[words.count] = wordStart
    words.count += 1
    this.#ideographBefore = 0
    if ((bits & BEYOND_BIT) !== 0) this.#markBeyond(wordStart)
    this.#lookUp(key, wordStart)
    if ((bits & DIGIT_BIT) !== 0 || length < SHORTEST_PLAIN_WORD || length > LONGEST_PLAIN_WORD) {
      noteWord(
        this.#signs,
        this.#compiled.table,
        this.#text,
        this.#offsets,
        wordStart,
        this.#n,
        bits & ~BEYOND_BIT,
        this.#tokens,
      )
    }
  }

  /** Marks the word that ends here. */
  #markBeyond(wordStart: number): void {
    const text = this.#text
    let isMixed = false
    for (let at = wordStart; at < this.#n; at += 1) isMixed ||= WORD_BYTE[text[at] as number] !== 0
    this.#words.mark(wordStart, this.#n, isMixed ? MARK.unsure : MARK.beyond)
  }

  #lookUp(key: number, wordStart: number): void {
    const { table } = this.#compiled
    const { keys, mask } = table
    let slot = (key ^ (key >>> 15)) & mask
    for (;;) {
      const held = keys[slot] as number
      if (held === 0) return
      if (held === key) break
      slot = (slot + 1) & mask
    }
    const { code, starts, symbols } = this.#compiled.gates
    const lastToken = this.#lastToken
    const token = this.#tokens
    let at = starts[table.values[slot] as number] as number
    const gatesEnd = at + 1 + 3 * (code[at] as number)
    for (at += 1; at < gatesEnd; at += 3) {
      const first = code[at] as number
      const distance = code[at + 1] as number
      if (first < 0) {
        if (distance < 0 || this.#follows(symbols[distance] as Uint8Array, wordStart))
          this.#notePlace(code[at + 2] as number, wordStart, wordStart)
      } else if (token - (lastToken[first] as number) <= distance)
        this.#notePlace(code[at + 2] as number, this.#lastAt[first] as number, wordStart)
    }
    const classesEnd = at + 1 + (code[at] as number)
    for (at += 1; at < classesEnd; at += 1) {
      const number = code[at] as number
      lastToken[number] = token
      this.#lastAt[number] = wordStart
      if (number < 3) mark(this.#signs.words[number as 0 | 1 | 2], wordStart)
    }
  }

  /** @param start of the first word of the gate @param wordStart of the last */
  #notePlace(pattern: number, start: number, wordStart: number): void {
    this.#places.note(pattern, start, this.#n)
    const { gated } = this.#signs
    if (gated.at(-1) !== wordStart) mark(gated, wordStart)
  }

  #follows(symbols: Uint8Array, wordStart: number): boolean {
    const text = this.#text
    let at = wordStart - 1
    if (at >= this.#pieceStart && text[at] === 0x20) at -= 1
    if (at < this.#pieceStart) return false
    return symbols[text[at] as number] === 1
  }

  /** Passes the words of the piece to the learned model. */
  #judgeWords(): void {
    const { hashes, starts, count } = this.#words
    const first = this.#judged
    this.#judged = count
    if (count === first || this.#onWords === null) return
    const hit = this.#onWords(hashes, first, count)
    if (hit === null) return
    const start = this.#offsets[starts[hit.from] as number] as number
    const next = hit.to < count ? (starts[hit.to] as number) : this.#n
    this.#places.hits.push({
      pattern: LEARNED_PATTERN,
      start,
      end: (this.#offsets[next - 1] as number) + 1,
      score: hit.score,
    })
  }

  /** Searches the positions that can be searched, passes the window on for decoding, and slides it. */
  #workOff(isLast: boolean): void {
    this.#places.search(this.#n, isLast)
    this.#judgeWords()
    this.#onWindow({
      source: this.#source,
      text: this.#text,
      offsets: this.#offsets,
      start: this.#windowStart,
      end: this.#n,
      signs: this.#signs,
    })
    if (isLast) return
    clearSigns(this.#signs)
    const shift = this.#n - OVERLAP_BYTES
    this.#words.shift(shift, this.#n)
    this.#judged = this.#words.count
    this.#text.copyWithin(0, shift, this.#n)
    this.#offsets.copyWithin(0, shift, this.#n)
    this.#n -= shift
    this.#windowStart = this.#n
    this.#pieceStart = Math.max(0, this.#pieceStart - shift)
    for (let c = 0; c < this.#lastAt.length; c += 1)
      this.#lastAt[c] = Math.max(0, (this.#lastAt[c] as number) - shift)
    this.#places.shift(shift)
  }
}
