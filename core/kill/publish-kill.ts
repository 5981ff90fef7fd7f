import { randomBytes } from 'node:crypto'
import { ACTIVITY_MAX_ENTRIES, type ActivityEntry } from '../activity/activity-entry.ts'
import { mintActivityId } from '../activity/activity-id.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import type { AdminAction } from '../activity/words-of-action.ts'
import { mintId } from '../keys/api-key.ts'
import type { AdminRole } from '../catalogue/model.ts'
import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, sendScript } from '../redis/run-script.ts'
import { STORE_FORMAT } from '../store/stored-record.ts'
import type { KillActor } from './kill-entries.ts'
import type { StoredReceipt } from './kill-receipt.ts'
import type { KillEvent, KillMethod, KillRecord, NotifyChannel } from './kill-record.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'

interface KillWishes {
  readonly agent_id: string
  readonly reason: string | null
  readonly kill_method: KillMethod
  readonly notify: readonly NotifyChannel[]
  /** How long the process that runs the kill may take to finish it; a sweeper finishes it after that. */
  readonly own_finish_ms: number
}

/** A kill that is requested by somebody who is known. */
export interface KillOrder extends KillWishes {
  readonly organization_id: string
  readonly actor: KillActor
}

/** By the hash of an admin token, or by a console session. */
export type CallerProof =
  | { readonly token_hash: string }
  | {
      /** Name of its key in the store. */
      readonly session: string
      readonly page_hash: string
      /** How much longer it lives after this use; 0 if this is no use. */
      readonly idle_ms: number
    }

