import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { type AdminInProcess, adminInProcess } from './admin-in-process.ts'
import { type KitValkey, startValkey } from './start-valkey.ts'

export interface AdminOnStore {
  readonly valkey: KitValkey
  readonly admin: AdminInProcess
  /** A connection of the test's own to the store. */
  readonly redis: RedisClient
  readonly stop: () => Promise<void>
}

/** The admin service in this process, on a store that it has to itself. */
export async function adminOnStore(env: Environment = {}): Promise<AdminOnStore> {
  const valkey = await startValkey()
  const admin = await adminInProcess(valkey.url, env)
  const redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  return {
    valkey,
    admin,
    redis,
    stop: async () => {
      redis.disconnect()
      await admin.stop()
      await valkey.stop()
    },
  }
}
