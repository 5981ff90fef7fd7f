import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogWatch } from '../../admin/context/log-watch.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

/** Longer than the test may take. */
const LONG_MS = 600_000

test('a job that waits is woken when a log grows, at once if that was since it began to read', async () => {
  const valkey = await startValkey()
  const redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  await redis.hset(REDIS_KEYS.organizations, 'org_a', '{}', 'org_b', '{}')
  const grow = (): Promise<unknown> => redis.xadd(REDIS_KEYS.activity('org_b'), '*', 'e', '{}')
  const watch = new LogWatch(connectRedis(valkey.url, { name: 'test-logs', role: 'queue' }))
  const ended = new AbortController()
  watch.start()
  const begun = watch.mark
  const woken = watch.grown(begun, 1, LONG_MS, ended.signal)
  // Again and again, since the watch may not read yet.
  await until('the watch sees it', async () => {
    await grow()
    return watch.mark !== begun
  })
  await woken
  await watch.grown(begun, 1, LONG_MS, ended.signal)
  await watch.grown(watch.mark, 0, LONG_MS, ended.signal)
  const left = watch.grown(watch.mark, 1, LONG_MS, ended.signal)
  ended.abort()
  await left
  watch.stop()
  redis.disconnect()
  await valkey.stop()
  assert.notEqual(watch.mark, begun)
})
