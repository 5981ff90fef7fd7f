import { test } from 'node:test'
import { pino } from 'pino'
import { DeliveryQueue } from '../../admin/webhooks/delivery-queue.ts'
import { OutboxRelay } from '../../admin/webhooks/outbox-relay.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'

// The reader of the outbox waits for the store. ioredis never settles a waiting command when it is asked to disconnect
// between two attempts to connect, and the admin service would then never stop.
for (const [when, event] of [
  ['between two attempts to connect', 'reconnecting'],
  ['while it connects', 'connecting'],
  ['when an attempt to connect has failed', 'close'],
] as const)
  test(`the relay stops ${when} to a store that is unavailable`, async () => {
    const url = 'unix:///nonexistent/store.sock'
    const redis = connectRedis(url, { name: 'test', role: 'commands' })
    const blocking = connectRedis(url, { name: 'test-outbox', role: 'queue' })
    const relay = new OutboxRelay({
      redis,
      blocking,
      queue: new DeliveryQueue(redis, [0]),
      now: () => new Date(),
      log: pino({ level: 'silent' }),
      onDeliveries: () => undefined,
    })
    relay.start()
    await new Promise((resolve) => blocking.once(event, resolve))
    await relay.stop()
    redis.disconnect()
  })
