import { plainPercentText } from './plain-percent-text.ts'

/** The positions of the names and values of a query or form (`a=1&b=2`). */
export type Pair = {
  readonly name_start: number
  readonly name_end: number
  readonly value_end: number
}

const isSeparator = (byte: number): boolean => byte === 0x26 || byte === 0x3b

/** Calls back with every pair; both `&` and `;` separate. */
export const eachPair = (source: Buffer, take: (pair: Pair) => void): void => {
  let start = 0
  let nameEnd = -1
  for (let i = 0; i <= source.length; i += 1) {
    const byte = i === source.length ? 0x26 : (source[i] as number)
    if (byte === 0x3d && nameEnd < 0) nameEnd = i
    if (i < source.length && !isSeparator(byte)) continue
    if (i > start) take({ name_start: start, name_end: nameEnd < 0 ? i : nameEnd, value_end: i })
    start = i + 1
    nameEnd = -1
  }
}

/** A plus sign means a space. The length does not change, so that offsets stay valid. */
export const spacesForPlus = (source: Buffer): Buffer => {
  const copy = Buffer.from(source)
  for (let i = 0; i < copy.length; i += 1) if (copy[i] === 0x2b) copy[i] = 0x20
  return copy
}

/** A lone percent sign stays; bytes that are not UTF-8 become U+FFFD. */
export const decodePercent = (text: string): string =>
  plainPercentText(Buffer.from(text))?.text.toString() ?? text
