import type { Caller } from '../../core/decision/admission-facts.ts'
import type { Header } from '../../core/request/header.ts'
import { readKey } from '../../core/request/read-key.ts'
import { callerOfHash, type KeyLookup } from './caller-of-hash.ts'
import { hashOfKey } from './hash-of-key.ts'
import { placesWithKeys } from './places-with-keys.ts'

/** Finds the owner of the presented key. This is not a verdict yet, because the integration is checked first. */
export function findCaller(
  policy: KeyLookup,
  headers: readonly Header[],
  raw_query: string | null,
): Caller | Promise<Caller> {
  const presented = readKey(headers, raw_query, placesWithKeys(headers, raw_query))
  if (presented.kind !== 'presented') return presented
  const { place } = presented
  const hash = hashOfKey(presented.key)
  return hash === null ? { kind: 'unknown', place } : callerOfHash(policy, hash, place)
}
