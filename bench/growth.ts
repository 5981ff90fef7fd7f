import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { dataDirAt } from '../cli/launcher/data-dir.ts'
import { valkeySocket } from '../cli/launcher/valkey-config.ts'
import { mintId } from '../core/keys/api-key.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { fromRoot } from '../core/system/root.ts'
import { until } from '../test/kit/until.ts'
import { fillBlocks } from './fill-activity.ts'
import { agentTemplate, fillAgents } from './fill-agents.ts'
import { measureCpu, medianOf } from './measure-cpu.ts'
import { GET_ALL_ON, POST_ALL_ON } from './rows.ts'
import { startLoad } from './start-load.ts'
import {
  cpuMicros,
  type Product,
  type ProductOptions,
  type Role,
  ROLES,
  type Row,
  startProduct,
} from './subjects.ts'

/**
 *   npm run bench -- growth [--agents N] [--integrations N] [--scopes N] [--entries N] [--rounds N] [--calls N]
 *
 * Whether a call costs more when there is more of everything. CPU time per call of three products of this build, in interleaved rounds:
 * one that is nearly empty; one with so many agents in 100 organizations, integrations, scopes of another agent and log entries; and one
 * that is nearly empty, but whose scope has 100 patterns of its own.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '1000000' },
    integrations: { type: 'string', default: '10000' },
    scopes: { type: 'string', default: '1000' },
    entries: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '4000' },
  },
})
const ORGANIZATION = 'org_default'
const ORGANIZATIONS = 100
/** What an organization may have, the integration that is called among them. */
const INTEGRATIONS_OF_ORGANIZATION = 999
const PATTERNS = Array.from({ length: 100 }, (_, i) => `project-${i}-[a-z]{4,8} is (secret|hidden)`)
const PIPELINE = 500
const INDEX_LIMIT_MS = 1_800_000
/** Of the log in the store, which is at most half of its memory. 30 million entries need 4 GB. */
const LOG_BYTES = 8_000_000_000
const STORE_BYTES = 2 * LOG_BYTES
/** Archive and analysis in admin take longer than the index. */
const CATCH_UP_ROLES: readonly Role[] = ['admin', 'store']
const CATCH_UP_LIMIT_MS = 1_800_000
/** They have caught up once they use less than this share of a core in each of so many seconds, one after the other. */
const IDLE_SHARE = 0.05
const IDLE_SECONDS = 5

const ROWS: readonly Row[] = [GET_ALL_ON, POST_ALL_ON]

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const organizationAt = (i: number): string =>
  i % ORGANIZATIONS === 0 ? ORGANIZATION : `org_growth_${i % ORGANIZATIONS}`

async function grow(product: Product): Promise<RedisClient> {
  const { operator, folder } = product
  const socket = valkeySocket(dataDirAt(folder))
  const redis = connectRedis(`unix://${socket}`, { name: 'bench', role: 'queue' })
  await redis.config('SET', 'maxmemory', STORE_BYTES)
  const access = await operator.makeAccess('http://127.0.0.1:9/template')
  const template = await agentTemplate(redis, access)
  await fillAgents(redis, template, { from: 0, to: Number(values.agents), organizationAt })
  await fillIntegrations(redis, access.integration.integration_id)
  await fillScopes(redis, template)
  await until('the log has been indexed once', () => isIndexed(redis), INDEX_LIMIT_MS)
  await fillBlocks(redis, Number(values.entries))
  await until('the log is indexed', () => isIndexed(redis), INDEX_LIMIT_MS)
  await until('the append-only file is rewritten', () => isCalm(redis), INDEX_LIMIT_MS)
  await until('admin and the store are idle', () => isIdle(product), CATCH_UP_LIMIT_MS)
  return redis
}

/** As many as an organization may have in that of the calls, the rest in the others. */
async function fillIntegrations(redis: RedisClient, integration_id: string): Promise<void> {
  const record = await redis.hget(REDIS_KEYS.integrations(ORGANIZATION), integration_id)
  if (record === null) throw new Error('the integration is not where it is looked for')
  let pipeline = redis.pipeline()
  for (let i = 0; i < Number(values.integrations); i++) {
    const org =
      i < INTEGRATIONS_OF_ORGANIZATION
        ? ORGANIZATION
        : organizationAt((i % (ORGANIZATIONS - 1)) + 1)
    const base_url = `https://api-${i}.example.com/v1`
    const id = mintId('int')
    const own = { ...JSON.parse(record), organization_id: org, integration_id: id, base_url }
    pipeline
      .hset(REDIS_KEYS.integrations(org), id, JSON.stringify(own))
      .zadd(REDIS_KEYS.integrationIndex(org), i, id)
      .hset(REDIS_KEYS.integrationBaseUrls(org), base_url, id)
    if ((i + 1) % PIPELINE !== 0) continue
    await pipeline.exec()
    pipeline = redis.pipeline()
  }
  await pipeline.exec()
}

