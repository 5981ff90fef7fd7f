import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { beaconInterval, beaconLeaderTtl } from './control-message.ts'

/**
 * Takes part in the election and sends the beacon while elected. Every ext-proc and admin process does this. A failed attempt
 * sends nothing, which edges detect as a missing beacon. While another process is elected, it asks again only when that election
 * would be over. Returns the function that stops it.
 */
export function startBeacon(redis: RedisClient, processName: string, lease_ms: number): () => void {
  let next_ms = 0
  const timer = setInterval(() => {
    const sent_ms = performance.now()
    if (sent_ms < next_ms) return
    runScript(
      redis,
      'beacon',
      [REDIS_KEYS.beaconLeader, REDIS_KEYS.epoch, REDIS_KEYS.edgeBeats, REDIS_KEYS.beatClock],
      [processName, beaconLeaderTtl(lease_ms), CHANNELS.control],
    ).then(
      (left_ms) => {
        next_ms = sent_ms + Number(left_ms)
      },
      () => undefined,
    )
  }, beaconInterval(lease_ms))
  return () => clearInterval(timer)
}
