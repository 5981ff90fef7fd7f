import {
  type JsonGrammar,
  QUOTE,
  skipLooseScalar,
  skipLooseString,
  skipScalar,
  skipSpace,
  skipStart,
  skipString,
} from './json-lexis.ts'

/**
 * Walks JSON bytes in one pass without building values, for callers that need byte positions. Each function returns where the
 * value ends, or -1 if it is not well-formed.
 */

const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export interface JsonMember {
  /** Positions of the key, with its quotes. */
  readonly key_start: number
  readonly key_end: number
  readonly value_start: number
  /** Position of the comma before the member, -1 for the first one. */
  readonly comma_before: number
}

/** Callbacks of a walk; positions are those of the first byte. */
export interface JsonVisitor {
  /** Returns where the string ends, its closing quote included; -1 ends the walk. Without it strings are skipped. */
  readonly onString?: (start: number, isKey: boolean) => number
  readonly onScalar?: (start: number, end: number) => void
  readonly onOpen?: (isObject: boolean, start: number) => void
  readonly onClose?: (end: number) => void
  /** A comma. */
  readonly onNext?: (at: number) => void
}

const NOBODY: JsonVisitor = {}

/** What may come next: up to `VALUE_OR_END` a value, up to `KEY` a string. */
const VALUE = 0
const VALUE_OR_END = 1
const KEY_OR_END = 2
const KEY = 3
const EXPECT_COLON = 4
const COMMA_OR_END = 5
/** A complete text has been read. */
const DONE = 6

/** One bit per level: whether it is an object. Grows with the depth, which is bounded by the length of the text. */
class Levels {
  #bits = new Uint8Array(8)
  depth = 0

  push(isObject: boolean): void {
    const index = this.depth >> 3
    if (index === this.#bits.length) {
      const wider = new Uint8Array(index * 4)
      wider.set(this.#bits)
      this.#bits = wider
    }
    const mask = 1 << (this.depth & 7)
    const byte = this.#bits[index] ?? 0
    this.#bits[index] = isObject ? byte | mask : byte & ~mask
    this.depth++
  }

  isInObject(): boolean {
    const place = this.depth - 1
    return ((this.#bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0
  }
}

/**
 * Walks one value from `start` on, or in the lenient grammar every text up to `end`.
 */
// One loop, since its state lives in registers.
// oxlint-disable-next-line max-lines-per-function
export function walkJson(
  bytes: Buffer,
  start: number,
  end: number,
  grammar: JsonGrammar,
  visitor: JsonVisitor = NOBODY,
): number {
  const isStrict = grammar === 'strict'
  const { onString, onScalar, onOpen, onClose, onNext } = visitor
  const levels = new Levels()
  let expect = VALUE
  let i = isStrict ? start : skipStart(bytes, start, end)
  while (i < end) {
    const byte = bytes[i]
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      i++
      continue
    }
    // Only the lenient grammar allows a text after a text.
    if (expect === DONE) expect = VALUE
    if (byte === QUOTE) {
      if (expect > KEY) return -1
      const isKey = expect > VALUE_OR_END
      if (onString !== undefined) i = onString(i, isKey)
      else i = isStrict ? skipString(bytes, i, end) : skipLooseString(bytes, i, end)
      if (i < 0) return -1
      expect = isKey ? EXPECT_COLON : levels.depth === 0 ? DONE : COMMA_OR_END
    } else if (byte === COMMA) {
      if (expect !== COMMA_OR_END) return -1
      onNext?.(i)
      expect = levels.isInObject() ? KEY : VALUE
      i++
    } else if (byte === COLON) {
      if (expect !== EXPECT_COLON) return -1
      expect = VALUE
      i++
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (expect > VALUE_OR_END) return -1
      const isObject = byte === OPEN_OBJECT
      levels.push(isObject)
      onOpen?.(isObject, i)
      expect = isObject ? KEY_OR_END : VALUE_OR_END
      i++
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      const isObject = byte === CLOSE_OBJECT
      const isEmpty = expect === (isObject ? KEY_OR_END : VALUE_OR_END)
      if (levels.depth === 0 || levels.isInObject() !== isObject) return -1
      if (expect !== COMMA_OR_END && !isEmpty) return -1
      levels.depth--
      i++
      onClose?.(i)
      expect = levels.depth === 0 ? DONE : COMMA_OR_END
    } else {
      if (expect > VALUE_OR_END) return -1
      const after = isStrict ? skipScalar(bytes, i, end) : skipLooseScalar(bytes, i, end)
      if (after < 0) return -1
      onScalar?.(i, after)
      i = after
      expect = levels.depth === 0 ? DONE : COMMA_OR_END
    }
    if (isStrict && expect === DONE) return i
  }
  return expect === DONE ? i : -1
}

/** Skips a whole value of any kind; strict, as the functions below. */
export function skipValue(body: Buffer, start: number): number {
  const c = body[start]
  if (c === QUOTE) return skipString(body, start, body.length)
  return c === OPEN_OBJECT || c === OPEN_ARRAY
    ? walkJson(body, start, body.length, 'strict')
    : skipScalar(body, start, body.length)
}

/** @param onMember returns where the member's value ends; -1 stops the walk. */
export function walkMembers(
  body: Buffer,
  start: number,
  onMember: (member: JsonMember) => number,
): number {
  let comma_before = -1
  let i = skipSpace(body, start + 1)
  if (body[i] === CLOSE_OBJECT) return i + 1
  for (;;) {
    const key_end = skipString(body, i, body.length)
    const value_start = key_end < 0 ? -1 : skipColon(body, key_end)
    if (value_start < 0) return -1
    const end = onMember({ key_start: i, key_end, value_start, comma_before })
    if (end < 0) return -1
    i = skipSpace(body, end)
    if (body[i] === CLOSE_OBJECT) return i + 1
    if (body[i] !== COMMA) return -1
    comma_before = i
    i = skipSpace(body, i + 1)
  }
}

/** @param onElement returns where the element ends; -1 stops the walk. */
export function walkElements(
  body: Buffer,
  start: number,
  onElement: (elementStart: number) => number,
): number {
  let i = skipSpace(body, start + 1)
  if (body[i] === CLOSE_ARRAY) return i + 1
  for (;;) {
    const end = onElement(i)
    if (end < 0) return -1
    i = skipSpace(body, end)
    if (body[i] === CLOSE_ARRAY) return i + 1
    if (body[i] !== COMMA) return -1
    i = skipSpace(body, i + 1)
  }
}

function skipColon(body: Buffer, start: number): number {
  const i = skipSpace(body, start)
  return body[i] === COLON ? skipSpace(body, i + 1) : -1
}