/** All of one other agent of the organization of the calls. */
async function fillScopes(
  redis: RedisClient,
  { agent_id, scope_id, scope, integration_id }: Awaited<ReturnType<typeof agentTemplate>>,
): Promise<void> {
  const pipeline = redis.pipeline()
  for (let i = 0; i < Number(values.scopes); i++) {
    const id = mintId('scp')
    pipeline
      .hset(
        REDIS_KEYS.agentScopes(ORGANIZATION, agent_id),
        id,
        scope.replaceAll(scope_id, id).replace(/"name":"[^"]*"/, `"name":"scope ${i}"`),
      )
      .hset(REDIS_KEYS.scopeOwners(ORGANIZATION), id, agent_id)
      .zadd(REDIS_KEYS.scopeIndex(ORGANIZATION), i, id)
      .hset(REDIS_KEYS.integrationScopes(ORGANIZATION, integration_id), id, agent_id)
  }
  await pipeline.exec()
}

async function isIndexed(redis: RedisClient): Promise<boolean> {
  const [last] = await redis.xrevrange(REDIS_KEYS.activity(ORGANIZATION), '+', '-', 'COUNT', 1)
  const position = await redis.hget(REDIS_KEYS.activityDigest(ORGANIZATION), 'position')
  return position === last?.[0]
}

async function isCalm(redis: RedisClient): Promise<boolean> {
  const info = await redis.info('persistence')
  return /aof_rewrite_in_progress:0/.test(info) && /aof_rewrite_scheduled:0/.test(info)
}

async function isIdle(product: Product): Promise<boolean> {
  for (let second = 0; second < IDLE_SECONDS; second++) {
    const pids = product.pids()
    const began_ms = performance.now()
    const before = cpuMicros(pids)
    await wait(1000)
    const after = cpuMicros(pids)
    const most_us = IDLE_SHARE * 1000 * (performance.now() - began_ms)
    const isBusy = (role: Role): boolean =>
      (after.get(role) ?? 0) - (before.get(role) ?? 0) >= most_us
    if (CATCH_UP_ROLES.some(isBusy)) return false
  }
  return true
}

async function benchGrowth(): Promise<void> {
  const { load, upstream_port, stop: stopLoad } = await startLoad()
  const subjects: Product[] = []
  let redis: RedisClient | null = null
  try {
    const start = async (name: string, options: ProductOptions = {}): Promise<Product> => {
      const product = await startProduct(name, fromRoot(), upstream_port, ROWS, options)
      subjects.push(product)
      return product
    }
    await start('nearly empty')
    await start('100 patterns', { custom_patterns: PATTERNS })
    const began_ms = performance.now()
    const env = { AGW_ACTIVITY_MAX_BYTES: String(LOG_BYTES) }
    redis = await grow(await start('grown', { env }))
    const [stored] = /used_memory:\d+/.exec(await redis.info('memory')) ?? ['']
    const rows = await redis.xlen(REDIS_KEYS.activity(ORGANIZATION))
    const packed = await redis.hget(REDIS_KEYS.activityDigest(ORGANIZATION), 'packed')
    print(
      `grown to ${values.agents} agents, ${values.integrations} integrations, ${values.scopes} scopes of another agent and ${packed} entries of the log in ${rows} rows in ${((performance.now() - began_ms) / 1000).toFixed(0)} s; ${stored}`,
    )
    for (const row of ROWS) await report(row)
  } finally {
    redis?.disconnect()
    for (const { stop } of subjects) await stop()
    stopLoad()
  }

  async function report(row: Row): Promise<void> {
    const plan = { load, rounds: Number(values.rounds), calls: Number(values.calls) }
    const samples = await measureCpu(subjects, row, plan)
    const base = medianOf(samples.get('nearly empty'), 'whole')
    print(`\n${row.name}: µs of CPU per call, medians of ${plan.rounds} interleaved rounds`)
    print(`| | ${ROLES.join(' | ')} | whole | × nearly empty | calls/s |`)
    print(`|---|${'---|'.repeat(ROLES.length + 3)}`)
    for (const [name, all] of samples) {
      const whole = medianOf(all, 'whole')
      const roles = ROLES.map((role) => medianOf(all, role).toFixed(0)).join(' | ')
      print(
        `| ${name} | ${roles} | ${whole.toFixed(0)} | ${(whole / base).toFixed(2)} | ${medianOf(all, 'rate').toFixed(0)} |`,
      )
    }
  }
}

await benchGrowth()
