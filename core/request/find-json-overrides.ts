import { readString, skipSpace, skipStart } from './json-lexis.ts'
import { skipValue, walkElements, walkMembers } from './walk-json.ts'
import { isKnownMethod, noteField, overrideField } from './override-field.ts'
import { type FoundOverrides, isFull, OVERRIDES_LIMIT } from './overrides.ts'

/** Six bytes for each letter if all are escaped; a longer key is a different one. */
const KEY_LIMIT_BYTES = 512
/** Bodies that may have such a member. The names of path fields are not used in JSON. */
const MAY_NAME_FIELD = /ethod|verb|\\u00/i
/** Bytes of a character of UTF-32. */
const WIDEST_BYTES = 4
const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/**
 * The first characters of what lenient readers skip before JSON: comments, and a prefix that prevents inclusion as a script.
 */
const LENIENT_STARTS: readonly number[] = [OPEN_OBJECT, 0x2f, 0x23, 0x29]

/**
 * Looks at the top level of an object, and at all of a text that only a lenient reader reads as an object. @param says_json
 * whether the content type is a JSON type: then every text that is not JSON is searched. A list or a scalar has no members for
 * any reader.
 */
export function findJsonOverrides(body: Buffer, found: FoundOverrides, says_json: boolean): void {
  const start = skipStart(body)
  const first = body[start]
  if (first === undefined || !(says_json || LENIENT_STARTS.includes(first))) return
  const text = narrowed(body)
  if (!MAY_NAME_FIELD.test(text)) return
  const end = first === OPEN_OBJECT ? walkObject(body, start, found) : skipValue(body, start)
  if (end < 0 || skipSpace(body, end) !== body.length) findLeniently(text, found)
}

/** UTF-16 and UTF-32, which Jackson and Python recognize by the first bytes, reduced to single bytes. */
function narrowed(body: Buffer): string {
  const text = body.toString('latin1')
  return body.subarray(0, WIDEST_BYTES).includes(0) ? text.replaceAll('\0', '') : text
}

/**
 * Frameworks read `_method` and names such as `X-HTTP-Method-Override` from JSON (Laravel, Express, Phoenix, Parse), and no
 * framework of the record (test/witness/overrides.json) reads `method` or `httpMethod` there: these are the API's own.
 */
const isRead = (name: string): boolean => overrideField(name) === 'method'

/** The value must be a method: `{"_method": "getUser"}` names a function of the API. */
function noteMethod(found: FoundOverrides, value: string, name: string): void {
  if (isKnownMethod(value)) noteField(found, 'method', value, name)
}

function walkObject(body: Buffer, start: number, found: FoundOverrides): number {
  return walkMembers(body, start, ({ key_start, key_end, value_start }) => {
    const end = skipValue(body, value_start)
    if (end < 0 || isFull(found)) return -1
    if (key_end - key_start > KEY_LIMIT_BYTES) return end
    const name = readString(body, key_start, key_end)
    if (!isRead(name)) return end
    if (body[value_start] === QUOTE) noteMethod(found, readString(body, value_start, end), name)
    if (body[value_start] === OPEN_ARRAY) noteElements(body, value_start, name, found)
    return end
  })
}

/** Express takes the first of several values. */
function noteElements(body: Buffer, start: number, name: string, found: FoundOverrides): void {
  let count = 0
  walkElements(body, start, (at) => {
    const end = skipValue(body, at)
    if (end < 0 || ++count > OVERRIDES_LIMIT) return -1
    if (body[at] === QUOTE) noteMethod(found, readString(body, at, end), name)
    return end
  })
}

const ESCAPE = /\\u00([0-9a-f]{2})/gi
/** Gson skips this prefix that prevents inclusion as a script; its quote does not begin a string. */
const SCRIPT_GUARD = /^\)\]\}'/
const METHOD_WORD = /method|verb/gi
/** Ends a word that may be a key without quotes. */
const WORD_ENDS: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n"\'`,:={}[]'))
const WORD_LIMIT = 64
const VALUE_BEHIND = /["'`]?\s*(?::|=>?)\s*(?:\[\s*)?["'`]?([a-z]{3,16})/iy

/**
 * Finds what readers find that accept more than JSON: comments, single quotes, `NaN`, a trailing comma. Members at any level
 * count.
 */
function findLeniently(text: string, found: FoundOverrides): void {
  const unescaped = text.replace(ESCAPE, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  const plain = dropComments(unescaped.replace(SCRIPT_GUARD, ''))
  let end = 0
  for (const { index } of plain.matchAll(METHOD_WORD)) {
    // A word is looked at once, however often it has one of these in it.
    if (index < end) continue
    const start = wordEdge(plain, index, -1) + 1
    end = wordEdge(plain, index, 1)
    VALUE_BEHIND.lastIndex = end
    const value = VALUE_BEHIND.exec(plain)?.[1]
    const name = plain.slice(start, end)
    if (value !== undefined && isRead(name)) noteMethod(found, value, name)
    if (isFull(found)) return
  }
}

/** The nearest position on one side at which a word ends, or at which it is too long to be a name. */
function wordEdge(text: string, from: number, step: 1 | -1): number {
  let at = from
  for (let i = 0; i < WORD_LIMIT && at >= 0 && at < text.length; i++) {
    if (WORD_ENDS.has(text.charCodeAt(at))) break
    at += step
  }
  return at
}

/** Comments begin only outside of strings, so that `"http://x"` is kept. */
function dropComments(text: string): string {
  if (!/[/#]/.test(text)) return text
  let kept = ''
  let from = 0
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i)
    if (quote !== '') {
      if (c === '\\') i++
      else if (c === quote) quote = ''
      continue
    }
    if (c === '"' || c === "'") quote = c
    const end = commentEnd(text, i, c)
    if (end === -1) continue
    kept += `${text.slice(from, i)} `
    from = end
    i = end - 1
  }
  return kept + text.slice(from)
}

/** Where the comment that begins at `at` ends; -1 when none begins there. */
function commentEnd(text: string, at: number, c: string): number {
  const second = c === '/' ? text.charAt(at + 1) : ''
  if (c !== '#' && second !== '/' && second !== '*') return -1
  const end = second === '*' ? text.indexOf('*/', at + 2) : text.indexOf('\n', at + 1)
  if (end === -1) return text.length
  return second === '*' ? end + 2 : end
}
