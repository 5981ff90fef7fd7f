import { decodeFormText } from './decode-form-text.ts'
import { OVERRIDES_LIMIT } from './find-overrides.ts'
import { readString, skipStart, skipValue, walkMembers } from './walk-json.ts'

const NAME = '_method'
/** One more than is looked at, so that `decideScope` sees that there are too many. */
const METHODS_LIMIT = OVERRIDES_LIMIT + 1
/** A longer value is no method. */
const VALUE_LIMIT_BYTES = 64
/** A part's own headers; what is longer is no form that a framework reads. */
const PART_HEADERS_LIMIT_BYTES = 8_192
const QUOTE = 0x22
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
  if (kind.startsWith('multipart/')) return multipartMethods(body, type)
  return body[skipStart(body)] === OPEN_OBJECT ? jsonMethods(body) : NO_METHODS
}

const NO_METHODS: readonly string[] = []

const isMethodName = (name: string): boolean => name.trim().toLowerCase() === NAME

function formMethods(body: Buffer): readonly string[] {
  const found: string[] = []
  for (let start = 0; start < body.length && found.length < METHODS_LIMIT; ) {
    const next = body.indexOf('&', start)
    const end = next === -1 ? body.length : next
    const equals = body.indexOf('=', start)
    // Every letter escaped and a few spaces around; a longer name is another one.
    if (equals !== -1 && equals < end && equals - start <= 64) {
      const name = decodeFormText(body.toString('latin1', start, equals))
      if (isMethodName(name)) found.push(decodeFormText(shortText(body, equals + 1, end)))
    }
    start = end + 1
  }
  return found
}

function multipartMethods(body: Buffer, contentType: string): readonly string[] {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  const text = boundary?.[1] ?? boundary?.[2]
  if (text === undefined) return NO_METHODS
  const delimiter = Buffer.from(`--${text}`, 'latin1')
  const found: string[] = []
  let at = body.indexOf(delimiter)
  while (at !== -1 && found.length < METHODS_LIMIT) {
    const start = at + delimiter.length
    at = body.indexOf(delimiter, start)
    const value = methodPart(body, start, at === -1 ? body.length : at)
    if (value !== null) found.push(value)
  }
  return found
}

function methodPart(body: Buffer, start: number, end: number): string | null {
  const head = body.toString('latin1', start, Math.min(end, start + PART_HEADERS_LIMIT_BYTES))
  const blank = /\r?\n\r?\n/.exec(head)
  if (blank === null) return null
  const name = /[;\s]name=(?:"([^"]{0,64})"|([^\s;"]{0,64}))/i.exec(head.slice(0, blank.index))
  if (name === null || !isMethodName(decodeFormText(name[1] ?? name[2] ?? ''))) return null
  return shortText(body, start + blank.index + blank[0].length, end).trim()
}

const shortText = (body: Buffer, start: number, end: number): string =>
  body.toString('latin1', start, Math.min(end, start + VALUE_LIMIT_BYTES))

function jsonMethods(body: Buffer): readonly string[] {
  const found: string[] = []
  walkMembers(body, skipStart(body), ({ key_start, key_end, value_start }) => {
    const end = skipValue(body, value_start)
    if (end < 0 || found.length >= METHODS_LIMIT) return -1
    // Every letter escaped, two quotes, and a few spaces around.
    if (body[value_start] !== QUOTE || key_end - key_start > 64) return end
    if (isMethodName(readString(body, key_start, key_end)))
      found.push(readString(body, value_start, end))
    return end
  })
  return found
}
