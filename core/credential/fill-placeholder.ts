import type { PlaceholderFilling } from './credential-type.ts'

/** What a caller writes where the token belongs. */
export const PLACEHOLDER = '{agw:token}'

export interface FilledTarget {
  readonly raw_path: string
  readonly raw_query: string | null
}

/** Clients escape braces, and some the colon. */
const plain = (text: string): string =>
  text.includes('%')
    ? text.replaceAll(/%7b/gi, '{').replaceAll(/%7d/gi, '}').replaceAll(/%3a/gi, ':')
    : text

interface Prepared {
  /** Everything that would end the path or be decoded is escaped; `/` separates segments of the token. */
  readonly in_path: string
  readonly places: readonly { readonly segments: readonly string[]; readonly at: number }[]
}

/** A filling is the same for all calls with its credential. */
const PREPARED = new WeakMap<PlaceholderFilling, Prepared>()

function prepare(filling: PlaceholderFilling): Prepared {
  const known = PREPARED.get(filling)
  if (known !== undefined) return known
  const places = filling.paths.map((path) => {
    const segments = path.split('/').slice(1)
    return { segments, at: segments.findIndex((segment) => segment.includes(PLACEHOLDER)) }
  })
  const in_path = encodeURI(filling.value).replaceAll('?', '%3F').replaceAll('#', '%23')
  const prepared = { in_path, places }
  PREPARED.set(filling, prepared)
  return prepared
}

/**
 * Puts the token in the declared places, where the caller has written the placeholder; null if it is at none of them. A caller's own
 * token in its place is not sent on.
 * @param base_segments of the base URL, to which the declared paths are relative
 */
export function fillPlaceholder(
  { raw_path, raw_query }: FilledTarget,
  base_segments: number,
  filling: PlaceholderFilling,
): FilledTarget | null {
  const { value, query } = filling
  const { in_path, places } = prepare(filling)
  const segments = raw_path.split('/')
  const from = base_segments + 1
  for (const place of places) {
    const matches = place.segments.every((segment, i) => {
      const own = segments[from + i]
      return own !== undefined && (segment === '*' || plain(own) === segment)
    })
    if (!matches) continue
    const at = from + place.at
    segments[at] = plain(segments[at] ?? '').replace(PLACEHOLDER, () => in_path)
    return { raw_path: segments.join('/'), raw_query }
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
