import { decodeFormText } from './decode-form-text.ts'
import {
  mayNameField,
  METHOD_VALUE_LIMIT,
  noteField,
  type OverrideField,
  overrideField,
} from './override-field.ts'
import { type FoundOverrides, isFull } from './overrides.ts'

/** The empty line behind the headers of a part: one for most readers, and one for Werkzeug, where CR alone ends a line. */
const BLANK_LINES: readonly RegExp[] = [/\n\r?\n/, /\r\r/]
/** An encoded word of RFC 2047, which Tomcat decodes in a part's headers. */
const ENCODED_WORD = /=\?[^?\s]+\?([bq])\?([^?\s]*)\?=/gi
const MAY_BE_ENCODED = /=\?|\*\s*\d/
/** What separates the texts of a part's header; every one of them counts as a name. */
const SEPARATORS = /[\s;,:="'<>]+/
/** A name in pieces (RFC 2231): `name*0=_me; name*1=thod`. */
const PIECE_OF_NAME = /^name\*\d+\*?$/i

/**
 * Looks at each part of a multipart body. Every line that begins like a delimiter counts as one: which boundary is meant
 * can be said in ways of which readers take different ones (twice, in pieces, in an encoding).
 * @param text one character a byte (latin1)
 */
export function findMultipartOverrides(text: string, found: FoundOverrides): void {
  for (let start = 0; start !== -1 && !isFull(found); ) {
    const next = nextDelimiter(text, start + 2)
    notePart(text.slice(start, next === -1 ? text.length : next), found)
    start = next
  }
}

function nextDelimiter(text: string, from: number): number {
  for (let at = text.indexOf('--', from); at !== -1; at = text.indexOf('--', at + 1)) {
    const before = text.charCodeAt(at - 1)
    if (before === 0x0a || before === 0x0d) return at
  }
  return -1
}

/** Readers differ in which of two names they take, and in where they look for one, so any counts. */
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
  const field = fieldOf(decodeWords(head).split(SEPARATORS))
  if (field === null) return
  noteField(found, field, (field === 'path' ? value : value.slice(0, METHOD_VALUE_LIMIT)).trim())
}

function fieldOf(texts: readonly string[]): OverrideField | null {
  let weak: OverrideField | null = null
  let name = ''
  for (const [i, text] of texts.entries()) {
    const before = texts[i - 1] ?? ''
    if (PIECE_OF_NAME.test(before)) name += text
    const field = overrideField(decodeFormText(text))
    // The name of a file decides nothing by itself: it may be what an upload is called.
    if (field === 'method' && /^filename/i.test(before)) weak ??= 'maybe_method'
    else if (field === 'method' || field === 'path') return field
    else weak ??= field
  }
  return overrideField(decodeFormText(name)) ?? weak
}

const decodeWords = (head: string): string =>
  head.replace(ENCODED_WORD, (_, kind: string, text: string) =>
    kind.toLowerCase() === 'b'
      ? Buffer.from(text, 'base64').toString('latin1')
      : decodeFormText(text.replaceAll('=', '%')),
  )
