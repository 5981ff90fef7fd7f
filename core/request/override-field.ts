import { foldCompatible } from './fold-compatible.ts'
import { shortText } from '../system/short-text.ts'
import { plainFieldName } from './plain-field-name.ts'
import type { FoundOverrides } from './overrides.ts'

/**
 * How a field may change its request. `method` overrides the method, whatever its value; `maybe_method` only if the value is a
 * method, because other APIs use a field of this name for something else; `path` overrides the path.
 */
export type OverrideField = 'method' | 'maybe_method' | 'path'

/** A longer name is a different one, after leading spaces and everything from a NUL on are removed. */
export const FIELD_NAME_LIMIT = 256
/** A longer value is not a method. */
export const METHOD_VALUE_LIMIT = 64

/** Texts that may contain the name of such a field, plain or percent-encoded; all others need no further check. */
export const mayNameField = (text: string): boolean => MAY_NAME_FIELD.test(text)
const MAY_NAME_FIELD = /%|method|verb|rest.?route|url/i

/**
 * `_method` (Rails, Laravel, Symfony, Spring, WordPress, Phoenix, Express), `_METHOD` (Slim), `method` (Facebook, Restlet),
 * `_HttpMethod` (Salesforce), `X-HTTP-Method-Override` as a field (ASP.NET), `x-method-override` (IBM), `httpMethod`,
 * `http_method` (Restler), `x-tunneled-method` (Catalyst), `alf_method` (Alfresco), `_method_override` (WAI),
 * `__METHOD_OVERRIDE__` (Flask), `REQUEST_METHOD_OVERRIDE` (Mako): all are made of these words.
 */
const METHOD_NAME =
  /^(?:x|alf|http|req(?:uest)?|rest|orig(?:inal)?|tunnell?(?:ed)?|overrid(?:e|den)|real)*(?:method|verb)(?:overrid(?:e|den))?$/
/** Without one of these in its name, or a punctuation character before it, a field may be an ordinary one of the API. */
const UNMISTAKABLE = /overrid|tunnel|^x|^alf/
const SIGN_FIRST = /^[^a-z0-9]/i

/**
 * Names are compared as the most lenient reader reads them (`plainFieldName`), and all punctuation is equal: PHP reads
 * `.method` as `_method`, and Rack `_\method` in a part.
 * @param name decoded
 */
export function overrideField(name: string): OverrideField | null {
  const plain = plainFieldName(name)
  if (plain.length > FIELD_NAME_LIMIT) return null
  const letters = plain
    .toUpperCase()
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  const hasSign = SIGN_FIRST.test(plain)
  // WordPress reads the route of its API from this field first, Phalcon that of every call from `_url`.
  if (letters === 'restroute' || (hasSign && letters === 'url')) return 'path'
  if (!METHOD_NAME.test(letters)) return null
  return UNMISTAKABLE.test(letters) || (hasSign && letters.endsWith('method'))
    ? 'method'
    : 'maybe_method'
}

/**
 * Notes a value once, so that a repetition does not take the place of another one.
 * @param name of the header, parameter or member @param value decoded
 */
export function noteField(
  { methods, addresses, names }: FoundOverrides,
  field: OverrideField,
  value: string,
  name: string,
): void {
  const text = field === 'path' ? value : value.slice(0, METHOD_VALUE_LIMIT)
  if (field === 'path') {
    if (!value.startsWith('/') || addresses.some((one) => one.value === value)) return
    addresses.push({ kind: 'url', value })
  } else {
    if (field !== 'method' && !isMethod(value)) return
    if (!methods.includes(text)) methods.push(text)
  }
  if (!names.has(text)) names.set(text, shortText(plainFieldName(name), NAME_SHOWN_MAX))
}

/** Of a name in a refusal. */
const NAME_SHOWN_MAX = 64

const METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
])

/** Further methods that servers know, from the IANA registry and caches. */
const OTHER_METHODS: ReadonlySet<string> = new Set(
  (
    'ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE ' +
    'MOVE ORDERPATCH PROPFIND PROPPATCH PURGE QUERY REBIND REPORT SEARCH TRACK UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE ' +
    'UPDATEREDIRECTREF VERSION-CONTROL'
  ).split(' '),
)

/** Whether a text is any method that a server may know. */
export const isKnownMethod = (value: string): boolean =>
  isMethod(value) || OTHER_METHODS.has(plainMethod(value))

/** Whether a text is an HTTP method, and not a word of the API such as `card` or `tools/call`. */
export const isMethod = (value: string): boolean => METHODS.has(plainMethod(value))

function plainMethod(value: string): string {
  const nul = value.indexOf('\0')
  const text = (nul === -1 ? value : value.slice(0, nul)).trim()
  return text.length > METHOD_VALUE_LIMIT ? '' : foldCompatible(text).trim().toUpperCase()
}
