import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { beaconInterval, beaconLeaderTtl } from './control-message.ts'

/**
 * Takes part in the election and sends the beacon while elected. Every ext-proc and admin process does this. A failed attempt
 * sends nothing, which edges detect as a missing beacon. While another process is elected, it asks again only when that election
 * would be over. Returns the function that stops it.
 */
export function startBeacon(redis: RedisClient, processName: string, lease_ms: number): () => void {
  const interval_ms = beaconInterval(lease_ms)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const askIn = (wait_ms: number): void => {
    clearTimeout(timer)
    if (!isStopped) timer = setTimeout(ask, wait_ms)
  }
  const ask = (): void => {
    askIn(interval_ms)
    runScript(
      redis,
      'beacon',
      [REDIS_KEYS.beaconLeader, REDIS_KEYS.epoch, REDIS_KEYS.edgeBeats, REDIS_KEYS.beatClock],
      [processName, beaconLeaderTtl(lease_ms), CHANNELS.control],
    ).then(
      (left_ms) => {
        if (Number(left_ms) > interval_ms) askIn(Number(left_ms))
      },
      () => undefined,
    )
  }
  askIn(interval_ms)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
