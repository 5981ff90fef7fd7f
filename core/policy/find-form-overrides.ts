import { decodeFormText } from './decode-form-text.ts'
import { FIELD_NAME_LIMIT, mayNameField, noteField, overrideField } from './override-field.ts'
import { type FoundOverrides, isFull } from './overrides.ts'

const PLUS = 0x2b
const SPACE = 0x20
const PERCENT = 0x25
const AMPERSAND = 0x26
const SEMICOLON = 0x3b

/**
 * Looks at the pairs of a query or of a form body. Some frameworks also split at semicolons.
 * @param text one character per byte (latin1)
 */
export function findFormOverrides(text: string, found: FoundOverrides): void {
  if (!mayNameField(text)) return
  for (let start = 0; start < text.length && !isFull(found); ) {
    const end = pairEnd(text, start)
    notePair(text, skipSpaces(text, start), end, found)
    start = end + 1
  }
}

/** Character by character, since a search for either separator could run to the end each time. */
function pairEnd(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === AMPERSAND || c === SEMICOLON) return i
  }
  return text.length
}

/** PHP drops spaces before a name, however many there are. */
function skipSpaces(text: string, start: number): number {
  let i = start
  for (;;) {
    const c = text.charCodeAt(i)
    if (c === PLUS || c === SPACE) i++
    else if (c === PERCENT && text.startsWith('20', i + 1)) i += 3
    else return i
  }
}

function notePair(text: string, start: number, end: number, found: FoundOverrides): void {
  const head = text.slice(start, Math.min(end, start + FIELD_NAME_LIMIT))
  const equals = head.indexOf('=')
  const written = equals === -1 ? head : head.slice(0, equals)
  if (!mayNameField(written)) return
  const once = decodeFormText(written)
  // Some upstreams decode twice.
  const field =
    overrideField(once) ?? (once.includes('%') ? overrideField(decodeFormText(once)) : null)
  if (field === null) return
  const sign = text.indexOf('=', start)
  if (sign !== -1 && sign < end) noteField(found, field, decodeFormText(text.slice(sign + 1, end)))
}
