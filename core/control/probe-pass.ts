import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** The header of the gateway's own probes: a time, a random name and the signature of both, which counts once. */
export const PROBE_HEADER = 'x-agw-probe'

/** Envoy reports the header only where it looks like this (envoy/bootstrap.yaml), so that a caller cannot make it long. */
const PASS = /^[\w-]{72}$/
const TIME_BYTES = 6
const NAME_BYTES = 16
const SIGNED_BYTES = TIME_BYTES + NAME_BYTES
const KEY_BYTES = 32
/** Longer than a probe takes, also where its processes get no CPU time for minutes or their clocks differ. */
const PASS_LIMIT_MS = 600_000
/** Passes that a process remembers as used: some 3 MB. */
const USED_MAX = 20_000

/** A new pass for one probe; null while the store, which has the key of the signature, is unavailable. */
export async function issueProbePass(redis: RedisClient, nowMs = Date.now): Promise<string | null> {
  const key = await keyOf(redis).catch(() => null)
  if (key === null) return null
  const signed = randomBytes(SIGNED_BYTES)
  signed.writeUIntBE(nowMs(), 0, TIME_BYTES)
  return Buffer.concat([signed, sign(key, signed)]).toString('base64url')
}

/** The first probe of a store makes the key. */
async function keyOf(redis: RedisClient): Promise<string | null> {
  const name = REDIS_KEYS.probeKey
  const found = await redis.get(name)
  if (found !== null) return found
  await redis.set(name, randomBytes(KEY_BYTES).toString('hex'), 'NX')
  return await redis.get(name)
}

const sign = (key: string, signed: Buffer): Buffer =>
  createHmac('sha256', key).update(signed).digest()

/**
 * Returns the function that says whether a value is a pass that it has not seen before. It keeps the key, so that a probe is known
 * too while the store is slow or unavailable.
 */
export function makeProbeCheck(
  redis: RedisClient,
  nowMs = Date.now,
): (value: string) => Promise<boolean> {
  const used = new Set<string>()
  let key: string | null = null
  /** Callers can invent passes: however many come, the key is read once at a time. */
  let reading: Promise<void> | null = null
  const readKey = (): Promise<void> => {
    const read = async (): Promise<void> => {
      key = await redis.get(REDIS_KEYS.probeKey).catch(() => key)
      reading = null
    }
    reading ??= read()
    return reading
  }
  return async (value) => {
    if (!PASS.test(value)) return false
    const bytes = Buffer.from(value, 'base64url')
    const signed = bytes.subarray(0, SIGNED_BYTES)
    if (Math.abs(nowMs() - signed.readUIntBE(0, TIME_BYTES)) > PASS_LIMIT_MS) return false
    const isSigned = (): boolean =>
      key !== null && timingSafeEqual(sign(key, signed), bytes.subarray(SIGNED_BYTES))
    if (!isSigned()) await readKey()
    if (!isSigned() || used.has(value)) return false
    used.add(value)
    const [oldest = ''] = used
    if (used.size > USED_MAX) used.delete(oldest)
    return true
  }
}
