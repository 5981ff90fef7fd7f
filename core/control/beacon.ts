import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { beaconInterval, beaconLeaderTtl } from './control-message.ts'

/**
 * Takes part in the election and sends the beacon while elected. Every ext-proc and admin process does this. A failed attempt
 * sends nothing, which edges detect as a missing beacon. Returns the function that stops it.
 */
export function startBeacon(redis: RedisClient, processName: string, lease_ms: number): () => void {
  const timer = setInterval(() => {
    runScript(
      redis,
      'beacon',
      [REDIS_KEYS.beaconLeader, REDIS_KEYS.epoch, REDIS_KEYS.edgeBeats, REDIS_KEYS.beatClock],
      [processName, beaconLeaderTtl(lease_ms), CHANNELS.control],
    ).catch(() => undefined)
  }, beaconInterval(lease_ms))
  return () => clearInterval(timer)
}
