import type { RedisClient } from '../../core/redis/run-script.ts'
import { isSealed, SEALED_KINDS, type SealedKind, sealedUnder } from '../../core/keys/seal.ts'
import { SEALED_STORES } from './sealed-stores.ts'

/** How many values each key still encrypts, by key id and kind. */
export type SealedCounts = ReadonlyMap<string, Readonly<Record<SealedKind, number>>>

const NONE = Object.fromEntries(SEALED_KINDS.map((kind) => [kind, 0])) as Record<SealedKind, number>

/** @param which `lasting` leaves out what expires within minutes, for which the whole store has to be searched */
export async function countSealed(
  redis: RedisClient,
  which: 'all' | 'lasting',
): Promise<SealedCounts> {
  const counts = new Map<string, Record<SealedKind, number>>()
  for (const kind of SEALED_KINDS) {
    if (which === 'lasting' && SEALED_STORES[kind].is_short_lived) continue
    for await (const { sealed } of SEALED_STORES[kind].records(redis))
      for (const text of sealed) {
        const key_id = isSealed(text) ? sealedUnder(text) : null
        if (key_id === null) continue
        const row = counts.get(key_id) ?? { ...NONE }
        row[kind]++
        counts.set(key_id, row)
      }
  }
  return counts
}

/** `3 credentials and 1 webhook secret` */
export function describeCounts(row: Readonly<Record<SealedKind, number>>): string {
  const parts = SEALED_KINDS.filter((kind) => row[kind] > 0).map((kind) => {
    const [one, several] = SEALED_STORES[kind].names
    return `${row[kind]} ${row[kind] === 1 ? one : several}`
  })
  const last = parts.pop() ?? 'nothing'
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`
}
