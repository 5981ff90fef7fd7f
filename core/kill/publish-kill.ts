import type { AdminAction } from '../activity/words-of-action.ts'
import type { ActivityEntry } from '../activity/activity-entry.ts'
import { mintActivityId } from '../activity/activity-id.ts'
import { mintId } from '../api-key.ts'
import type { Agent } from '../model.ts'
import { EPOCH, type Write, commit } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { readAgentWithKeys } from './agent-with-keys.ts'
import { activityWrite } from '../change/activity-write.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import type { KillActor } from './kill-entries.ts'
import type { StoredReceipt } from './kill-receipt.ts'
import type { KillEvent, KillMethod, KillRecord, NotifyChannel } from './kill-record.ts'
import { killWrites, nextRevision } from './kill-writes.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'

/** The agent or its keys may change between reading and writing. Each retry costs one or two round trips. */
const TRIES_LIMIT = 100

export interface KillOrder {
  readonly organization_id: string
  readonly agent_id: string
  readonly reason: string | null
  readonly kill_method: KillMethod
  readonly notify: readonly NotifyChannel[]
  readonly actor: KillActor
  /** How long the process that runs the kill may take to finish it; a sweeper finishes it after that. */
  readonly own_finish_ms: number
}

/** A kill that has been stored and published. */
export interface PublishedKill {
  readonly epoch: number
  /** Edges that may still hold a lease. */
  readonly edges: readonly string[]
  readonly record: KillRecord
  /** The stored record, for the process that finishes the kill. */
  readonly record_text: string
  readonly credentials_revoked: number
  /** When the kill was sent to the store, by `nowMs`. */
  readonly sent_ms: number
}

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
  /** Monotonic. */
  readonly nowMs: () => number
  readonly now: () => Date
}

/**
 * Kills an agent in one script: status, keys, audit entry, record of the pending event, and the message to the edges. An agent
 * that is already killed keeps the time and reason of the first kill, and the kill is published again.
 * @returns null if the agent does not exist
 * @throws if the store is unavailable or rejects the write; then either nothing or the whole kill was written
 */
export async function publishKill(
  { redis, lease_ms, nowMs, now }: Parts,
  order: KillOrder,
): Promise<PublishedKill | null> {
  const { organization_id, agent_id, actor } = order
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const found = await readAgentWithKeys(redis, organization_id, agent_id)
    if (found === null) return null
    const { agent: before, guards, now_ms } = found
    const isFirst = before.status !== 'killed'
    const timestamp = now().toISOString()
    const killed_at = isFirst ? timestamp : (before.killed_at ?? timestamp)
    const change = killWrites(found, {
      revision: isFirst ? nextRevision(found) : before.revision,
      killed_at,
      reason: isFirst ? order.reason : before.kill_reason,
    })
    const { agent, keys } = change
    const event: KillEvent = {
      id: mintActivityId(Date.parse(timestamp)),
      agent_name: agent.agent_name,
      reason: order.reason,
      triggered_by: actor.email,
      kill_method: order.kill_method,
      notify: order.notify,
      credentials_revoked: keys.length,
      source_ip: actor.source_ip,
      request_id: actor.request_id,
      edge_id: actor.edge_id,
    }
    const receipt = newReceipt(event, { agent_id, killed_at, requested_at: timestamp }, !isFirst)
    const record: KillRecord = {
      organization_id,
      agent_id,
      revision: agent.revision,
      killed_at,
      event: isFirst ? event : null,
      receipt,
      published_ms: now_ms,
      finish_after_ms: now_ms + order.own_finish_ms,
      last_published_ms: now_ms,
    }
    const record_text = JSON.stringify(record)
    const audit = killAudit(order, before.status, event, timestamp)
    const writes: Write[] = [
      ...change.writes,
      activityWrite(audit),
      ['HSET', REDIS_KEYS.kills, EPOCH, record_text],
      ['HSET', REDIS_KEYS.killReceipts(organization_id), receipt.kill_id, JSON.stringify(receipt)],
      ['ZADD', REDIS_KEYS.killReceiptIndex(organization_id), EPOCH, receipt.kill_id],
    ]
    const { targets } = change
    const sent_ms = nowMs()
    const committed = await commit(
      redis,
      { guards, writes, targets },
      lease_ms + LEASE_MARGIN_MS,
      'even_when_full',
    )
    if (committed.kind === 'refused') continue
    const { epoch, edges } = committed
    return { epoch, edges, record, record_text, credentials_revoked: keys.length, sent_ms }
  }
  throw new Error('the agent changes faster than it can be killed')
}

/** The receipt of a kill that no edge has acknowledged yet. */
const newReceipt = (
  { agent_name, reason, triggered_by, kill_method, credentials_revoked }: KillEvent,
  about: Pick<StoredReceipt, 'agent_id' | 'killed_at' | 'requested_at'>,
  repeated: boolean,
): StoredReceipt => ({
  kill_id: mintId('kil'),
  ...about,
  agent_name,
  repeated,
  reason,
  triggered_by,
  kill_method,
  credentials_revoked,
  counted_at: null,
  complete: false,
  in_flight_requests_terminated: 0,
  tunnels_terminated: 0,
  propagation_ms: 0,
  edges: [],
  still_usable_keys: [],
  last_request: null,
  requests_last_hour: 0,
})

/** Who killed it, and why. */
function killAudit(
  { organization_id, agent_id, actor, reason, kill_method }: KillOrder,
  status_before: Agent['status'],
  { agent_name, credentials_revoked }: KillEvent,
  timestamp: string,
): ActivityEntry {
  return entryOfNoCall({
    event: 'admin_action',
    organization_id,
    agent_id,
    agent_name,
    timestamp,
    actor,
    data: {
      actor: actor.email,
      actor_token_id: actor.token_id,
      action: 'agent.kill' satisfies AdminAction,
      target: agent_id,
      kill_method,
      reason,
      credentials_revoked,
      before: { status: status_before },
      after: { status: 'killed' },
    },
  })
}
