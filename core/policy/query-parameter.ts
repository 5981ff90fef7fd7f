import { decodeFormText } from './decode-form-text.ts'

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

/** Takes every occurrence out, with one `&` each; every other byte stays. Null when nothing is left. */
export function removeQueryParameter(raw_query: string | null, name: string): string | null {
  if (raw_query === null) return null
  const pairs = raw_query.split('&')
  const kept = pairs.filter((pair) => !isNamed(pair, name))
  if (kept.length === pairs.length) return raw_query
  return kept.length === 0 ? null : kept.join('&')
}

/** Takes every parameter of these names, in lower case, out; every other byte stays. Null when nothing is left. */
export function removeParameters(
  raw_query: string | null,
  lower_names: ReadonlySet<string>,
): string | null {
  if (raw_query === null) return null
  const pairs = raw_query.split('&')
  const kept = pairs.filter(
    (pair) => !namesOf(pair).some((name) => lower_names.has(name.toLowerCase())),
  )
  if (kept.length === pairs.length) return raw_query
  return kept.length === 0 ? null : kept.join('&')
}

/** Takes the caller's own out and appends ours, encoded. */
export function replaceQueryParameter(
  raw_query: string | null,
  name: string,
  value: string,
): string {
  const ours = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  const kept = removeQueryParameter(raw_query, name)
  return kept === null || kept === '' ? ours : `${kept}&${ours}`
}

const isNamed = (pair: string, name: string): boolean => namesOf(pair).includes(name)

/** Decoded once and twice. */
function namesOf(pair: string): readonly string[] {
  const equals = pair.indexOf('=')
  const written = equals === -1 ? pair : pair.slice(0, equals)
  const once = decodeFormText(written)
  return once.includes('%') ? [once, decodeFormText(once)] : [once]
}
