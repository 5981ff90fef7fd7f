import { after } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { DirectStore } from '../simulation/direct-store.ts'
import { startValkey } from './start-valkey.ts'

export interface UnitStore {
  readonly redis: RedisClient
  /** For what is published. */
  readonly subscription: RedisClient
}

let store: Promise<UnitStore & { readonly stop: () => Promise<void> }> | null = null

/**
 * One real Valkey for all unit tests of a process, started by the first that asks; it ends with the last test. With
 * UNIT_STORE=model, the model of the store that the simulation uses.
 */
export function unitStore(): Promise<UnitStore> {
  store ??= process.env['UNIT_STORE'] === 'model' ? Promise.resolve(modelStore()) : start()
  return store
}

function modelStore() {
  const model = new DirectStore()
  return {
    redis: model.connect(),
    subscription: model.connect(),
    stop: () => Promise.resolve(),
  }
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
