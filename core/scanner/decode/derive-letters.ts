import { isEitherLetter, leetLetter, leetReading } from '../text/disguise-signs.ts'
import type { WindowView } from '../text/text-scanner.ts'
import type { TokenTable } from '../text/token-table.ts'
import type { DerivedText } from './derived-text.ts'
import { type LetterTrie, segmentLetters } from './letter-trie.ts'

const isLetter = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** How much text around a sign is decoded: enough for an attack, not the whole window. */
export const AROUND_BYTES = 300

const derived = (via: DerivedText['via'], text: Buffer, offsets: Int32Array): DerivedText => ({
  via,
  text,
  offsets,
  start: offsets[0] ?? 0,
  end: (offsets[offsets.length - 1] ?? 0) + 1,
})

/** The stretches of the window around the given positions that contain at least `least` of them. */
export const stretchesAround = (
  places: readonly number[],
  end: number,
  least: number,
): [start: number, end: number][] => {
  const stretches: [number, number][] = []
  let count = 0
  for (const place of places) {
    const last = stretches.at(-1)
    if (last !== undefined && place - AROUND_BYTES <= last[1]) {
      last[1] = Math.min(end, place + AROUND_BYTES)
      count += 1
    } else {
      if (last !== undefined && count < least) stretches.pop()
      stretches.push([Math.max(0, place - AROUND_BYTES), Math.min(end, place + AROUND_BYTES)])
      count = 1
    }
  }
  if (count < least) stretches.pop()
  return stretches
}

export const deriveRot13 = (view: WindowView, start: number, end: number): DerivedText => {
  const text = Buffer.from(view.text.subarray(start, end))
  for (let i = 0; i < text.length; i += 1) {
    const byte = text[i] as number
    if (isLetter(byte)) text[i] = ((byte - 0x61 + 13) % 26) + 0x61
  }
  return derived('rot13', text, view.offsets.slice(start, end))
}

/** ASCII only: a reversed UTF-8 sequence is not a character, and such words are not looked for. */
export const deriveReversed = (view: WindowView, start: number, end: number): DerivedText =>
  derived(
    'reversed',
    Buffer.from(view.text.subarray(start, end)).reverse(),
    view.offsets.slice(start, end).reverse(),
  )

/** Reads digits and symbols inside words as the letters they stand for. */
export const deriveLeet = (
  view: WindowView,
  start: number,
  end: number,
  table: TokenTable,
): DerivedText => {
  const text = Buffer.from(view.text.subarray(start, end))
  let i = 0
  while (i < text.length) {
    let wordEnd = i
    let letters = 0
    while (
      wordEnd < text.length &&
      (isLetter(text[wordEnd] as number) || leetLetter(text[wordEnd] as number) !== 0)
    ) {
      if (isLetter(text[wordEnd] as number)) letters += 1
      wordEnd += 1
    }
    if (wordEnd === i) {
      i += 1
      continue
    }
    let stop = wordEnd
    while (stop > i && (text[stop - 1] === 0x21 || text[stop - 1] === 0x7c)) stop -= 1
    if (letters > 0 && letters < stop - i) {
      const either = leetReading(table, text, i, stop) || 0x69
      for (let k = i; k < stop; k += 1) {
        const byte = text[k] as number
        if (!isLetter(byte)) text[k] = isEitherLetter(byte) ? either : leetLetter(byte)
      }
    }
    i = wordEnd
  }
  return derived('leetspeak', text, view.offsets.slice(start, end))
}

/** The positions of symbols in words that are words of the patterns once the symbols are read as letters. */
export const leetPlaces = (view: WindowView, table: TokenTable): number[] =>
  view.signs.symbols.filter((place) => {
    const { text } = view
    let start = place
    while (start > 0 && place - start < 16 && isLeetOrLetter(text[start - 1] as number)) start -= 1
    let end = place + 1
    while (end < view.end && end - place < 16 && isLeetOrLetter(text[end] as number)) end += 1
    if (text[end - 1] === 0x21 || text[end - 1] === 0x7c) end -= 1
    return end - start >= 4 && place < end && leetReading(table, text, start, end) !== 0
  })

const isLeetOrLetter = (byte: number): boolean => isLetter(byte) || leetLetter(byte) !== 0

/** Parts of words that every attack contains; the digit 1 is i or l. */
const TELLING =
  /[i1]gn[o0]re|f[o0]rget|d[i1]sreg|[i1]nstruc|pr[o0]mpt|ru[l1]es|revea[l1]|secret|passw[o0]rd|syste|safet|restr[i1]c|bypass|jai[l1]br|gu[i1]de[l1]|d[i1]rect[i1]v|exf[i1][l1]t|credent/

const joinable = (byte: number): number => {
  if (isLetter(byte)) return byte
  return isDigit(byte) || byte === 0x40 || byte === 0x24 ? leetLetter(byte) : 0
}

/** The letters of a stretch of the window, without the characters between them; `1` stays undecided. */
const lettersOf = (
  view: WindowView,
  start: number,
  end: number,
): { letters: Uint8Array; places: Int32Array } => {
  const letters = new Uint8Array(end - start)
  const places = new Int32Array(end - start)
  let count = 0
  for (let i = start; i < end; i += 1) {
    const byte = view.text[i] as number
    const letter = joinable(byte)
    if (letter === 0) continue
    letters[count] = byte === 0x31 ? byte : letter
    places[count] = view.offsets[i] as number
    count += 1
  }
  return { letters: letters.subarray(0, count), places: places.subarray(0, count) }
}

/**
 * Removes what separates the letters of the stretches, reads digits as letters, and splits the result into words again.
 * Stretches without a characteristic part are left out.
 */
export const deriveJoined = (
  view: WindowView,
  trie: LetterTrie,
  spans: readonly number[],
  via: 'spaced_letters' | 'joined_words',
): DerivedText | null => {
  const pieces: Buffer[] = []
  const places: Int32Array[] = []
  for (let s = 0; s < spans.length; s += 2) {
    const span = lettersOf(view, spans[s] as number, spans[s + 1] as number)
    if (!TELLING.test(Buffer.from(span.letters).toString('latin1'))) continue
    const cut = cutIntoWords(trie, span.letters, span.places)
    pieces.push(cut.text)
    places.push(cut.offsets)
  }
  if (pieces.length === 0) return null
  const text = Buffer.concat(pieces)
  const offsets = new Int32Array(text.length)
  let at = 0
  for (const one of places) {
    offsets.set(one, at)
    at += one.length
  }
  return derived(via, text, offsets)
}

const cutIntoWords = (
  trie: LetterTrie,
  letters: Uint8Array,
  places: Int32Array,
): { text: Buffer; offsets: Int32Array } => {
  const starts = segmentLetters(trie, letters)
  const text = Buffer.allocUnsafe(letters.length + starts.length)
  const offsets = new Int32Array(text.length)
  let n = 0
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? letters.length
    for (let k = start; k < end; k += 1) {
      text[n] = letters[k] === 0x31 ? 0x69 : (letters[k] as number)
      offsets[n] = places[k] as number
      n += 1
    }
    text[n] = index === starts.length - 1 ? 0x0a : 0x20
    offsets[n] = places[end - 1] ?? 0
    n += 1
  }
  return { text: text.subarray(0, n), offsets: offsets.subarray(0, n) }
}
