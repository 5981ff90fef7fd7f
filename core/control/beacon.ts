import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { BEACON_INTERVAL_MS, BEACON_LEADER_TTL_MS } from './control-message.ts'

/**
 * Takes part in the election and sends the beacon while elected. Every ext-proc and admin process does this.
 * A failed try is silence, and silence is what edges measure. Answers the function that stops it.
 */
export function startBeacon(redis: RedisClient, processName: string): () => void {
  const timer = setInterval(() => {
    runScript(
      redis,
      'beacon',
      [REDIS_KEYS.beaconLeader, REDIS_KEYS.epoch],
      [processName, BEACON_LEADER_TTL_MS, CHANNELS.control],
    ).catch(() => undefined)
  }, BEACON_INTERVAL_MS)
  return () => clearInterval(timer)
}
