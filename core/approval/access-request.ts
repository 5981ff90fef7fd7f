import type { RuleApproval } from '../catalogue/model.ts'

export const REQUEST_STATUSES = [
  'pending',
  'approved',
  'denied',
  'expired',
  'cancelled',
  'failed',
] as const
/** `failed` is not stored: the approval was used, and the call was not sent, or its edge died before it noted that it was. */
export type RequestStatus = (typeof REQUEST_STATUSES)[number]

/** Within this time after an approval was taken, its edge notes whether the call was sent. */
export const SENDING_MAX_MS = 60_000
/** After its end a request is kept for this long. core/lua/take-approval.lua has the same. */
export const KEPT_MS = 3_600_000
/** Open requests: those that can be decided or used, and denials that still count. */
export const AGENT_REQUESTS_MAX = 200
export const ORGANIZATION_REQUESTS_MAX = 2_000

/** How long a request for access can be decided, and how long a denial counts. */
export const ACCESS_VALID_MS = 86_400_000

/** Of a request for one call; written once. One for access knows nothing of an integration and a scope, whose members are empty. */
export interface RequestedCall {
  readonly agent_name: string
  readonly integration_id: string
  readonly integration_name: string
  readonly scope_id: string
  readonly scope_name: string
  /** Position of the rule in its scope, from 0. */
  readonly rule: number
  readonly method: string
  /** What looks like a secret is masked. */
  readonly url: string
  readonly policy_sha256: string
  readonly integration_sha256: string
  readonly body_sha256: string
  readonly body_bytes: number
  /** Of the call that was refused first. */
  readonly evaluation_id: string
  readonly source_ip: string | null
  /** It names other methods or addresses too, or carries other calls. */
  readonly names_others?: boolean
  /** Of a call of a tool of an MCP server. */
  readonly tool?: string
  /** The rules that ask. Absent in requests of older versions. */
  readonly asked_by?: readonly { readonly scope_id: string; readonly rule: number }[]
}

/** The longest time for which an approval allows the calls of a rule. */
export const GRANT_MAX_MS = 30 * 86_400_000

/** One person's yes. */
export interface Approval {
  readonly email: string
  readonly token_id: string
  readonly approved_at: string
  /** Until when all calls of the rule are allowed; absent: the call once. */
  readonly expires_at?: string
}

/** The call that took an approval. */
export interface TakenBy {
  readonly request_id: string
  readonly edge_id: string
}

/** The fields of the hash in the store; all are texts. Those that may be missing come later. */
export interface AccessRequestFields extends Record<string, string | undefined> {
  readonly request_id: string
  /** `access`: for a call that no rule allows. */
  readonly kind: 'call' | 'access'
  readonly status: Exclude<RequestStatus, 'failed'>
  readonly agent_id: string
  readonly agent_revision: string
  readonly digest: string
  /** RequestedCall as JSON. */
  readonly call: string
  /** Excerpt, sealed. */
  readonly excerpt: string
  readonly approvers: RuleApproval['approvers']
  readonly needed: string
  readonly reuse: RuleApproval['reuse']
  readonly valid_ms: string
  /** Approval[] as JSON. */
  readonly approvals: string
  readonly created_ms: string
  readonly deadline_ms: string
  /** `grantDigest`; empty if an approval is for one call only. */
  readonly grant_digest: string
  /** The last request for the same call whose approval was used; empty if there was none. Absent in requests of older versions. */
  readonly used?: string
  /** How many there were, and when that one was used; not older than an hour from one to the next. */
  readonly used_count?: string
  readonly used_ms?: string
  /** A caller knows that it has expired; the next one asks again. */
  readonly told?: string
  /** Of the agent: its words, masked. */
  readonly justification?: string
  /** What the scanner finds in them, as JSON; `null` if it was busy. */
  readonly justification_findings?: string
  /** Of a request for access: until when the agent wants it. */
  readonly requested_until?: string
  /** Of a denial or a withdrawal. */
  readonly decided_by?: string
  readonly decided_ms?: string
  readonly comment?: string
  /** The run of the store in which it was approved: later ones may not know that the approval was taken. */
  readonly approved_run?: string
  readonly consumed_ms?: string
  /** TakenBy as JSON. */
  readonly consumed_by?: string
  readonly forwarded_ms?: string
  /** The call was refused after all, or its caller has left. */
  readonly unsent_ms?: string
  readonly ended_ms?: string
  /** When an e-mail told of it. */
  readonly mailed_ms?: string
  /** The scope that the approval has made. */
  readonly scope_id?: string
}
