import { randomBytes } from 'node:crypto'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** The header of the gateway's own probes. Its value is a random secret that the store knows, and that counts once. */
export const PROBE_HEADER = 'x-agw-probe'

const SECRET_BYTES = 32
const SECRET = /^[0-9a-f]{64}$/
/** Longer than a probe takes, also where its processes get no CPU time for seconds. */
const PASS_TTL_MS = 60_000
/** Values that one process looks up at the same time. Callers can invent them; the calls of further ones are logged. */
const LOOKUPS_MAX = 64

/** A new secret for one probe; null while the store is unavailable. */
export async function issueProbePass(redis: RedisClient): Promise<string | null> {
  const secret = randomBytes(SECRET_BYTES).toString('hex')
  const set = redis.set(REDIS_KEYS.probePass(secret), '1', 'PX', PASS_TTL_MS)
  return await set.then(
    () => secret,
    () => null,
  )
}

/** Returns the function that says whether a value is a secret that was issued and not used before. */
export function makeProbeCheck(redis: RedisClient): (value: string) => Promise<boolean> {
  let lookups = 0
  return async (value) => {
    if (!SECRET.test(value) || lookups >= LOOKUPS_MAX) return false
    lookups++
    try {
      return (await redis.del(REDIS_KEYS.probePass(value))) === 1
    } catch {
      return false
    } finally {
      lookups--
    }
  }
}
