import type { PlaceholderFilling } from './credential-type.ts'

/** What a caller writes where the token belongs. */
export const PLACEHOLDER = '{agw:token}'

export interface FilledTarget {
  readonly raw_path: string
  readonly raw_query: string | null
}

/** Clients escape braces, and some the colon. */
const plain = (text: string): string =>
  text.replaceAll(/%7b/gi, '{').replaceAll(/%7d/gi, '}').replaceAll(/%3a/gi, ':')

/** Everything that would end the path or be decoded is escaped; `/` separates segments of the token. */
const inPath = (text: string): string =>
  encodeURI(text).replaceAll('?', '%3F').replaceAll('#', '%23')

/**
 * Puts the token in the declared places, where the caller has written the placeholder; null if it is at none of them. A caller's own
 * token in its place is not sent on.
 * @param base_segments of the base URL, to which the declared paths are relative
 */
export function fillPlaceholder(
  { raw_path, raw_query }: FilledTarget,
  base_segments: number,
  { value, paths, query }: PlaceholderFilling,
): FilledTarget | null {
  const segments = raw_path.split('/')
  const from = base_segments + 1
  for (const place of paths) {
    const wanted = place.split('/').slice(1)
    const matches = wanted.every((segment, i) => {
      const own = segments[from + i]
      return own !== undefined && (segment === '*' || plain(own) === segment)
    })
    if (!matches) continue
    const at = from + wanted.findIndex((segment) => segment.includes(PLACEHOLDER))
    const filled = plain(segments[at] ?? '').replace(PLACEHOLDER, () => inPath(value))
    return { raw_path: segments.with(at, filled).join('/'), raw_query }
  }
  if (query === null || raw_query === null) return null
  let isFilled = false
  const pairs = raw_query.split('&').map((pair) => {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals) !== query || plain(pair.slice(equals + 1)) !== PLACEHOLDER)
      return pair
    isFilled = true
    return `${query}=${encodeURIComponent(value)}`
  })
  return isFilled ? { raw_path, raw_query: pairs.join('&') } : null
}
