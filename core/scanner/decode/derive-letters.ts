import { isEitherLetter, leetLetter, leetReading } from '../text/disguise-signs.ts'
import type { WindowView } from '../text/text-scanner.ts'
import type { TokenTable } from '../text/token-table.ts'
import type { DerivedText } from './derived-text.ts'
import { type LetterTrie, segmentLetters } from './letter-trie.ts'

const isLetter = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

const wholeText = (via: DerivedText['via'], text: Buffer, offsets: Int32Array): DerivedText => ({
  via,
  text,
  offsets,
  start: offsets[0] ?? 0,
  end: (offsets[offsets.length - 1] ?? 0) + 1,
})

export const deriveRot13 = (view: WindowView): DerivedText => {
  const text = Buffer.from(view.text.subarray(0, view.end))
  for (let i = 0; i < text.length; i += 1) {
    const byte = text[i] as number
    if (isLetter(byte)) text[i] = ((byte - 0x61 + 13) % 26) + 0x61
  }
  return wholeText('rot13', text, view.offsets.slice(0, view.end))
}

/** Letters of ASCII only: a reversed sequence of UTF-8 is no character, and those words are not looked for. */
export const deriveReversed = (view: WindowView): DerivedText => {
  const text = Buffer.from(view.text.subarray(0, view.end)).reverse()
  return {
    ...wholeText('reversed', text, view.offsets.slice(0, view.end).reverse()),
    start: view.offsets[0] ?? 0,
    end: (view.offsets[view.end - 1] ?? 0) + 1,
  }
}

/** Reads digits and symbols inside words as the letters they stand for. */
export const deriveLeet = (view: WindowView, table: TokenTable): DerivedText => {
  const text = Buffer.from(view.text.subarray(0, view.end))
  let i = 0
  while (i < text.length) {
    let end = i
    let letters = 0
    while (
      end < text.length &&
      (isLetter(text[end] as number) || leetLetter(text[end] as number) !== 0)
    ) {
      if (isLetter(text[end] as number)) letters += 1
      end += 1
    }
    if (end === i) {
      i += 1
      continue
    }
    let stop = end
    while (stop > i && (text[stop - 1] === 0x21 || text[stop - 1] === 0x7c)) stop -= 1
    if (letters > 0 && letters < stop - i) {
      const either = leetReading(table, text, i, stop) || 0x69
      for (let k = i; k < stop; k += 1) {
        const byte = text[k] as number
        if (!isLetter(byte)) text[k] = isEitherLetter(byte) ? either : leetLetter(byte)
      }
    }
    i = end
  }
  return wholeText('leetspeak', text, view.offsets.slice(0, view.end))
}

/** How many words of the patterns appear once digits and symbols are read as letters. */
export const countLeetWords = (view: WindowView, table: TokenTable): number => {
  const { text } = view
  let count = 0
  let i = 0
  while (i < view.end) {
    let end = i
    let letters = 0
    let symbols = 0
    for (; end < view.end; end += 1) {
      const byte = text[end] as number
      if (isLetter(byte)) letters += 1
      else if (leetLetter(byte) !== 0) symbols += isDigit(byte) ? 0 : 1
      else break
    }
    if (end === i) {
      i += 1
      continue
    }
    if (symbols > 0 && letters > 1 && end - i < 32) {
      const stop = text[end - 1] === 0x21 || text[end - 1] === 0x7c ? end - 1 : end
      if (leetReading(table, text, i, stop) !== 0) count += 1
    }
    i = end
  }
  return count
}

/** Parts of words that an attack cannot do without; the digit 1 is i or l. */
const TELLING =
  /[i1]gn[o0]re|f[o0]rget|d[i1]sreg|[i1]nstruc|pr[o0]mpt|ru[l1]es|revea[l1]|secret|passw[o0]rd|syste|safet|restr[i1]c|bypass|jai[l1]br|gu[i1]de[l1]|d[i1]rect[i1]v|exf[i1][l1]t|credent/

const joinable = (byte: number): number => {
  if (isLetter(byte)) return byte
  return isDigit(byte) || byte === 0x40 || byte === 0x24 ? leetLetter(byte) : 0
}

/** The letters of a stretch of the window, without what stands between them; `1` stays undecided. */
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
 * Takes out what separates the letters of the stretches, reads digits as letters, and cuts the rest into
 * words again; stretches without a telling part are left out.
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
  return wholeText(via, text, offsets)
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
