import { decodeFormText } from './decode-form-text.ts'
import {
  mayNameField,
  METHOD_VALUE_LIMIT,
  noteField,
  type OverrideField,
  overrideField,
} from './override-field.ts'
import { type FoundOverrides, isFull } from './overrides.ts'

/** The empty line after the headers of a part: for most readers, and for Werkzeug, where CR alone ends a line. */
const BLANK_LINES: readonly RegExp[] = [/\n\r?\n/, /\r\r/]
/** An encoded word of RFC 2047, which Tomcat decodes in a part's headers. */
const ENCODED_WORD = /=\?[^?\s]+\?([bq])\?([^?\s]*)\?=/gi
const MAY_BE_ENCODED = /=\?|\*\s*\d/
/** Separates the texts of a part's header; each of them counts as a name. */
const SEPARATORS = /[\s;,:="'<>]+/
/** A name in pieces (RFC 2231), in any order, each plain or encoded: `name*1=thod; name*0*=utf-8''_me`. */
const PIECE_OF_NAME = /(?<![\w-])name\s*\*\s*(\d+)\s*(?:\*\s*)?=\s*(?:"([^"]*)|([^\s;]*))/gi
const CHARSET_AND_LANGUAGE = /^[^']*'[^']*'/

/**
 * Looks at each part of a multipart body. Every line that begins like a delimiter counts as one, because readers differ in
 * which boundary they use if it is repeated, in pieces or encoded.
 * @param text one character per byte (latin1)
 */
export function findMultipartOverrides(text: string, found: FoundOverrides): void {
  for (let start = 0; start !== -1 && !isFull(found); ) {
    const next = nextDelimiter(text, start + 2)
    notePart(text.slice(start, next === -1 ? text.length : next), found)
    start = next
  }
}

/** Where the next line begins that looks like a delimiter; -1 if none does. */
export function nextDelimiter(text: string, from: number): number {
  for (let at = text.indexOf('--', from); at !== -1; at = text.indexOf('--', at + 1)) {
    const before = text.charCodeAt(at - 1)
    if (before === 0x0a || before === 0x0d) return at
  }
  return -1
}

/** The first blank line, which ends the headers of a part or of a request in it. */
export function blankLineIn(text: string): { readonly start: number; readonly end: number } | null {
  for (const blankLine of BLANK_LINES) {
    const blank = blankLine.exec(text)
    if (blank !== null) return { start: blank.index, end: blank.index + blank[0].length }
  }
  return null
}

/** Readers differ in which of two names they use and where they look for one, so every name counts. */
function notePart(part: string, found: FoundOverrides): void {
  for (const blankLine of BLANK_LINES) {
    const blank = blankLine.exec(part)
    if (blank !== null)
      noteText(part.slice(0, blank.index), part.slice(blank.index + blank[0].length), found)
  }
}

function noteText(written: string, value: string, found: FoundOverrides): void {
  // Rack drops the backslash before any character.
  const head = written.replaceAll('\\', '')
  if (!mayNameField(head) && !MAY_BE_ENCODED.test(head)) return
  const field = fieldOf(decodeWords(head))
  if (field === null) return
  const text = (field === 'path' ? value : value.slice(0, METHOD_VALUE_LIMIT)).trim()
  noteField(found, field, text, FIELD_NAME.exec(head)?.[1] ?? 'a field of the form')
}

const FIELD_NAME = /name\*?\s*=\s*["']?([^"';\s]+)/i

function fieldOf(head: string): OverrideField | null {
  const whole = fieldOfTexts(head.split(SEPARATORS))
  return whole === 'method' || whole === 'path' ? whole : (fieldOfPieces(head) ?? whole)
}

/** Go joins the pieces by their numbers. Of two pieces with the same number either may be used. */
function fieldOfPieces(head: string): OverrideField | null {
  const first = new Map<number, string>()
  const last = new Map<number, string>()
  for (const [, digits, quoted, bare = ''] of head.matchAll(PIECE_OF_NAME)) {
    const number = Number(digits)
    const piece = (quoted ?? bare).replace(CHARSET_AND_LANGUAGE, '')
    if (!first.has(number)) first.set(number, piece)
    last.set(number, piece)
  }
  if (first.size === 0) return null
  return overrideField(joinPieces(first)) ?? overrideField(joinPieces(last))
}

const joinPieces = (pieces: ReadonlyMap<number, string>): string =>
  decodeFormText(
    [...pieces]
      .sort(([a], [b]) => a - b)
      .map(([, text]) => text)
      .join(''),
  )

function fieldOfTexts(texts: readonly string[]): OverrideField | null {
  let weak: OverrideField | null = null
  for (const [i, text] of texts.entries()) {
    const before = texts[i - 1] ?? ''
    const field = overrideField(decodeFormText(text))
    // A file name alone does not count: an upload may have any name.
    if (field === 'method' && /^filename/i.test(before)) weak ??= 'maybe_method'
    else if (field === 'method' || field === 'path') return field
    else weak ??= field
  }
  return weak
}

const decodeWords = (head: string): string =>
  head.replace(ENCODED_WORD, (_, kind: string, text: string) =>
    kind.toLowerCase() === 'b'
      ? Buffer.from(text, 'base64').toString('latin1')
      : decodeFormText(text.replaceAll('=', '%')),
  )
