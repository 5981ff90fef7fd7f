import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import { mintActivityId } from '../core/activity/activity-id.ts'
import { recordBlocks } from '../core/change/record-blocks.ts'
import { recordEntries } from '../core/change/record-entries.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'

const ORG = 'org_default'
const AGENTS = Number(process.env['BENCH_AGENTS'] ?? 50)
const BATCH = 500
const ENTRIES_AT_ONCE = 1_024
const WEEK_MS = 7 * 24 * 3_600_000
const REFUSALS = [
  ['permission_denied', 'permission_denied'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['injection_blocked', 'security_block'],
  ['request_rejected', 'integration_not_found'],
] as const

/**
 * Writes entries, of the last week unless a span is given, and one of now. A log that has entries takes only later ones. Returns a
 * function that makes further ones.
 */
export async function fillActivity(
  redis: RedisClient,
  count: number,
  span_ms = WEEK_MS,
): Promise<(i: number, at_ms: number) => ActivityEntry> {
  const spacing_ms = span_ms / count
  const begin_ms = Date.now() - count * spacing_ms
  for (let from = 0; from < count; from += BATCH) {
    const pipeline = redis.pipeline()
    for (let i = from; i < from + BATCH; i++) {
      const at_ms = Math.floor(begin_ms + i * spacing_ms)
      pipeline.xadd(REDIS_KEYS.activity(ORG), `${at_ms}-*`, 'e', JSON.stringify(made(i, at_ms)))
    }
    for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error
  }
  await recordEntries(redis, ORG, [made(count, Date.now())])
  return made
}

/** Writes entries of now in full blocks, as a busy access-log receiver does. The admin service must have indexed the log once. */
export async function fillBlocks(redis: RedisClient, count: number): Promise<void> {
  for (let from = 0; from < count; from += ENTRIES_AT_ONCE) {
    const now_ms = Date.now()
    const some = Math.min(ENTRIES_AT_ONCE, count - from)
    const texts = Array.from({ length: some }, (_, i) => JSON.stringify(made(from + i, now_ms)))
    if (!(await recordBlocks(redis, ORG, texts))) throw new Error('the log is not indexed yet')
  }
}

/** Deterministic, so that runs compare. */
function made(i: number, at_ms: number): ActivityEntry {
  const dice = ((i * 2654435761) % 2 ** 32) / 2 ** 32
  const [event, reason] =
    dice < 0.93 ? (['request_allowed', null] as const) : (REFUSALS[i % 4] ?? REFUSALS[0])
  const agent = Math.floor((((i * 40503) % 65_536) / 65_536) * AGENTS)
  return {
    id: mintActivityId(at_ms),
    timestamp: new Date(at_ms).toISOString(),
    event,
    organization_id: ORG,
    agent_id: `agt_${agent}`,
    agent_name: `worker ${agent}`,
    key_id: `key_${agent}`,
    integration_id: `int_${(agent + (i % 3)) % 20}`,
    scope_id: `scp_${agent}`,
    rule: 0,
    method: 'POST',
    endpoint: '/v1/chat/completions',
    status: reason === null ? 200 : 403,
    decision: reason === null ? 'allowed' : 'blocked',
    reason,
    source_ip: '203.0.113.9',
    request_id: `7e8d9c54-6f0f-4a9f-9a35-${String(i).padStart(12, '0')}`,
    edge_id: 'edge-1',
    steps: [{ step: 'scope', outcome: 'pass', took_us: 12 }],
    duration_ms: 241.318,
    bytes_in: 2048,
    bytes_out: 1024,
    data: {},
  }
}
