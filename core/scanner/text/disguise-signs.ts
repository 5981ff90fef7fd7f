import { BYTE, HEX_VALUE, SYMBOL_MARK } from './byte-classes.ts'
import { findToken, HASH_PRIME, HASH_SEED, KEY_LENGTH, type TokenTable } from './token-table.ts'

/** A run of letters and digits of this length may be Base64 or hex; shorter ones cannot hide a sentence. */
const BLOB_BYTES = 16
/** This many consecutive words of one letter, or of equal length, occur in no language. */
const SPACED_WORDS = 6
/** Consecutive groups of letters and digits of equal length, such as a text split every four characters. */
const EVEN_WORDS = 5
const LONG_WORD_LETTERS = 18
/** Shorter words occur by chance: 2nd, 5s, i7. */
const LEET_LETTERS = 4
/** Runs and blobs kept per window; a window of 64 kB cannot hold more blobs of 16 bytes than this. */
const MARKS = 8_192

/** What a source has contained so far. Without it, its disguises need not be looked for in the window. */
export const SEEN = {
  less_than: SYMBOL_MARK.less_than,
  tilde: SYMBOL_MARK.tilde,
  at: SYMBOL_MARK.at,
  /** A parenthesis behind an r, as in `chr(` and `char(`. */
  call: SYMBOL_MARK.parenthesis,
  /** A hyphen or an equals sign at the end of a line. */
  hyphenation: 32,
  /** The escape character, raw. */
  escape_character: 64,
  /** Several lines in a row with hardly a word each. */
  short_lines: 128,
} as const

/** Signs of a disguise in the current window. */
export type Signs = {
  /** Bits of `SEEN`, since the source began. */
  seen: number
  /** Positions in the window of words of the patterns in ROT13, reversed, and misspelled. */
  readonly words: readonly [rot13: number[], reversed: number[], misspelled: number[]]
  /** Positions where words of a pattern occur together. */
  readonly gated: number[]
  /** Positions of words that are words of the patterns once digits are read as letters. */
  readonly leet: number[]
  /** Positions of symbols that may be letters in leetspeak. */
  readonly symbols: number[]
  /** Whether there were escapes other than those of JSON: the decoded text may contain another layer. */
  escapes: number
  /** Hyphens between parts of words, each close behind another one. */
  hyphens: number
  last_hyphen: number
  /** Control characters that came from escapes: nobody sees them inside a word. */
  controls: number
  /** Runs of single letters, or of groups of one length, in the window: start, end. */
  readonly spaced: number[]
  /** Words in the window that may be several written as one: start, end. */
  readonly long_words: number[]
  /** Source offsets of words that may belong to Base64 or hex. */
  readonly blobs: number[]
  /** Bytes hidden as variation selectors, each with its source offset. */
  readonly selectors: number[]
  /** Positions in the window of letters that are tag characters, which have no glyph. */
  readonly tags: number[]
  /** Source offsets within runs of words that mix letters and digits: Base64 with blanks. */
  readonly mixed: number[]
  mixed_count: number
  mixed_token: number
  /** Runs of short numbers in the window: start, end. */
  readonly number_runs: number[]
  single_count: number
  single_token: number
  single_start: number
  even_length: number
  even_count: number
  even_letters: number
  even_token: number
  even_start: number
  number_count: number
  number_token: number
  number_start: number
}

export const emptySigns = (): Signs => ({
  seen: 0,
  words: [[], [], []],
  gated: [],
  leet: [],
  symbols: [],
  escapes: 0,
  controls: 0,
  spaced: [],
  long_words: [],
  blobs: [],
  hyphens: 0,
  last_hyphen: 0,
  number_runs: [],
  selectors: [],
  tags: [],
  mixed: [],
  mixed_count: 0,
  mixed_token: 0,
  single_count: 0,
  single_token: 0,
  single_start: 0,
  even_length: 0,
  even_count: 0,
  even_letters: 0,
  even_token: 0,
  even_start: 0,
  number_count: 0,
  number_token: 0,
  number_start: 0,
})

