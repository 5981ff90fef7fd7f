import { hostname } from 'node:os'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { liveEdgeRecords } from './live-edge-records.ts'

/** From here on, times in the log and expiry times are visibly wrong. */
export const SKEW_NOTICE_MS = 1_000

/** The host whose clock differs if all others agree with each other. */
const STORE_HOST = 'of the store'

/** How far the clock of each host with a process of this deployment is ahead of the clock of the store, in ms. */
export async function clockSkews(
  redis: RedisClient,
  lease_ms: number,
  nowMs: () => number,
): Promise<ReadonlyMap<string, number>> {
  const asked_ms = nowMs()
  const [seconds, micros] = await redis.time()
  const store_ms = Number(seconds) * 1000 + Number(micros) / 1000
  const skews = new Map([[hostname(), Math.round((asked_ms + nowMs()) / 2 - store_ms)]])
  for (const { process_id, record } of await liveEdgeRecords(redis, lease_ms)) {
    const { host, clock_ms } = record
    if (host === undefined || clock_ms === undefined || skews.has(host)) continue
    // The record and the time of the store at that moment are written by one script.
    const score = await redis.zscore(REDIS_KEYS.edgeBeats, process_id)
    if (score === null) continue
    skews.set(host, Math.round(clock_ms - Number(score)))
  }
  return skews
}

/** Those whose clock is wrong. If several agree with each other and not with the store, it is the one of the store. */
export function wrongClocks(skews: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const values = [...skews.values()]
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const areWrong = values.every((skew_ms) => Math.abs(skew_ms) >= SKEW_NOTICE_MS)
  if (values.length > 1 && areWrong && most - least < SKEW_NOTICE_MS)
    return new Map([[STORE_HOST, -most]])
  return new Map([...skews].filter(([, skew_ms]) => Math.abs(skew_ms) >= SKEW_NOTICE_MS))
}

export const skewSentence = (host: string, skew_ms: number): string =>
  host === STORE_HOST
    ? `The clock ${host} is ${aside(skew_ms)} all others.`
    : `The clock of host ${host} is ${aside(skew_ms)} that of the store.`
export const SKEW_ADVICE = 'Synchronize the clocks with NTP.'

const aside = (skew_ms: number): string =>
  `${Math.abs(skew_ms)} ms ${skew_ms < 0 ? 'behind' : 'ahead of'}`
