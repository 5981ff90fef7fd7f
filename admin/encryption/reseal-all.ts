import { setTimeout as wait } from 'node:timers/promises'
import { commit } from '../../core/change/commit.ts'
import { raiseMinimumVersion } from '../../core/store/minimum-version.ts'
import { STORE_FORMAT, STORE_FORMATS } from '../../core/store/stored-record.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type KeyRing, SEALED_KINDS, sealedUnder } from '../../core/keys/seal.ts'
import type { Unreadable } from './find-unreadable.ts'
import type { SealedRecord } from './sealed-store.ts'
import { SEALED_STORES } from './sealed-stores.ts'

export interface Resealed {
  readonly resealed: number
  /** Records that no key of the ring opens; at most `UNREADABLE_MAX` of them are named. */
  readonly unreadable: readonly Unreadable[]
  /** Live edges that could not read a sealed user name; records with a clear one stay as they are for now. */
  readonly waits_for: readonly string[]
}

/** More would only fill the log. */
const UNREADABLE_MAX = 100
/** Each record is a change that makes edges read again. They get time for that after so many, since calls wait for it. */
const BURST = 20
const PAUSE_MS = 200
/** A record that is changed by somebody else at the same time is read again in the next round. */
const ROUNDS_MAX = 5

/**
 * Encrypts everything again that is not encrypted with the primary key, so that an older key can be taken out of the
 * ring afterwards, and every secret that an older version stored unencrypted. One record at a time, each replaced only if
 * it is still what was read: an interrupted pass is continued by the next one.
 */
export async function resealAll(
  redis: RedisClient,
  ring: KeyRing,
  lease_ms: number,
): Promise<Resealed> {
  const oldEdges = await edgesOfOldFormat(redis, lease_ms)
  let resealed = 0
  for (let round = 1; ; round++) {
    const unreadable: Unreadable[] = []
    let isWaiting = false
    let changed = 0
    for (const kind of SEALED_KINDS)
      for await (const record of SEALED_STORES[kind].records(redis)) {
        if (isCurrent(ring, record)) continue
        if (record.has_clear && oldEdges.length > 0) {
          isWaiting = true
          continue
        }
        const change = record.reseal(ring)
        if (change === null) {
          const { organization_id, id } = record
          if (unreadable.length < UNREADABLE_MAX) unreadable.push({ kind, organization_id, id })
          continue
        }
        const committed = await commit(redis, change, lease_ms)
        if (committed.kind === 'committed') {
          resealed++
          if (resealed % BURST === 0) await wait(PAUSE_MS)
        } else changed++
      }
    if (changed > 0 && round < ROUNDS_MAX) continue
    // From here on there may be records that an older process misreads.
    if (oldEdges.length === 0)
      for (const { read_from } of STORE_FORMATS.slice(-1))
        await raiseMinimumVersion(redis, read_from)
    return { resealed, unreadable, waits_for: isWaiting ? oldEdges : [] }
  }
}

const isCurrent = (ring: KeyRing, { sealed, has_clear }: SealedRecord): boolean =>
  !has_clear && sealed.every((text) => sealedUnder(text) === ring.primary_id)

async function edgesOfOldFormat(redis: RedisClient, lease_ms: number): Promise<string[]> {
  const edges = await liveEdgeRecords(redis, lease_ms)
  return edges
    .filter(({ record }) => (record.store_format ?? 1) < STORE_FORMAT)
    .map(({ process_id }) => process_id)
}
