import { randomBytes } from 'node:crypto'
import { ACTIVITY_MAX_ENTRIES, type ActivityEntry } from '../activity/activity-entry.ts'
import { mintActivityId } from '../activity/activity-id.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import type { AdminAction } from '../activity/words-of-action.ts'
import { mintId } from '../keys/api-key.ts'
import type { AdminRole, Lock, LockMode, LockTarget } from '../catalogue/model.ts'
import { CHANNELS, REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, sendScript } from '../redis/run-script.ts'
import { EDGE_MEMBERS } from '../store/edge-members.ts'
import { STORE_FORMAT } from '../store/stored-record.ts'
import { emptyReceipt } from './empty-receipt.ts'
import type { KillActor } from './kill-entries.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'
import type { LockReceipt, LockRecord } from './lock-record.ts'
import type { CallerProof, Prepared } from './publish-kill.ts'

/** Of an organization, and of everything; those of a deployment. An edge reads all of an organization before its first call. */
export const LOCKS_MAX = 1_000
export const ALL_LOCKS_MAX = 100_000
/** Locks that are over which make room for one, of a deployment that has too many. */
const REMOVED_MAX = 100

interface LockWishes {
  readonly target: LockTarget
  readonly mode: LockMode
  readonly message: string | null
  readonly reference: string | null
  readonly expires_at: string | null
  /** Only its administrators lock everything and other organizations. */
  readonly default_organization: string
  readonly own_finish_ms: number
  /** The digest of a request that creates one lock, however often it is sent; null: each creates one. */
  readonly repeats?: string | null
}

/** A lock that is created by somebody who is known, with a role for it. */
export interface LockOrder extends LockWishes {
  readonly organization_id: string
  readonly role: AdminRole
  readonly actor: KillActor
}

/** One whose script also finds out who creates it, which saves a round trip. */
export interface UnsignedLockOrder extends LockWishes {
  readonly proof: CallerProof
  readonly roles: readonly AdminRole[]
  readonly actor: Omit<KillActor, 'email' | 'token_id'>
  /** Called when it was found out who it is. */
  readonly noteUse: (organization_id: string, token_id: string) => void
}

/** A lock that has been stored and published. */
export interface PublishedLock {
  readonly epoch: number
  readonly edges: readonly string[]
  readonly record: LockRecord
  readonly record_text: string
  /** When it was sent to the store, by `nowMs`. */
  readonly sent_ms: number
}

/** A lock in force that an equal request has created. */
export interface RepeatedLock {
  readonly epoch: number
  /** Those whose acknowledgement may be missing yet. */
  readonly edges: readonly string[]
  readonly lock: Lock
  readonly sent_ms: number
}

export type NotLocked = 'not_signed_in' | 'unknown_target' | 'too_many' | 'not_allowed'
const NOT_LOCKED: readonly NotLocked[] = [
  'not_signed_in',
  'unknown_target',
  'too_many',
  'not_allowed',
]

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
  /** Monotonic. */
  readonly nowMs: () => number
  readonly now: () => Date
}

/** The argument of core/lua/lock.lua. Texts are JSON with holes: strings that consist of the mark and a name. */
interface LockPlan {
  readonly kind: string
  readonly id: string
  readonly lock_id: string
  readonly proof: CallerProof | null
  readonly roles: Readonly<Record<string, true>>
  /** Null for an unsigned order. */
  readonly by: object | null
  readonly default_organization: string
  readonly now: string
  readonly now_ms: number
  readonly own_finish_ms: number
  readonly lease_ms: number
  readonly locks_max: number
  readonly total_max: number
  readonly removed_max: number
  readonly repeats: boolean
  readonly kept_ms: number
  /** Null: it has no end. */
  readonly ends_ms: number | null
  readonly minimum_version: string
  readonly channel: string
  readonly store_format: number
  readonly activity_max: number
  readonly mark: string
  readonly lock: string
  readonly record: string
  readonly receipt: string
  readonly audit: string
  /** Names of keys, with `*` for the organization; those of what a lock may name by its kind. */
  readonly keys: typeof KEYS_OF_ORGANIZATION
}

const KEYS_OF_ORGANIZATION = {
  tokens: REDIS_KEYS.adminTokens('*'),
  activity: REDIS_KEYS.activity('*'),
  locks: REDIS_KEYS.locks('*'),
  receipts: REDIS_KEYS.lockReceipts('*'),
  agent_id: REDIS_KEYS.agents('*'),
  key_id: REDIS_KEYS.apiKeys('*'),
  scope_id: REDIS_KEYS.scopeOwners('*'),
  integration_id: REDIS_KEYS.integrations('*'),
}

/** As long as the answers of other requests with an Idempotency-Key are kept. */
const REPEATS_MS = 10 * 60_000
/** No text of a caller holds it. */
const MARK_BYTES = 12

/**
 * Creates a lock in one script and one round trip.
 * @throws if the store is unavailable or rejects the write; then either nothing or the whole lock was written
 */
