import { hashKey, isWellFormedKey } from '../../core/api-key.ts'
import type { Caller } from '../../core/decision/admission-facts.ts'
import type { ApiKey } from '../../core/model.ts'
import type { Header } from '../../core/policy/header.ts'
import type { OwnedName } from '../../core/policy/owned-name.ts'
import { plainHeaderName } from '../../core/policy/plain-header-name.ts'
import { type KeyPlace, readKey } from '../../core/policy/read-key.ts'
import type { KeyPolicy, PolicyStore } from '../policy/policy-store.ts'

export type KeyLookup = Pick<PolicyStore, 'key' | 'revokedByKill'>

/** Maximum number of places outside `Authorization` that are searched for a key. */
const PLACES_MAX = 8

/** Finds the owner of the presented key. This is not a verdict yet, because the integration is checked first. */
export function findCaller(
  policy: KeyLookup,
  headers: readonly Header[],
  raw_query: string | null,
): Caller | Promise<Caller> {
  const presented = readKey(headers, raw_query, placesWithKeys(headers, raw_query))
  if (presented.kind !== 'presented') return presented
  const { place } = presented
  const hash = hashOf(presented.key)
  if (hash === null) return { kind: 'unknown', place }
  const found = policy.key(hash)
  return found instanceof Promise
    ? found.then(({ key }) => callerOf(policy, key, place))
    : callerOf(policy, found.key, place)
}

function callerOf(
  policy: KeyLookup,
  key: KeyPolicy['key'],
  place: KeyPlace,
): Caller | Promise<Caller> {
  if (key === null) return { kind: 'unknown', place }
  if (key.revoked_by !== 'kill' || key.agent_id === null) return known(key, place)
  return policy.revokedByKill(key, key.agent_id).then((again) => known(again, place))
}

const known = (key: ApiKey, place: KeyPlace): Caller => ({ kind: 'known', key, place })

/** Keys in use at one edge. Caching their checksum and hash saves 5 µs per call. */
const HASHES_MAX = 4_096
const hashes = new Map<string, string>()

/** Null if the text does not have the form of a gateway key. */
function hashOf(key: string): string | null {
  const made = hashes.get(key)
  if (made !== undefined) return made
  if (!isWellFormedKey(key)) return null
  const hash = hashKey(key)
  if (hashes.size >= HASHES_MAX) hashes.clear()
  hashes.set(key, hash)
  return hash
}

const KEY_PREFIX = 'agw_live_'

/** Headers and query parameters that contain a gateway key, in any place that a credential might use. */
function placesWithKeys(
  headers: readonly Header[],
  raw_query: string | null,
): readonly OwnedName[] {
  let places: OwnedName[] | null = null
  for (const { name, value } of headers) {
    if (!value.includes(KEY_PREFIX) || name === 'authorization' || name.startsWith(':')) continue
    places ??= []
    if (places.length < PLACES_MAX) places.push({ kind: 'header', name: plainHeaderName(name) })
  }
  if (raw_query?.includes(KEY_PREFIX)) {
    for (const pair of raw_query.split('&')) {
      const equals = pair.indexOf('=')
      if (equals < 0 || !pair.includes(KEY_PREFIX)) continue
      places ??= []
      if (places.length < PLACES_MAX)
        places.push({ kind: 'query', name: decodeName(pair.slice(0, equals)) })
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
