import { SEEN } from '../text/disguise-signs.ts'
import { SHORT_LINE_WORDS, SHORT_LINES, type WindowView } from '../text/text-scanner.ts'
import type { DerivedText } from './derived-text.ts'

/** How much of the lines before and behind short lines is read with them. */
const AROUND_BYTES = 300

/** An end of a line within a piece; the one that ends a piece has the offset of the beginning of the piece. */
const isLineEnd = ({ text, offsets }: WindowView, at: number): boolean =>
  text[at] === 0x0a && at > 0 && (offsets[at] as number) > (offsets[at - 1] as number)

/** Lines that begin with one of these are items of a list, headings or code; those that end with one head what follows. */
const MARKS = Uint8Array.from({ length: 256 }, (_, byte) =>
  '#*+-/<=>@[\\]`{|}:;('.includes(String.fromCharCode(byte)) ? 1 : 0,
)

const isMarked = (text: Buffer, start: number, end: number): boolean =>
  start < end && (MARKS[text[start] as number] === 1 || MARKS[text[end - 1] as number] === 1)

const wordsIn = (text: Buffer, start: number, end: number): number => {
  let words = 1
  for (let at = text.indexOf(0x20, start); at >= 0 && at < end; at = text.indexOf(0x20, at + 1))
    words += 1
  return words
}

/** The line ends between short lines, of which enough follow one another: first and last of each run. */
const runsOfShortLines = (view: WindowView): [first: number, last: number][] => {
  const text = view.text.subarray(0, view.end)
  const runs: [number, number][] = []
  let first = -1
  let last = -1
  let count = 0
  const endRun = (): void => {
    if (count >= SHORT_LINES) runs.push([first, last])
    count = 0
  }
  let start = 0
  for (let at = text.indexOf(0x0a); at >= 0; at = text.indexOf(0x0a, at + 1)) {
    const isInPiece = isLineEnd(view, at)
    const isShort = wordsIn(text, start, at) <= SHORT_LINE_WORDS
    if (isInPiece && isShort && !isMarked(text, start, at)) {
      if (count === 0) first = at
      last = at
      count += 1
    } else endRun()
    start = at + 1
  }
  endRun()
  return runs
}

/** Short lines as one: a model reads a sentence with one word on each line as it reads any other. */
export const deriveJoinedLines = (view: WindowView): DerivedText[] => {
  if ((view.signs.seen & SEEN.short_lines) === 0) return []
  return runsOfShortLines(view).map(([first, last]) => {
    const start = Math.max(0, first - AROUND_BYTES)
    const end = Math.min(view.end, last + AROUND_BYTES)
    const text = Buffer.from(view.text.subarray(start, end))
    const changed: number[] = []
    for (let at = first; at <= last; at += 1) {
      if (!isLineEnd(view, at)) continue
      text[at - start] = 0x20
      changed.push(at - start)
    }
    return {
      via: 'joined_lines',
      changed,
      text,
      offsets: view.offsets.slice(start, end),
      start: 0,
      end: 0,
    }
  })
}
