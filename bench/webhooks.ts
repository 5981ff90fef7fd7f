import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { pino } from 'pino'
import { AddressPolicy } from '../core/egress/address-policy.ts'
import { startWebhooks } from '../admin/webhooks/start-webhooks.ts'
import { recordEntries } from '../core/change/record-entries.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { parseKeyRing } from '../core/keys/seal.ts'
import { activityEntry } from '../test/kit/activity-entry.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { until } from '../test/kit/until.ts'
import { startCrashStack } from '../test/kit/webhook-crashes.ts'
import { startWebhookStack } from '../test/kit/webhook-stack.ts'

/**
 * `node dist/bench/webhooks.js [crash rounds] [events a round]`: how long a delivery takes, how many a second go out,
 * what the queue alone costs, and the rounds of invariant 7 with every process killed at random.
 */
const [rounds = 20, events = 5000] = process.argv.slice(2).map(Number)

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

async function measureDeliveries(): Promise<void> {
  const stack = await startWebhookStack({ LOG_LEVEL: 'warn' })
  const { webhook_id } = await stack.subscribe('/latency', { secret: 'bench' })
  const waits_ms: number[] = []
  for (let i = 0; i < 300; i++) {
    const started_ms = Date.now()
    await stack.record('permission_denied')
    await until('it arrives', () => stack.receiver.received('/latency').length === i + 1)
    waits_ms.push((stack.receiver.received('/latency')[i]?.at_ms ?? 0) - started_ms)
  }
  print(
    `one event to its receiver over TLS: p50 ${percentile(waits_ms, 0.5)} ms, p99 ${percentile(waits_ms, 0.99)} ms`,
  )
  await stack.send('DELETE', `/webhooks/${webhook_id}`)
  for (const webhooks of [1, 10]) {
    const paths = Array.from({ length: webhooks }, (_, i) => `/many-${webhooks}-${i}`)
    for (const path of paths) await stack.subscribe(path, { secret: 'bench' })
    const count = 2000
    const started_ms = performance.now()
    for (let i = 0; i < count; i += 100)
      await Promise.all(Array.from({ length: 100 }, () => stack.record('permission_denied')))
    await until(
      'all arrive',
      () => paths.every((path) => stack.receiver.received(path).length >= count),
      120_000,
    )
    const took_s = (performance.now() - started_ms) / 1000
    print(
      `${count} events to ${webhooks} webhooks: ${Math.round((count * webhooks) / took_s)} deliveries/s`,
    )
    const listed = await stack.send('GET', '/webhooks')
    for (const webhook of listed.data) await stack.send('DELETE', `/webhooks/${webhook.webhook_id}`)
  }
  await stack.stop()
}

/** Outbox, queue and notes without a receiver: every attempt is refused before it is sent, at its address. */
async function measureQueue(): Promise<void> {
  const valkey = await startValkey()
  const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
  const count = 5000
  await addWebhook(redis)
  const entries = Array.from({ length: count }, () => activityEntry('permission_denied'))
  for (let i = 0; i < count; i += 200)
    await recordEntries(redis, 'org_default', entries.slice(i, i + 200))
  const server_ms = await cpuOf(redis)
  const [cpu, started_ms] = [process.cpuUsage(), performance.now()]
  let attempts = 0
  const webhooks = startWebhooks({
    settings: {
      webhookAllowCidrs: [],
      webhookDelays_ms: [0],
      dnsResolvers: [],
      egressProxy: null,
      egressNoProxy: [],
      egressProxyResolves: false,
      apiUrl: null,
      apiHost: '127.0.0.1',
      apiPort: 8081,
    },
    redis: connectRedis(valkey.url, { name: 'bench', role: 'commands' }),
    blocking: connectRedis(valkey.url, { name: 'bench', role: 'queue' }),
    ring: parseKeyRing(randomBytes(32).toString('base64')),
    mailer: null,
    now: () => new Date(),
    log: pino({ level: 'silent' }),
    onAttempt: () => void attempts++,
  })
  await until('all are attempted', () => attempts === count, 120_000)
  const took_s = (performance.now() - started_ms) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const used_ms = (await cpuOf(redis)) - server_ms
  print(
    `the queue alone: ${Math.round(count / took_s)} deliveries/s, ` +
      `${Math.round((user + system) / count)} µs of admin CPU and ${Math.round((used_ms * 1000) / count)} µs of Valkey CPU each`,
  )
  await webhooks.stop()
  redis.disconnect()
  await valkey.stop()
  process.exitCode = 0
}

/** At an address that the policy refuses. */
async function addWebhook(redis: RedisClient): Promise<void> {
  const url = 'https://10.0.0.1/'
  if (new AddressPolicy([]).refusalOfHost('10.0.0.1') === null)
    throw new Error('the address is not refused')
  const webhook = {
    webhook_id: 'whk_bench',
    organization_id: 'org_default',
    name: 'bench',
    url,
    events: ['permission_denied'],
    secret: null,
    previous_secret: null,
    created_at: new Date().toISOString(),
  }
  await redis.hset(REDIS_KEYS.webhooks('org_default'), webhook.webhook_id, JSON.stringify(webhook))
  await redis.hset(REDIS_KEYS.webhookSubscriptions('org_default'), 'permission_denied', 1)
}

async function cpuOf(redis: RedisClient): Promise<number> {
  const text = await redis.info('cpu')
  const seconds = ['used_cpu_user', 'used_cpu_sys'].map((name) =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]),
  )
  return seconds.reduce((sum, value) => sum + value, 0) * 1000
}

await measureDeliveries()
await measureQueue()
const stack = await startCrashStack()
for (let number = 1; number <= rounds; number++) {
  const { delivered, failed, attempts, unnoted, took_ms } = await stack.round(events)
  print(
    `crash round ${number}: ${events} events, ${delivered} delivered, ${failed} failed after 5 attempts, ` +
      `${attempts} attempts noted, ${unnoted} answers that no attempt noted, ${(took_ms / 1000).toFixed(1)} s`,
  )
}
await stack.stop()
process.exit(0)
