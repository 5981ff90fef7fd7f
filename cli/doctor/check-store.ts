import { hostname } from 'node:os'
import { checkDurability } from '../../admin/bootstrap/check-durability.ts'
import {
  clockSkews,
  SKEW_ADVICE,
  SKEW_NOTICE_MS,
  skewSentence,
  wrongClocks,
} from '../../core/control/clock-skews.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { connectionProblem, lastError, writeProblem } from '../../core/redis/connection-problem.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'
import { failed, type CheckResult, ok, warning } from './check-result.ts'

const ANSWER_LIMIT_MS = 3_000
/** Of a heartbeat; longer than a lease is by default. */
const LIVE_MS = 10_000
/** Webhook receivers refuse signatures that are more than five minutes old. */
const SKEW_LIMIT_MS = 60_000

/** Whether the store answers, accepts writes, persists its data and has the same time. */
export async function checkStore(store: StoreAccess): Promise<CheckResult[]> {
  const redis = connectRedis(store, { name: 'agw-doctor', role: 'queue' })
  try {
    const asked_ms = Date.now()
    const asking = redis.time().catch((error: unknown) => connectionProblem(redis, error) ?? '')
    const time = await Promise.race([asking, after(ANSWER_LIMIT_MS)])
    if (typeof time === 'string') return [unusable(redis, time)]
    if (time === null) return [unusable(redis, connectionProblem(redis) ?? 'the store is slow')]
    const answered_ms = Date.now()
    const problem = await writeProblem(redis)
    if (problem !== null) return [unusable(redis, problem)]
    const { problems, warnings } = await checkDurability(redis)
    const findings = [
      ...problems.map((problem) =>
        failed('store', problem, 'The admin service refuses to start with this.'),
      ),
      ...warnings.map((text) => warning('store', text, 'Ask the operator of the store.')),
    ]
    const store_ms = Number(time[0]) * 1000 + Number(time[1]) / 1000
    return [
      ...(findings.length > 0
        ? findings
        : [ok('store', 'reachable, no eviction, append-only file enabled')]),
      skewResult(store_ms - (asked_ms + answered_ms) / 2),
      ...(await fleetClocks(redis)),
    ]
  } finally {
    redis.disconnect()
  }
}

function unusable(redis: RedisClient, problem: string): CheckResult {
  const error = lastError(redis)
  const says = error === '' ? problem : `${problem} (${error})`
  return failed('store', says, 'Until then calls are refused.')
}

function skewResult(skew_ms: number): CheckResult {
  const size_ms = Math.abs(Math.round(skew_ms))
  const says = `the store is ${size_ms} ms ${skew_ms < 0 ? 'behind' : 'ahead of'} this machine`
  if (size_ms >= SKEW_LIMIT_MS) return failed('clock', says, SKEW_ADVICE)
  return size_ms >= SKEW_NOTICE_MS ? warning('clock', says, SKEW_ADVICE) : ok('clock', says)
}

/** Of the other hosts, those whose clocks are wrong. */
async function fleetClocks(redis: RedisClient): Promise<CheckResult[]> {
  const skews = await clockSkews(redis, LIVE_MS, Date.now)
  return [...wrongClocks(skews)]
    .filter(([host]) => host !== hostname())
    .map(([host, skew_ms]) => warning('clock', skewSentence(host, skew_ms), SKEW_ADVICE))
}

const after = (limit_ms: number): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(resolve, limit_ms, null).unref()
  })
