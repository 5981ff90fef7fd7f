import { ACTIVITY_MAX_ENTRIES, type ActivityEntry } from '../activity/activity-entry.ts'
import { deliveryTag } from '../change/delivery-tag.ts'
import { outboxKeys } from '../change/outbox-keys.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import {
  type AccessRequestFields,
  AGENT_REQUESTS_MAX,
  type Approval,
  ORGANIZATION_REQUESTS_MAX,
  type TakenBy,
} from './access-request.ts'

/** The call that needs an approval. */
export interface WantedApproval {
  readonly organization_id: string
  readonly agent_id: string
  /** Of the agent. */
  readonly revision: number
  readonly digest: string
  /** `grantDigest`; null if the call needs an approval of its own. */
  readonly grant_digest: string | null
  readonly by: TakenBy
  readonly now: Date
}

/** The fields of a request that the edge determines when it asks. */
type AskedFields = Pick<
  AccessRequestFields,
  | 'request_id'
  | 'kind'
  | 'digest'
  | 'call'
  | 'excerpt'
  | 'approvers'
  | 'needed'
  | 'reuse'
  | 'valid_ms'
  | 'grant_digest'
> &
  Pick<AccessRequestFields, 'justification' | 'justification_findings' | 'requested_until'>

/** A request that is made if there is none for the call. */
export interface NewRequest {
  readonly fields: AskedFields
  readonly valid_ms: number
  /** `access_requested`. */
  readonly entry: ActivityEntry
}

export type ApprovalState =
  | { readonly kind: 'taken'; readonly request_id: string; readonly approvals: readonly Approval[] }
  /** By an approval for all calls of the rule, which made this scope. */
  | {
      readonly kind: 'granted'
      readonly request_id: string
      readonly approvals: readonly Approval[]
      readonly scope_id: string
    }
  | {
      readonly kind: 'pending'
      readonly request_id: string
      readonly left_ms: number
      readonly is_new: boolean
      /**
       * The last request for the same call whose approval was used; null if there is none. `was_sent` is null as long as its edge has
       * not said: it is being sent, or the edge died.
       */
      readonly used: { readonly request_id: string; readonly was_sent: boolean | null } | null
    }
  | { readonly kind: 'denied'; readonly request_id: string; readonly comment: string | null }
  | { readonly kind: 'expired'; readonly request_id: string }
  /** Too many requests are open. */
  | { readonly kind: 'busy' }
  /** The agent was killed, or is not as this process knows it. */
  | { readonly kind: 'stale' }
  /** There is no request, and none was to be made. */
  | { readonly kind: 'none' }

/**
 * Takes the approval of a call if it has one, in one script of the store. Otherwise tells how far its request is, which is made first
 * if there is none and `ask` is given.
 * @throws (rejects) when the store does not answer; an approval may have been taken by then
 */
export async function takeApproval(
  redis: RedisClient,
  wanted: WantedApproval,
  ask: NewRequest | null,
): Promise<ApprovalState> {
  const { organization_id: org, agent_id, revision, digest, grant_digest, by, now } = wanted
  const keys = [
    REDIS_KEYS.accessDigest(org, digest),
    REDIS_KEYS.accessRequestsOpen(org),
    REDIS_KEYS.accessRequestsOf(org, agent_id),
    REDIS_KEYS.accessRequestsOf(org, ''),
    REDIS_KEYS.accessRequestsEnded(org),
    REDIS_KEYS.accessRequest(org, ''),
    REDIS_KEYS.agents(org),
    REDIS_KEYS.adminTokens(org),
    REDIS_KEYS.activity(org),
    ...outboxKeys(org),
    REDIS_KEYS.accessRequestIndex(org),
    REDIS_KEYS.accessDigest(org, grant_digest ?? digest),
    REDIS_KEYS.agentScopes(org, agent_id),
  ] as const
  const plan = {
    organization_id: org,
    agent_id,
    revision: String(revision),
    call: JSON.stringify(by),
    is_granted: grant_digest !== null,
    now: now.toISOString(),
    agent_max: AGENT_REQUESTS_MAX,
    organization_max: ORGANIZATION_REQUESTS_MAX,
    activity_max: ACTIVITY_MAX_ENTRIES,
    ask: ask === null ? null : asked(ask),
  }
  return stateOf((await runScript(redis, 'take-approval', keys, [JSON.stringify(plan)])) as Answer)
}

const asked = ({ fields, valid_ms, entry }: NewRequest) => ({
  request_id: fields.request_id,
  fields,
  valid_ms,
  entry: JSON.stringify(entry),
  tag: deliveryTag(entry.event),
})

type Answer = readonly [
  kind: ApprovalState['kind'],
  request_id?: string,
  third?: string | number,
  fourth?: number | string,
  used?: string,
  was_sent?: number,
]

function stateOf([
  kind,
  request_id = '',
  third,
  fourth,
  used = '',
  was_sent,
]: Answer): ApprovalState {
  switch (kind) {
    case 'taken':
      return { kind, request_id, approvals: JSON.parse(String(third)) as Approval[] }
    case 'granted':
      return {
        kind,
        request_id,
        approvals: JSON.parse(String(third)) as Approval[],
        scope_id: String(fourth),
      }
    case 'pending':
      return {
        kind,
        request_id,
        left_ms: Number(third),
        is_new: fourth === 1,
        used: used === '' ? null : { request_id: used, was_sent: sentOf(was_sent) },
      }
    case 'denied':
      return { kind, request_id, comment: third === '' ? null : String(third) }
    case 'expired':
      return { kind, request_id }
    case 'busy':
    case 'stale':
    case 'none':
      return { kind }
  }
}

const sentOf = (noted: number | undefined): boolean | null =>
  noted === 1 ? true : noted === 0 ? false : null

/** Notes whether the call that took an approval was sent. For a request without the note it is not known: its edge died. */
export const noteForwarded = (
  redis: RedisClient,
  organization_id: string,
  request_id: string,
  was_sent: boolean,
): Promise<unknown> =>
  runScript(
    redis,
    'note-forwarded',
    [REDIS_KEYS.accessRequest(organization_id, request_id)],
    [was_sent ? 'forwarded_ms' : 'unsent_ms'],
  )
