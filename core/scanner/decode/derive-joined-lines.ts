import { SEEN } from '../text/disguise-signs.ts'
import { SHORT_LINE_WORDS, SHORT_LINES, type WindowView } from '../text/text-scanner.ts'
import { AROUND_BYTES, stretchesAround } from './derive-letters.ts'
import type { DerivedText } from './derived-text.ts'

/** An end of a line within a piece; the one that ends a piece has the offset of the beginning of the piece. */
const isLineEnd = ({ text, offsets }: WindowView, at: number): boolean =>
  text[at] === 0x0a && at > 0 && (offsets[at] as number) > (offsets[at - 1] as number)

/** Lines that begin with one of these are items of a list, headings or code; those that end with one head what follows. */
const NO_PROSE = Uint8Array.from({ length: 256 }, (_, byte) =>
  '#*+-/<=>@[\\]`{|}:;('.includes(String.fromCharCode(byte)) ? 1 : 0,
)

const isMarked = (text: Buffer, start: number, end: number): boolean =>
  start < end && (NO_PROSE[text[start] as number] === 1 || NO_PROSE[text[end - 1] as number] === 1)

const isShort = (text: Buffer, start: number, end: number): boolean => {
  let words = 1
  for (let at = start; at < end && words <= SHORT_LINE_WORDS; at += 1)
    if (text[at] === 0x20) words += 1
  return words <= SHORT_LINE_WORDS
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
    if (isLineEnd(view, at) && isShort(text, start, at) && !isMarked(text, start, at)) {
      if (count === 0) first = at
      last = at
      count += 1
    } else endRun()
    start = at + 1
  }
  endRun()
  return runs
}

/** The ends of short lines that have a place where words of a pattern occur together within reach of a match. */
const lineEndsNear = (view: WindowView, gated: readonly number[]): number[] => {
  const ends: number[] = []
  let next = 0
  for (const [first, last] of runsOfShortLines(view)) {
    for (let at = first; at <= last; at += 1) {
      if (!isLineEnd(view, at)) continue
      while (next < gated.length && (gated[next] as number) < at - AROUND_BYTES) next += 1
      if (next < gated.length && (gated[next] as number) <= at + AROUND_BYTES) ends.push(at)
    }
  }
  return ends
}

/**
 * Short lines as one: a model reads a sentence with one word on each line as it reads any other. Only around places where words of a
 * pattern occur together.
 */
export const deriveJoinedLines = (view: WindowView): DerivedText[] => {
  const { seen, gated } = view.signs
  if ((seen & SEEN.short_lines) === 0 || gated.length === 0) return []
  const ends = lineEndsNear(view, gated)
  return stretchesAround(ends, view.end, 1).map(([start, end]) => {
    const text = Buffer.from(view.text.subarray(start, end))
    const changed = ends.filter((at) => at >= start && at < end).map((at) => at - start)
    for (const at of changed) text[at] = 0x20
    const offsets = view.offsets.slice(start, end)
    return { via: 'joined_lines' as const, changed, text, offsets, start: 0, end: 0 }
  })
}
