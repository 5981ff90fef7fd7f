import type { RedisClient } from '../../core/redis/run-script.ts'
import { type KeyRing, SEALED_KINDS, type SealedKind, sealedUnder } from '../../core/keys/seal.ts'
import { SEALED_STORES } from './sealed-stores.ts'

/** A record that no key opens. */
export interface Unreadable {
  readonly kind: SealedKind
  /** Empty for what belongs to the whole deployment. */
  readonly organization_id: string
  readonly id: string
}

/** @param except what this key encrypts is left out, and not counted; null: nothing is */
export async function findUnreadable(
  redis: RedisClient,
  ring: KeyRing,
  except: string | null,
): Promise<{ readonly found: readonly Unreadable[]; readonly count: number }> {
  const found: Unreadable[] = []
  let count = 0
  for (const kind of SEALED_KINDS)
    for await (const { organization_id, id, sealed, reseal } of SEALED_STORES[kind].records(
      redis,
    )) {
      if (sealed.every((text) => sealedUnder(text) === except)) continue
      count++
      if (reseal(ring) === null) found.push({ kind, organization_id, id })
    }
  return { found, count }
}
