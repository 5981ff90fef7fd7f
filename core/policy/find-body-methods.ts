import { decodeFormText } from './decode-form-text.ts'
import { mayHoldKey } from './may-hold-key.ts'
import { OVERRIDES_LIMIT } from './find-overrides.ts'
import { readString, skipStart, skipValue, walkMembers } from '../http-message/walk-json.ts'

const NAME = '_method'
/** One more than is looked at, so that `decideScope` sees that there are too many. */
const METHODS_LIMIT = OVERRIDES_LIMIT + 1
/** Every letter escaped (six bytes in JSON), two quotes, and a few spaces after; a longer name is another one. */
const LONGEST_NAME_BYTES = 64
/** A longer value is no method. */
const VALUE_LIMIT_BYTES = 64
/** `name=_method` between two line ends, and an empty line. */
const SHORTEST_PART_BYTES = 15
const QUOTE = 0x22
const PERCENT = 0x25
const AMPERSAND = 0x26
const SEMICOLON = 0x3b
const UNDERSCORE = 0x5f
const OPEN_OBJECT = 0x7b

/**
 * The values of `_method` in a body, which web frameworks let override the method (threats.md 10): of a form, of a
 * multipart form, and of the top level of a JSON object. Frameworks trim the name, some ignore its case.
 * @param contentType as the caller sent it; null reads as no form.
 */
export function findBodyMethods(body: Buffer, contentType: string | null): readonly string[] {
  const type = contentType ?? ''
  const kind = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (kind === 'application/x-www-form-urlencoded') return formMethods(body)
  if (kind.startsWith('multipart/')) return multipartMethods(body)
  return body[skipStart(body)] === OPEN_OBJECT ? jsonMethods(body) : NO_METHODS
}

/** The name in whatever case begins with one of these. */
const SPELLINGS: readonly string[] = ['_m', '_M']
const NO_METHODS: readonly string[] = []

const isMethodName = (name: string): boolean => name.trim().toLowerCase() === NAME

function formMethods(body: Buffer): readonly string[] {
  const found: string[] = []
  for (let start = 0; start < body.length && found.length < METHODS_LIMIT; ) {
    start = skipFormSpaces(body, start)
    const end = pairEnd(body, start)
    const isCandidate = body[start] === UNDERSCORE || body[start] === PERCENT
    const value = isCandidate && end - start > NAME.length ? methodPair(body, start, end) : null
    if (value !== null) found.push(value)
    start = end + 1
  }
  return found
}

/** Some frameworks separate at semicolons too. Byte by byte, since a search for either could run to the end each time. */
function pairEnd(body: Buffer, start: number): number {
  let i = start
  while (i < body.length && body[i] !== AMPERSAND && body[i] !== SEMICOLON) i++
  return i
}

function methodPair(body: Buffer, start: number, end: number): string | null {
  const head = body.toString('latin1', start, Math.min(end, start + LONGEST_NAME_BYTES + 1))
  const equals = head.indexOf('=')
  return equals !== -1 && isMethodName(decodeFormText(head.slice(0, equals)))
    ? decodeFormText(shortText(body, start + equals + 1, end))
    : null
}

/** Some frameworks drop spaces before a name, however many there are. */
function skipFormSpaces(body: Buffer, start: number): number {
  let i = start
  for (;;) {
    if (body[i] === 0x2b || body[i] === 0x20) i++
    else if (body[i] === 0x25 && body[i + 1] === 0x32 && body[i + 2] === 0x30) i += 3
    else return i
  }
}

/**
 * Every line that begins like a delimiter counts as one: which boundary is meant can be said in ways of which readers
 * take different ones (twice, in pieces, in an encoding).
 */
function multipartMethods(body: Buffer): readonly string[] {
  const found: string[] = []
  for (let start = 0; start < body.length && found.length < METHODS_LIMIT; ) {
    const next = body.indexOf('\n--', start)
    const end = next === -1 ? body.length : next
    const value = methodPart(body, start, end)
    if (value !== null) found.push(value)
    start = end + 3
  }
  return found
}

/** A part ends its own headers with an empty line; readers differ in which of two names they take, so any counts. */
function methodPart(body: Buffer, start: number, end: number): string | null {
  if (end - start < SHORTEST_PART_BYTES) return null
  const part = body.subarray(start, end)
  const blanks = [part.indexOf('\n\r\n'), part.indexOf('\n\n')].filter((at) => at !== -1)
  if (blanks.length === 0) return null
  const blank = Math.min(...blanks)
  const head = part.toString('latin1', 0, blank)
  for (const [, quoted, bare] of head.matchAll(/[;\s]name=(?:"([^"]*)"|([^\s;"]*))/gi)) {
    if (isMethodName(decodeFormText(quoted ?? bare ?? '')))
      return shortText(part, part.indexOf('\n', blank + 1) + 1, part.length).trim()
  }
  return null
}

const shortText = (body: Buffer, start: number, end: number): string =>
  body.toString('latin1', start, Math.min(end, start + VALUE_LIMIT_BYTES))

function jsonMethods(body: Buffer): readonly string[] {
  if (!SPELLINGS.some((spelling) => mayHoldKey(body, spelling))) return NO_METHODS
  const found: string[] = []
  walkMembers(body, skipStart(body), ({ key_start, key_end, value_start }) => {
    const end = skipValue(body, value_start)
    if (end < 0 || found.length >= METHODS_LIMIT) return -1
    if (body[value_start] !== QUOTE || key_end - key_start > LONGEST_NAME_BYTES) return end
    if (isMethodName(readString(body, key_start, key_end)))
      found.push(readString(body, value_start, end))
    return end
  })
  return found
}
