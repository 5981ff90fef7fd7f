import type { Caller } from '../../core/decision/admission-facts.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import type { KeyPlace } from '../../core/request/read-key.ts'
import type { KeyPolicy, PolicyStore } from '../policy/policy-store.ts'

export type KeyLookup = Pick<PolicyStore, 'key' | 'revokedByKill'>

/** The owner of a key. @param hash SHA-256 of the key */
export function callerOfHash(
  policy: KeyLookup,
  hash: string,
  place: KeyPlace,
): Caller | Promise<Caller> {
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