/** Setting a length costs more than asking for it. */
const empty = (places: number[]): void => {
  if (places.length > 0) places.length = 0
}

/** Prepares for the next window of the same source. The arrays are reused, because most stay empty. */
export const clearSigns = (signs: Signs): void => {
  for (const places of signs.words) empty(places)
  empty(signs.gated)
  empty(signs.leet)
  empty(signs.symbols)
  empty(signs.spaced)
  empty(signs.long_words)
  empty(signs.blobs)
  empty(signs.selectors)
  empty(signs.tags)
  empty(signs.mixed)
  empty(signs.number_runs)
  signs.escapes = signs.controls = 0
  signs.hyphens = signs.last_hyphen = 0
  signs.mixed_count = signs.mixed_token = 0
  signs.single_count = signs.single_token = signs.single_start = 0
  signs.even_length = signs.even_count = signs.even_letters = 0
  signs.even_token = signs.even_start = 0
  signs.number_count = signs.number_token = signs.number_start = 0
}

const LEET_LETTER = new Uint8Array(256)
const LEET_ALPHABET = {
  0: 'o',
  1: 'i',
  2: 'z',
  3: 'e',
  4: 'a',
  5: 's',
  6: 'g',
  7: 't',
  8: 'b',
  9: 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
  '+': 't',
}
for (const [symbol, letter] of Object.entries(LEET_ALPHABET))
  LEET_LETTER[symbol.charCodeAt(0)] = letter.charCodeAt(0)

/** The letter a digit or symbol stands for, or 0. */
export const leetLetter = (byte: number): number => LEET_LETTER[byte] as number

const LETTER_I = 0x69
const LETTER_L = 0x6c
/** The digit 1, `|` and `!` are i or l. */
export const isEitherLetter = (byte: number): boolean =>
  byte === 0x31 || byte === 0x7c || byte === 0x21

const leetHash = (text: Buffer, start: number, end: number, either: number): number => {
  let hash = HASH_SEED
  const stop = Math.min(end, start + KEY_LENGTH)
  for (let i = start; i < stop; i += 1) {
    const byte = text[i] as number
    const letter = isEitherLetter(byte) ? either : (LEET_LETTER[byte] as number) || byte
    hash = Math.imul(hash ^ letter, HASH_PRIME)
  }
  return hash
}

/** The letter that 1 stands for so that the word, read as leetspeak, is a word of the patterns; 0 if it is not. */
export const leetReading = (
  table: TokenTable,
  text: Buffer,
  start: number,
  end: number,
): number => {
  if (findToken(table, leetHash(text, start, end, LETTER_I)) >= 0) return LETTER_I
  return findToken(table, leetHash(text, start, end, LETTER_L)) >= 0 ? LETTER_L : 0
}

const DIGIT = 1 << BYTE.digit
const LOWER = 1 << BYTE.lower
const UPPER = 1 << BYTE.upper

const isNumber = (text: Buffer, start: number, length: number): boolean => {
  const first = length === 4 && text[start] === 0x30 && text[start + 1] === 0x78 ? start + 2 : start
  for (let i = first; i < start + length; i += 1)
    if (HEX_VALUE[text[i] as number] === 255) return false
  return true
}

const noteNumber = (
  signs: Signs,
  text: Buffer,
  start: number,
  length: number,
  token: number,
): void => {
  if (!isNumber(text, start, length)) return
  if (token !== signs.number_token + 1) {
    signs.number_count = 0
    signs.number_start = start
  }
  signs.number_token = token
  signs.number_count += 1
  if (signs.number_count === SPACED_WORDS && signs.number_runs.length < MARKS)
    signs.number_runs.push(signs.number_start, start + length)
  else if (signs.number_count > SPACED_WORDS && signs.number_runs.length > 0)
    signs.number_runs[signs.number_runs.length - 1] = start + length
}

