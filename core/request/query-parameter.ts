import { decodeFormText, withPlainEscapes } from './decode-form-text.ts'
import { plainFieldName } from './plain-field-name.ts'

/**
 * The values of a parameter, decoded. Names are compared decoded, and decoded again, since some upstreams decode
 * twice.
 */
export function queryValues(raw_query: string | null, name: string): string[] {
  if (raw_query === null || raw_query === '') return []
  return raw_query
    .split('&')
    .filter((pair) => isNamed(pair, name))
    .map((pair) => {
      const equals = pair.indexOf('=')
      return equals === -1 ? '' : decodeFormText(pair.slice(equals + 1))
    })
}

/** Removes a parameter in every spelling that a server may read as `name`; every other byte stays. Null when nothing is left. */
export const removeQueryParameter = (raw_query: string | null, name: string): string | null =>
  removeParameters(raw_query, new Set([plainParameterName(name)]))

/**
 * Removes parameters in every spelling that a server may read as one of these names; every other byte stays. Null when nothing
 * is left. Of two values many servers use the first, and the gateway's is the last.
 * @param plain_names as `plainParameterName` writes them
 */
export function removeParameters(
  raw_query: string | null,
  plain_names: ReadonlySet<string>,
): string | null {
  if (raw_query === null) return null
  const pairs = raw_query.split('&')
  const kept: string[] = []
  let isChanged = false
  for (const pair of pairs) {
    const left = withoutNamed(pair, plain_names)
    isChanged ||= left !== pair
    if (left !== null) kept.push(left)
  }
  if (!isChanged) return raw_query
  return kept.length === 0 ? null : kept.join('&')
}

/** Servers that also split at `;` (CGI, Rack 2, Go before 1.17) read several parameters in one pair. */
function withoutNamed(pair: string, plain_names: ReadonlySet<string>): string | null {
  if (!pair.includes(';')) return isOneOf(pair, plain_names) ? null : pair
  const [first = '', ...others] = pair.split(';')
  if (isOneOf(first, plain_names)) return null
  const kept = others.filter((piece) => !isOneOf(piece, plain_names))
  return kept.length === others.length ? pair : [first, ...kept].join(';')
}

/** Removes the caller's value and appends the given one, encoded. */
export function replaceQueryParameter(
  raw_query: string | null,
  name: string,
  value: string,
): string {
  const ours = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  const kept = removeQueryParameter(raw_query, name)
  return kept === null || kept === '' ? ours : `${kept}&${ours}`
}

const ENCODED = /[%+\x80-\xff]/

function isNamed(pair: string, name: string): boolean {
  // Most pairs have another name, and are not decoded.
  if (!ENCODED.test(pair)) return pair === name || pair.startsWith(`${name}=`)
  return namesOf(pair).includes(name)
}

const isOneOf = (piece: string, plain_names: ReadonlySet<string>): boolean =>
  namesOf(piece).some((name) => plain_names.has(plainParameterName(name)))

const NOT_ALPHANUMERIC = /[^a-z0-9]/g
const QUESTION_MARK = /^\?/

/**
 * A name as the most lenient server compares it: without case (ASP.NET), with all punctuation equal (PHP), and without the
 * brackets of a list (qs). Some readers drop a second question mark in front.
 */
export const plainParameterName = (name: string): string =>
  plainFieldName(name.replace(QUESTION_MARK, ''))
    .toUpperCase()
    .toLowerCase()
    .replace(NOT_ALPHANUMERIC, '-')

/** Decoded once and twice. */
function namesOf(pair: string): readonly string[] {
  const equals = pair.indexOf('=')
  const written = equals === -1 ? pair : pair.slice(0, equals)
  const once = decodeFormText(withPlainEscapes(written))
  return once.includes('%') ? [once, decodeFormText(withPlainEscapes(once))] : [once]
}