/** A kill whose script also finds out who requests it, which saves a round trip. */
export interface UnsignedOrder extends KillWishes {
  readonly proof: CallerProof
  readonly roles: readonly AdminRole[]
  readonly actor: Omit<KillActor, 'email' | 'token_id'>
  /** Called when it was found out who it is. */
  readonly noteUse: (organization_id: string, token_id: string) => void
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

/** A prepared record: what only the store knows is a hole. */
export type Prepared<T> = { readonly [Name in keyof T]: T[Name] | string }

/** The argument of core/lua/kill.lua. Texts are JSON with holes: strings that consist of the mark and a name. */
interface KillPlan {
  readonly agent_id: string
  readonly proof: CallerProof | null
  readonly roles: Readonly<Record<string, true>>
  /** Null for an unsigned order. */
  readonly by: Pick<KillOrder & KillActor, 'organization_id' | 'email' | 'token_id'> | null
  /** As JSON. */
  readonly reason: string
  readonly now: string
  readonly now_ms: number
  readonly own_finish_ms: number
  readonly lease_ms: number
  readonly channel: string
  readonly store_format: number
  readonly activity_max: number
  readonly kill_id: string
  readonly mark: string
  readonly event: string
  readonly receipt: string
  readonly record: string
  readonly audit: string
  /** Names of keys, with `*` for the organization. */
  readonly keys: typeof KEYS_OF_ORGANIZATION & { readonly api_key_index: string }
}

const KEYS_OF_ORGANIZATION = {
  tokens: REDIS_KEYS.adminTokens('*'),
  agents: REDIS_KEYS.agents('*'),
  api_keys: REDIS_KEYS.apiKeys('*'),
  activity: REDIS_KEYS.activity('*'),
  receipts: REDIS_KEYS.killReceipts('*'),
  receipt_index: REDIS_KEYS.killReceiptIndex('*'),
}

/** No text of a caller holds it. */
const MARK_BYTES = 12

/**
 * Kills an agent in one script and one round trip: status, keys, audit entry, record of the pending event, and the message to the
 * edges. An agent that is already killed keeps the time and reason of the first kill, and the kill is published again.
 * @returns null if the agent does not exist; `not_signed_in` if it is not certain that the caller may do this
 * @throws if the store is unavailable or rejects the write; then either nothing or the whole kill was written
 */
export async function publishKill(parts: Parts, order: KillOrder): Promise<PublishedKill | null>
export async function publishKill(
  parts: Parts,
  order: KillOrder | UnsignedOrder,
): Promise<PublishedKill | null | 'not_signed_in'>
export async function publishKill(
  { redis, lease_ms, nowMs, now }: Parts,
  order: KillOrder | UnsignedOrder,
): Promise<PublishedKill | null | 'not_signed_in'> {
  const plan = planOf(order, lease_ms + LEASE_MARGIN_MS, now())
  const sent_ms = nowMs()
  const answer = (await sendScript(
    redis,
    'kill',
    [
      REDIS_KEYS.epoch,
      REDIS_KEYS.edgeBeats,
      REDIS_KEYS.beatClock,
      REDIS_KEYS.kills,
      REDIS_KEYS.adminTokenHashes,
      REDIS_KEYS.revocationsDue,
    ],
    [JSON.stringify(plan)],
  )) as [1, number, string[], string, number, string] | [0 | -1]
  if (answer[0] !== 1) return answer[0] === 0 ? 'not_signed_in' : null
  const [, epoch, edges, record_text, credentials_revoked, token_id] = answer
  const record = JSON.parse(record_text) as KillRecord
  if ('noteUse' in order) order.noteUse(record.organization_id, token_id)
  return { epoch, edges, record, record_text, credentials_revoked, sent_ms }
}

function planOf(order: KillOrder | UnsignedOrder, lease_ms: number, at: Date): KillPlan {
  const { agent_id, reason, own_finish_ms } = order
  const mark = randomBytes(MARK_BYTES).toString('hex')
  const hole = (name: string): string => mark + name
  const isKnown = 'organization_id' in order
  const timestamp = at.toISOString()
  const kill_id = mintId('kil')
  const { event, receipt, record, audit } = textsOf(order, { timestamp, kill_id }, hole)
  return {
    agent_id,
    proof: isKnown ? null : order.proof,
    roles: isKnown ? {} : Object.fromEntries(order.roles.map((role) => [role, true])),
    by: isKnown ? { organization_id: order.organization_id, ...order.actor } : null,
    reason: JSON.stringify(reason),
    now: timestamp,
    now_ms: at.getTime(),
    own_finish_ms,
    lease_ms,
    channel: CHANNELS.control,
    store_format: STORE_FORMAT,
    activity_max: ACTIVITY_MAX_ENTRIES,
    kill_id,
    mark,
    event: JSON.stringify(event),
    receipt: JSON.stringify(receipt),
    record: JSON.stringify(record),
    audit: JSON.stringify(audit),
    keys: { ...KEYS_OF_ORGANIZATION, api_key_index: REDIS_KEYS.apiKeyIndex('*', agent_id) },
  }
}

interface KillTexts {
  readonly event: Prepared<KillEvent>
  /** Of a kill that no edge has acknowledged yet. */
  readonly receipt: Prepared<StoredReceipt>
  readonly record: Prepared<KillRecord>
  /** Who killed it, and why. */
  readonly audit: ActivityEntry
}

function textsOf(
  { agent_id, reason, kill_method, notify, actor }: KillOrder | UnsignedOrder,
  { timestamp, kill_id }: { readonly timestamp: string; readonly kill_id: string },
  hole: (name: string) => string,
): KillTexts {
  const { source_ip, request_id, edge_id } = actor
  const [agent_name, credentials_revoked] = [hole('agent_name'), hole('credentials_revoked')]
  const shared = { agent_name, reason, triggered_by: hole('email'), kill_method }
  return {
    event: {
      id: mintActivityId(Date.parse(timestamp)),
      ...shared,
      notify,
      credentials_revoked,
      source_ip,
      request_id,
      edge_id,
    },
    receipt: {
      kill_id,
      agent_id,
      ...shared,
      requested_at: timestamp,
      killed_at: hole('killed_at'),
      repeated: hole('repeated'),
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
    },
    record: {
      organization_id: hole('organization_id'),
      agent_id,
      revision: hole('revision'),
      killed_at: hole('killed_at'),
      event: hole('event'),
      receipt: hole('receipt'),
      published_ms: hole('now_ms'),
      finish_after_ms: hole('finish_after_ms'),
      last_published_ms: hole('now_ms'),
    },
    audit: entryOfNoCall({
      event: 'admin_action',
      organization_id: hole('organization_id'),
      agent_id,
      agent_name,
      timestamp,
      actor: { source_ip, request_id, edge_id },
      data: {
        actor: hole('email'),
        actor_token_id: hole('token_id'),
        action: 'agent.kill' satisfies AdminAction,
        target: agent_id,
        kill_method,
        reason,
        credentials_revoked,
        before: { status: hole('status') },
        after: { status: 'killed', revision: hole('revision') },
      },
    }),
  }
}
