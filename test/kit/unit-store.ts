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
  const redis = connectRedis(valkey.url, { name: 'unit', role: 'queue' })
  const subscription = connectRedis(valkey.url, { name: 'unit-subscription', role: 'subscription' })
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
