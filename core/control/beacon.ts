import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { beaconInterval, beaconLeaderTtl } from './control-message.ts'

export interface Beacon {
  /** Another process has just sent it, so it is elected, and need not be asked about. */
  readonly heard: () => void
  readonly stop: () => void
}

/**
 * Takes part in the election and sends the beacon while elected. Every ext-proc and admin process does this. A failed attempt
 * sends nothing, which edges detect as a missing beacon. While another process is elected, it asks again only when that election
 * would be over.
 */
export function startBeacon(redis: RedisClient, processName: string, lease_ms: number): Beacon {
  const interval_ms = beaconInterval(lease_ms)
  const elected_ms = beaconLeaderTtl(lease_ms)
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
      [processName, elected_ms, CHANNELS.control],
    ).then(
      (left_ms) => {
        if (Number(left_ms) > interval_ms) askIn(Number(left_ms))
      },
      () => undefined,
    )
  }
  askIn(interval_ms)
  return {
    heard: () => askIn(elected_ms),
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