const extend = (spans: number[], start: number, end: number, isNew: boolean): void => {
  if (!isNew && spans.length > 0) spans[spans.length - 1] = end
  else if (spans.length < MARKS) spans.push(start, end)
}

const noteSingle = (signs: Signs, start: number, token: number): void => {
  if (token !== signs.single_token + 1) {
    signs.single_count = 0
    signs.single_start = start
  }
  signs.single_token = token
  signs.single_count += 1
  if (signs.single_count >= SPACED_WORDS) {
    extend(signs.spaced, signs.single_start, start + 1, signs.single_count === SPACED_WORDS)
  }
}

const noteEven = (signs: Signs, start: number, end: number, bits: number, token: number): void => {
  if (token !== signs.even_token + 1 || end - start !== signs.even_length) {
    signs.even_count = 0
    signs.even_letters = 0
    signs.even_start = start
    signs.even_length = end - start
  }
  signs.even_token = token
  signs.even_count += 1
  if (bits !== DIGIT) signs.even_letters += 1
  if (signs.even_letters >= EVEN_WORDS) {
    extend(signs.spaced, signs.even_start, end, signs.even_letters === EVEN_WORDS && bits !== DIGIT)
  }
}

/** Words of letters and digits that follow one another this closely, and how many of them, are rare in prose. */
const MIXED_DISTANCE = 5
const MIXED_WORDS = 4

const isMixed = (bits: number): boolean => bits !== LOWER && bits !== UPPER && bits !== DIGIT

/** Long words count twice, and need no digit. */
const noteMixed = (signs: Signs, at: number, token: number, weight: 1 | 2): void => {
  signs.mixed_count =
    token - signs.mixed_token <= MIXED_DISTANCE ? signs.mixed_count + weight : weight
  signs.mixed_token = token
  if (signs.mixed_count >= MIXED_WORDS) mark(signs.mixed, at)
}

/** Records a position, up to a bound that a window of prose never reaches. */
export const mark = (places: number[], at: number): void => {
  if (places.length < MARKS) places.push(at)
}

/** Parts of a word are hardly longer than this. */
const HYPHEN_DISTANCE = 8

/** @param before the byte before the hyphen, which is at `at` in the window */
export const noteHyphen = (signs: Signs, before: number, at: number): void => {
  if (before < 0x61 || before > 0x7a) return
  if (at - signs.last_hyphen <= HYPHEN_DISTANCE) signs.hyphens += 1
  signs.last_hyphen = at
}

/** Examines a word that has digits, or is long or very short. */
export const noteWord = (
  signs: Signs,
  table: TokenTable,
  text: Buffer,
  offsets: Int32Array,
  start: number,
  end: number,
  bits: number,
  token: number,
): void => {
  const length = end - start
  if (length === 1) {
    noteSingle(signs, start, token)
    return
  }
  if (length >= BLOB_BYTES) {
    if (isMixed(bits)) noteMixed(signs, offsets[start] as number, token, 2)
    if (bits !== LOWER && bits !== UPPER && signs.blobs.length < MARKS)
      signs.blobs.push(offsets[start] as number)
    if (length >= LONG_WORD_LETTERS && signs.long_words.length < MARKS)
      signs.long_words.push(start, end)
    return
  }
  if ((bits & DIGIT) !== 0 && bits !== DIGIT) noteMixed(signs, offsets[start] as number, token, 1)
  if ((bits & DIGIT) === 0) {
    if (length === 2) noteNumber(signs, text, start, length, token)
    return
  }
  if (length <= 4 || length === 8) {
    noteNumber(signs, text, start, length, token)
    noteEven(signs, start, end, bits, token)
  }
  if (
    bits !== DIGIT &&
    length >= LEET_LETTERS &&
    signs.leet.length < MARKS &&
    leetReading(table, text, start, end) !== 0
  ) {
    signs.leet.push(start)
  }
}
