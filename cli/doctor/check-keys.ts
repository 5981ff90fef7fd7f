import { setTimeout as wait } from 'node:timers/promises'
import { countSealed, describeCounts } from '../../admin/encryption/count-sealed.ts'
import { keyHolders } from '../../admin/encryption/key-holders.ts'
import { missingKey } from '../../admin/encryption/key-sentences.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { activeKeyId, keyMismatch, readStoredKeys } from '../../core/store/stored-keys.ts'
import { findOwnKey } from '../deployment/own-key.ts'
import { failed, type CheckResult, ok, warning } from './check-result.ts'

const ANSWER_LIMIT_MS = 10_000

/** What each encryption key still encrypts in the store, and whether this machine has the keys that are needed. */
export async function checkKeys(store: StoreAccess, settings: Settings): Promise<CheckResult[]> {
  const redis = connectRedis(store, { name: 'agw-doctor-keys', role: 'queue' })
  try {
    return await Promise.race([findingsOf(redis, settings), after(ANSWER_LIMIT_MS)])
  } catch {
    // The check of the store says why.
    return []
  } finally {
    redis.disconnect()
  }
}

async function findingsOf(redis: RedisClient, settings: Settings): Promise<CheckResult[]> {
  const { killLease_ms: lease_ms } = settings
  const ring = ownRing(settings)
  const stored = await readStoredKeys(redis)
  const active = activeKeyId(stored)
  if (active === null) return []
  const counts = await countSealed(redis, 'all')
  const findings: CheckResult[] = []
  for (const key_id of new Set([active, ...counts.keys(), ...(ring?.keys.keys() ?? [])])) {
    const check = `encryption key ${key_id}`
    const row = counts.get(key_id)
    const says = `${stored.get(key_id)?.state ?? 'unknown'}, encrypts ${row === undefined ? 'nothing' : describeCounts(row)}`
    if (ring !== null && row !== undefined && !ring.keys.has(key_id))
      findings.push(failed(check, says, missingKey(key_id, row)))
    else if (key_id === active) findings.push(ok(check, says))
    else if (row !== undefined)
      findings.push(
        warning(check, says, 'Keep it until nothing needs it; re-encryption runs every minute.'),
      )
    else if (stored.get(key_id)?.state === 'retired')
      findings.push(warning(check, says, 'Remove it from AGW_ENCRYPTION_KEY.'))
    else if (key_id === ring?.primary_id) {
      const without = (await keyHolders(redis, lease_ms)).filter(
        ({ key_ids }) => !key_ids.includes(key_id),
      )
      const names = without.map(({ process }) => process).join(', ')
      findings.push(
        warning(check, says, `It is used when these processes have it: ${names || 'admin'}.`),
      )
    } else findings.push(ok(check, says))
  }
  const mismatch = ring === null ? null : keyMismatch(ring, stored)
  if (mismatch !== null)
    findings.push(failed('encryption key', 'not the key of this deployment', mismatch))
  return findings
}

async function after(limit_ms: number): Promise<CheckResult[]> {
  await wait(limit_ms, undefined, { ref: false })
  return []
}

/** Null without a key, and where the file holds none, which the check of the data directory reports. */
function ownRing(settings: Settings): KeyRing | null {
  try {
    return findOwnKey(settings)?.ring ?? null
  } catch {
    return null
  }
}
