import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { pino } from 'pino'
import { bootstrapStore } from '../../admin/bootstrap/bootstrap-store.ts'
import { watchStore } from '../../admin/bootstrap/watch-store.ts'
import { mintKey } from '../../core/keys/api-key.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const wanted = {
  settings: { organizationId: ORG, adminEmail: 'admin@localhost', killLease_ms: 1_500 },
  installation_id: 'ins_new',
  admin_token: mintKey('admin'),
  is_setting: true,
}
const { redis } = await unitStore()
beforeEach(async () => void (await redis.flushall()))

/** Some looks at the store. Each time it was asked what exists, something happens. */
async function look(afterRequest: () => Promise<unknown>): Promise<void> {
  let looks = 0
  const watched = new Proxy(redis, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'exists') return value.bind(target)
      return async (...keys: string[]): Promise<number> => {
        const found = await target.exists(...keys)
        looks++
        await afterRequest()
        return found
      }
    },
  }) as RedisClient
  mock.timers.enable({ apis: ['setInterval'] })
  const stop = watchStore(watched, wanted, pino({ enabled: false }), () => undefined)
  await until('the store was looked at', () => {
    mock.timers.tick(1_000)
    return looks > 2
  })
  stop()
  mock.timers.reset()
}

test('a restore that is completed during a look is no loss of the store', async () => {
  await redis.set(REDIS_KEYS.restoring, new Date().toISOString())
  // As the last commit of a restore does.
  const { installation, restoring } = REDIS_KEYS
  await look(() => redis.multi().set(installation, 'ins_restored').del(restoring).exec())
  assert.equal(await redis.exists(REDIS_KEYS.alertsOpen(ORG)), 0)
  assert.equal(await redis.get(REDIS_KEYS.installation), 'ins_restored')
})

test('an emptied store raises the alert, and is set up again', async () => {
  await look(() => Promise.resolve())
  assert.equal(await redis.hexists(REDIS_KEYS.alertsOpen(ORG), 'store'), 1)
  assert.equal(await redis.get(REDIS_KEYS.installation), 'ins_new')
})

test('nothing is set up while a restore is not complete', async () => {
  await redis.set(REDIS_KEYS.restoring, new Date().toISOString())
  await assert.rejects(bootstrapStore(redis, wanted, new Date()))
  assert.equal(await redis.exists(REDIS_KEYS.installation, REDIS_KEYS.organizations), 0)
})
