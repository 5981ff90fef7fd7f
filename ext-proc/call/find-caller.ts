import type { Caller } from '../../core/decision/admission-facts.ts'
import type { ApiKey } from '../../core/model.ts'
import type { Header } from '../../core/policy/header.ts'
import { type KeyPlace, readKey } from '../../core/policy/read-key.ts'
import type { KeyPolicy, PolicyStore } from '../policy/policy-store.ts'
import { hashOfKey } from './hash-of-key.ts'
import { placesWithKeys } from './places-with-keys.ts'

export type KeyLookup = Pick<PolicyStore, 'key' | 'revokedByKill'>

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
