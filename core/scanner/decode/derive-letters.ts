import { isEitherLetter, leetLetter, leetReading } from '../text/disguise-signs.ts'
import type { WindowView } from '../text/text-scanner.ts'
import type { TokenTable } from '../text/token-table.ts'
import type { DerivedText } from './derived-text.ts'
import { type LetterTrie, segmentLetters } from './letter-trie.ts'

const isLetter = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

const wholeWindow = (
  view: WindowView,
  via: DerivedText['via'],
  text: Buffer,
  offsets: Int32Array,
): DerivedText => ({
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
  return wholeWindow(view, 'rot13', text, view.offsets.slice(0, view.end))
}

/** Letters of ASCII only: a reversed sequence of UTF-8 is no character, and those words are not looked for. */
export const deriveReversed = (view: WindowView): DerivedText => {
  const text = Buffer.from(view.text.subarray(0, view.end)).reverse()
  return {
    ...wholeWindow(view, 'reversed', text, view.offsets.slice(0, view.end).reverse()),
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
  return wholeWindow(view, 'leetspeak', text, view.offsets.slice(0, view.end))
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

/** Takes out what separates letters, reads digits as letters, and cuts the rest into words again. */
export const deriveJoined = (
  view: WindowView,
  trie: LetterTrie,
  via: 'spaced_letters' | 'joined_words',
): DerivedText => {
  const letters = new Uint8Array(view.end)
  const places = new Int32Array(view.end)
  let count = 0
  for (let i = 0; i < view.end; i += 1) {
    const byte = view.text[i] as number
    const letter = isLetter(byte)
      ? byte
      : isDigit(byte) || byte === 0x40 || byte === 0x24
        ? leetLetter(byte)
        : 0
    if (letter === 0) continue
    letters[count] = byte === 0x31 ? byte : letter
    places[count] = view.offsets[i] as number
    count += 1
  }
  const joined = letters.subarray(0, count)
  const starts = segmentLetters(trie, joined)
  const text = Buffer.allocUnsafe(count + starts.length)
  const offsets = new Int32Array(text.length)
  let n = 0
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? count
    for (let k = start; k < end; k += 1) {
      text[n] = joined[k] === 0x31 ? 0x69 : (joined[k] as number)
      offsets[n] = places[k] as number
      n += 1
    }
    text[n] = 0x20
    offsets[n] = places[end - 1] ?? 0
    n += 1
  }
  return wholeWindow(view, via, text.subarray(0, n), offsets.subarray(0, n))
}
