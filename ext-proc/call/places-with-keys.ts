import { KEY_PREFIX } from '../../core/keys/api-key.ts'
import type { Header } from '../../core/request/header.ts'
import type { OwnedName } from '../../core/request/owned-name.ts'
import { plainHeaderName } from '../../core/request/plain-header-name.ts'

/** Maximum number of places outside `Authorization` that are searched for a key. */
const PLACES_MAX = 8

/** Headers and query parameters that contain a gateway key, in any place that a credential might use. */
export function placesWithKeys(
  headers: readonly Header[],
  raw_query: string | null,
): readonly OwnedName[] {
  let places: OwnedName[] | null = null
  const add = (place: OwnedName): void => {
    places ??= []
    const isKnown = places.some(({ kind, name }) => kind === place.kind && name === place.name)
    if (!isKnown && places.length < PLACES_MAX) places.push(place)
  }
  for (const { name, value } of headers) {
    if (!value.includes(KEY_PREFIX.live) || name === 'authorization' || name.startsWith(':'))
      continue
    add({ kind: 'header', name: plainHeaderName(name) })
  }
  if (raw_query?.includes(KEY_PREFIX.live)) {
    for (const pair of raw_query.split('&')) {
      const equals = pair.indexOf('=')
      if (equals < 0 || !pair.includes(KEY_PREFIX.live)) continue
      add({ kind: 'query', name: decodeName(pair.slice(0, equals)) })
    }
  }
  return places ?? NO_PLACES
}

const NO_PLACES: readonly OwnedName[] = []

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