export async function publishLock(
  { redis, lease_ms, nowMs, now }: Parts,
  order: LockOrder | UnsignedLockOrder,
): Promise<PublishedLock | RepeatedLock | NotLocked> {
  const plan = planOf(order, lease_ms + LEASE_MARGIN_MS, now())
  const sent_ms = nowMs()
  const answer = (await sendScript(
    redis,
    'lock',
    [
      REDIS_KEYS.epoch,
      REDIS_KEYS.edgeBeats,
      REDIS_KEYS.beatClock,
      REDIS_KEYS.lockings,
      REDIS_KEYS.adminTokenHashes,
      REDIS_KEYS.lockPlaces,
      REDIS_KEYS.organizations,
      REDIS_KEYS.requirements,
      REDIS_KEYS.lockEnds,
      REDIS_KEYS.lockRepeats(order.repeats ?? ''),
    ],
    [JSON.stringify(plan)],
  )) as [1 | 2, number, string[], string, string] | [0 | -1 | -2 | -3]
  if (answer[0] <= 0) return NOT_LOCKED[-answer[0]] ?? 'not_signed_in'
  const [, epoch, edges, record_text, token_id] = answer as Exclude<typeof answer, [number]>
  const found = JSON.parse(record_text) as LockRecord | Lock
  const lock = 'lock' in found ? found.lock : found
  if ('noteUse' in order) order.noteUse(lock.created_in, token_id)
  if (!('lock' in found)) return { epoch, edges, lock, sent_ms }
  const record = found
  return { epoch, edges, record, record_text, sent_ms }
}

function planOf(order: LockOrder | UnsignedLockOrder, lease_ms: number, at: Date): LockPlan {
  const { target, default_organization, own_finish_ms } = order
  const [kind = '', id] = Object.entries(target)[0] ?? []
  const mark = randomBytes(MARK_BYTES).toString('hex')
  const isKnown = 'organization_id' in order
  const timestamp = at.toISOString()
  const lock_id = mintId('lck')
  const { lock, record, receipt, audit } = textsOf(
    order,
    { timestamp, lock_id },
    (name) => mark + name,
  )
  return {
    kind,
    id: typeof id === 'string' ? id : '',
    lock_id,
    proof: isKnown ? null : order.proof,
    roles: isKnown ? {} : Object.fromEntries(order.roles.map((role) => [role, true])),
    by: isKnown
      ? { organization_id: order.organization_id, role: order.role, ...order.actor }
      : null,
    default_organization,
    now: timestamp,
    now_ms: at.getTime(),
    own_finish_ms,
    lease_ms,
    locks_max: LOCKS_MAX,
    total_max: ALL_LOCKS_MAX,
    removed_max: REMOVED_MAX,
    repeats: order.repeats != null,
    kept_ms: REPEATS_MS,
    ends_ms: order.expires_at === null ? null : Date.parse(order.expires_at),
    minimum_version: EDGE_MEMBERS.lock,
    channel: CHANNELS.control,
    store_format: STORE_FORMAT,
    activity_max: ACTIVITY_MAX_ENTRIES,
    mark,
    lock: JSON.stringify(lock),
    record: JSON.stringify(record),
    receipt: JSON.stringify(receipt),
    audit: JSON.stringify(audit),
    keys: KEYS_OF_ORGANIZATION,
  }
}

interface LockTexts {
  readonly lock: Prepared<Lock>
  readonly record: Prepared<LockRecord>
  /** Of a lock that no edge has acknowledged yet. */
  readonly receipt: LockReceipt
  readonly audit: ActivityEntry
}

function textsOf(
  { target, mode, message, reference, expires_at, actor }: LockOrder | UnsignedLockOrder,
  { timestamp, lock_id }: { readonly timestamp: string; readonly lock_id: string },
  hole: (name: string) => string,
): LockTexts {
  const { source_ip, request_id } = actor
  const lock = {
    lock_id,
    organization_id: hole('organization_id'),
    target,
    mode,
    message,
    reference,
    created_at: timestamp,
    created_by: hole('email'),
    created_in: hole('own'),
    expires_at,
  }
  const receipt = emptyReceipt({ lock_id })
  return {
    lock,
    receipt,
    record: {
      organization_id: hole('logged_in'),
      lock: hole('lock'),
      event: {
        id: mintActivityId(Date.parse(timestamp)),
        agent_name: hole('agent_name'),
        source_ip,
        request_id,
      },
      receipt,
      published_ms: hole('now_ms'),
      finish_after_ms: hole('finish_after_ms'),
      last_published_ms: hole('now_ms'),
    },
    audit: entryOfNoCall({
      event: 'admin_action',
      organization_id: hole('own'),
      agent_id: 'agent_id' in target ? target.agent_id : null,
      agent_name: hole('agent_name'),
      timestamp,
      actor,
      data: {
        actor: hole('email'),
        actor_token_id: hole('token_id'),
        action: 'lock.create' satisfies AdminAction,
        target: lock_id,
        before: null,
        after: lock,
      },
    }),
  }
}
