import { LOWER_CASE } from '../text/byte-classes.ts'
import { requiredLiterals } from './required-literals.ts'

/** Four bytes are looked up at a time. */
const GRAM_BYTES = 4
/** For a longer literal, its last bytes are enough to distinguish it from ordinary text. */
const WINDOW_BYTES = 8
/** With more literals the table is so full that ordinary text would be searched anyway. */
const LITERAL_COUNT = 2_000
const TABLE_BITS = 16
const CASE_BITS = 0x20202020
/** The only non-ASCII characters that are ASCII letters in another case: the Kelvin sign and the long s. */
const ODD_CASES = [Buffer.from('\u212a'), Buffer.from('\u017f')] as const

/**
 * Recognizes texts in which no expression of a set can match, at a fraction of the cost of the search. It does not look for
 * blanks, line breaks or quotes, so a text in which only these are escaped can be passed as it is. Plain data that threads can
 * exchange.
 */
export type LiteralFilter = {
  /** Each literal is at least three bytes longer than this, so reading four bytes at every step meets it. */
  readonly step: number
  readonly literals: readonly Uint8Array[]
  /** By the hash of four bytes: which row of `rows`, or 0. */
  readonly table: Uint16Array
  /** Pairs: the literal, and where in it the four bytes stand. */
  readonly rows: readonly (readonly number[])[]
}

/** Every match of one of the expressions contains one of these; null if an expression has no such literal. */
const literalsOf = (expressions: readonly string[]): Set<string> | null => {
  const all = new Set<string>()
  for (const expression of expressions) {
    const required = requiredLiterals(expression)
    if (required === null) return null
    for (const text of required) {
      const run = text.split(/[ "]/).reduce((a, b) => (b.length >= a.length ? b : a))
      if (run.length < GRAM_BYTES) return null
      all.add(run.slice(-WINDOW_BYTES))
    }
  }
  return all.size > LITERAL_COUNT ? null : all
}

const hashGram = (gram: number): number =>
  Math.imul(gram | CASE_BITS, 0x9e3779b1) >>> (32 - TABLE_BITS)

/** Null if an expression can match without containing a literal of four bytes. */
export const buildLiteralFilter = (expressions: readonly string[]): LiteralFilter | null => {
  const found = literalsOf(expressions)
  if (found === null || found.size === 0) return null
  const table = new Uint16Array(1 << TABLE_BITS)
  const rows: number[][] = [[]]
  const literals: Uint8Array[] = []
  let step = WINDOW_BYTES
  for (const text of found) {
    const literal = Buffer.from(text, 'latin1')
    step = Math.min(step, literal.length - GRAM_BYTES + 1)
    for (let offset = 0; offset + GRAM_BYTES <= literal.length; offset += 1) {
      const slot = hashGram(literal.readInt32LE(offset))
      if (table[slot] === 0) table[slot] = rows.push([]) - 1
      rows[table[slot] as number]?.push(literals.length, offset)
    }
    literals.push(Uint8Array.from(literal))
  }
  return { step, literals, table, rows }
}

/** A search for one byte is far cheaper and usually enough. */
const hasOddCase = (text: Buffer, odd: Buffer): boolean =>
  text.indexOf(odd[0] as number) >= 0 && text.includes(odd)

const isAt = (text: Buffer, start: number, literal: Uint8Array): boolean => {
  if (start < 0 || start + literal.length > text.length) return false
  for (let i = 0; i < literal.length; i += 1)
    if (LOWER_CASE[text[start + i] as number] !== literal[i]) return false
  return true
}

/** Whether an expression of the set may match in the text; false is certain. */
export const mayMatch = (filter: LiteralFilter, text: Buffer): boolean =>
  hasOddCase(text, ODD_CASES[0]) || hasOddCase(text, ODD_CASES[1]) || findsLiteral(filter, text)

const findsLiteral = ({ step, table, rows, literals }: LiteralFilter, text: Buffer): boolean => {
  // Written out: a call through an import costs more than the work.
  const caseBits = CASE_BITS
  const shift = 32 - TABLE_BITS
  const last = text.length - GRAM_BYTES
  const view = new DataView(text.buffer, text.byteOffset, text.byteLength)
  // A text made of beginnings of literals is searched with the expressions instead: comparing would cost more.
  let comparisons = text.length >> 3
  for (let at = 0; at <= last; at += step) {
    const gram = view.getInt32(at, true)
    const slot = table[Math.imul(gram | caseBits, 0x9e3779b1) >>> shift] as number
    if (slot === 0) continue
    const row = rows[slot] as readonly number[]
    for (let k = 0; k < row.length; k += 2)
      if (isAt(text, at - (row[k + 1] as number), literals[row[k] as number] as Uint8Array))
        return true
    comparisons -= row.length >> 1
    if (comparisons < 0) return true
  }
  return false
}
