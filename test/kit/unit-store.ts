import { after } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { startValkey } from './start-valkey.ts'

export interface UnitStore {
  readonly redis: RedisClient
  /** For what is published. */
  readonly subscription: RedisClient
}

let store: Promise<UnitStore & { readonly stop: () => Promise<void> }> | null = null

/** One real Valkey for all unit tests of a process, started by the first that asks; it ends with the last test. */
export function unitStore(): Promise<UnitStore> {
  store ??= start()
  return store
}

async function start() {
  const valkey = await startValkey()
  // Of this role, since it sends nothing by itself: a ping whose answer arrives in a test with a mocked clock clears one of
  // that test's timers.
  const role = 'queue'
  const redis = connectRedis(valkey.url, { name: 'unit', role })
  const subscription = connectRedis(valkey.url, { name: 'unit-subscription', role })
  const stop = async (): Promise<void> => {
    redis.disconnect()
    subscription.disconnect()
    await valkey.stop()
  }
  return { redis, subscription, stop }
}

after(async () => {
  await (await store)?.stop()
})
