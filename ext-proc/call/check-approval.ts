import { awaitDecision, type HoldServices, type Wait, waitOf } from '../hold/await-decision.ts'
import { composeRequest } from '../../core/approval/compose-request.ts'
import { REQUESTS_PATH } from '../../core/approval/access-hint.ts'
import type { Approval, RequestedCall } from '../../core/approval/access-request.ts'
import {
  callDigest,
  connectionText,
  countedHeaders,
  type DigestedCall,
  grantDigest,
  policyHash,
  recordHash,
} from '../../core/approval/call-digest.ts'
import { makeExcerpt } from '../../core/approval/excerpt.ts'
import type { Excerpt } from '../../core/approval/sealed-excerpt.ts'
import type {
  ApprovalState,
  NewRequest,
  WantedApproval,
} from '../../core/approval/take-approval.ts'
import { findLock } from '../../core/decision/locks.ts'
import type { NeededApproval } from '../../core/decision/needed-approval.ts'
import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { isEmpty } from '../../core/request/overrides.ts'
import { mintId } from '../../core/keys/api-key.ts'
import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import { shortText } from '../../core/system/short-text.ts'
import type { RestrictionBoard } from '../kill/restriction-board.ts'
import type { CallRecord } from '../record/call-record.ts'
import { type GatewayAddress, gatewayUrl } from '../response/gateway-address.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { retryAfter } from '../verdict/retry-after.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { Forward } from '../verdict/verdict.ts'
import type { AdmittedCall } from './admit-call.ts'
import type { McpMessage } from '../../core/approval/mcp-message.ts'
import {
  askByUrl,
  foreignState,
  mcpMessageOf,
  type QuestionServices,
  calledUrl,
} from './ask-by-url.ts'
import type { SentBody } from './buffer-body.ts'
import type { CallIo } from './call-io.ts'
import type { ApprovedBy } from './review-call.ts'
import { isReading } from './is-reading-call.ts'
import { refusalAsResult } from './tool-result.ts'
import { causeOf } from './cause-of.ts'

export interface ApprovalServices extends HoldServices, QuestionServices {
  readonly approvals: QuestionServices['approvals'] & {
    /** @throws (rejects) when the store does not answer */
    readonly take: (wanted: WantedApproval, ask: NewRequest | null) => Promise<ApprovalState>
    readonly seal: (
      owner: { readonly organization_id: string; readonly request_id: string },
      excerpt: Excerpt,
    ) => string
    /** Never rejects. */
    readonly noteForwarded: (
      organization_id: string,
      request_id: string,
      was_sent: boolean,
    ) => Promise<void>
    readonly edge_id: string
    /** The page of the console on which the request is decided. */
    readonly pageOf: (request_id: string) => string
  }
  readonly killBoard: Pick<RestrictionBoard, 'killedAt' | 'locksOf'>
  readonly settings: { readonly gateway: Pick<GatewayAddress, 'proxy_url'> }
}

/** The approval that a call has taken. */
export interface TakenApproval {
  readonly approved: ApprovedBy
  /** The scope that an approval for a time has made; undefined for an approval of this call. */
  readonly grant_id?: string
  /** Replaces the body: what a client has sent back to the gateway is cut out. Null if nothing is. */
  readonly body: SentBody | null
  /** The verdict, noted as one that was approved. */
  readonly forward: (verdict: Forward) => Forward
  /** The refusal of a later step, noted before it is answered: the next repetition says that the call was not sent. */
  readonly unsent: (refused: Deny) => Promise<Deny>
}

/** After which a caller looks again; a person takes longer. */
const RETRY_AFTER_MS = 5_000
const RETRY = retryAfter(RETRY_AFTER_MS)
const URL_SHOWN_MAX = 2_048
const TOOL_SHOWN_MAX = 128
const EMPTY = Buffer.alloc(0)
const FOREIGN_STATE = foreignState('approval')

/** Whether a person has allowed exactly this call, which may then be made once. Otherwise it is requested. */
export async function checkApproval(
  services: ApprovalServices,
  call: AdmittedCall,
  needed: NeededApproval,
  body: Buffer | null,
  facts: BodyFacts | null,
  record: CallRecord,
  io: CallIo,
): Promise<Step<TakenApproval>> {
  const tool = mcpMessageOf(call, body, facts)
  const digested = digestedCall(call, needed, tool?.sent ?? body ?? EMPTY, tool?.counted ?? null)
  const hashed = callDigest(digested)
  const { approvals, nowMs, whyUnavailable } = services
  const { organization_id, agent_id, revision } = call.agent
  const wanted: WantedApproval = {
    organization_id,
    agent_id,
    revision,
    digest: hashed.digest,
    grant_digest: grantOf(call, needed, digested),
    by: { request_id: record.facts.request_id, edge_id: approvals.edge_id },
    now: new Date(nowMs()),
  }
  const ask = (): NewRequest =>
    newRequest(services, call, needed, digested, hashed.body_sha256, wanted, {
      ...actionOf(call, facts, tool !== null),
      source_ip: record.facts.source_ip,
    })
  const repeats = tool?.state ?? null
  const opened = repeats === null ? null : approvals.openState(wanted, repeats)
  // That of a link to connect says nothing of an approval.
  const asked = opened !== null && 'request_id' in opened ? opened : null
  const isForeign = asked === null ? opened === null : asked.digest !== wanted.digest
  if (repeats !== null && isForeign) return FOREIGN_STATE
  let reached: Reached
  try {
    const making = asked === null ? ask : null
    reached = await reach(
      services,
      wanted,
      making,
      waitOf(services, call.outgoing.headers, needed),
      { io, record },
    )
  } catch (error) {
    return deny('approval', 'gateway_unavailable', causeOf(whyUnavailable(error)))
  }
  const { state, preference } = reached
  const locked = state.kind === 'granted' ? lockedGrant(services, call, state, facts, io) : null
  if (locked !== null) return withPreference(locked, preference)
  if (state.kind === 'taken' || state.kind === 'granted') {
    record.note('approval', 'pass')
    const value =
      state.kind === 'taken'
        ? taken(services, wanted, state, digested, hashed.body_sha256, record)
        : granted(wanted, state, digested, hashed.body_sha256, record)
    const forward = (verdict: Forward): Forward => ({ ...value.forward(verdict), preference })
    const replaced = tool === null || repeats === null ? null : tool.sent
    return pass({
      ...value,
      forward,
      body: replaced === null ? null : { bytes: replaced, is_stripped: true },
    })
  }
  if (state.kind === 'stale') return staleAgent(services, wanted)
  const isOther = state.kind === 'pending' && state.request_id !== asked?.request_id
  // It was used, or its request has ended.
  if (asked !== null && (state.kind === 'none' || isOther)) return FOREIGN_STATE
  const refused = refusal(services, call, wanted, state)
  return withPreference(shownRefusal(approvals, wanted, state, tool, refused, facts), preference)
}

/** Of a tool call, in the way in which its client shows it to its user or to the model. */
function shownRefusal(
  { pageOf, sealState }: ApprovalServices['approvals'],
  wanted: WantedApproval,
  state: ApprovalState,
  tool: McpMessage | null,
  refused: Deny,
  facts: BodyFacts | null,
): Deny {
  const asked =
    state.kind === 'pending' && tool?.may_ask === true
      ? askByUrl(refused, facts, {
          message: 'A person has to allow this call first. Open the page of the request.',
          url: pageOf(state.request_id),
          state: sealState(wanted, { request_id: state.request_id, digest: wanted.digest }),
        })
      : null
  return asked ?? refusalAsResult(refused, facts)
}

/** The store knows the agent otherwise than this process does. */
export function staleAgent(
  { killBoard }: Pick<ApprovalServices, 'killBoard'>,
  { organization_id, agent_id }: Pick<WantedApproval, 'organization_id' | 'agent_id'>,
): Deny {
  const killed_at = killBoard.killedAt(organization_id, agent_id)
  return killed_at === null
    ? deny('approval', 'gateway_unavailable')
    : deny('agent', 'agent_killed', { killed_at }, { status: 503 })
}

interface Reached {
  readonly state: ApprovalState
  /** The value of `Preference-Applied`; null if the call did not wait because of one. */
  readonly preference: string | null
}

/** Takes the approval, or asks for it and waits as long as the call is to wait. */
async function reach(
  services: ApprovalServices,
  wanted: WantedApproval,
  ask: (() => NewRequest) | null,
  wait: Wait,
  { io, record }: { readonly io: CallIo; readonly record: CallRecord },
): Promise<Reached> {
  const { approvals, nowMs } = services
  const first = await approvals.take(wanted, null)
  const state = first.kind === 'none' && ask !== null ? await approvals.take(wanted, ask()) : first
  if (state.kind !== 'pending' || wait.ms <= 0) return { state, preference: null }
  const { organization_id, agent_id, by } = wanted
  const held = { organization_id, agent_id, call_id: by.request_id }
  const take = (): Promise<ApprovalState> =>
    approvals.take({ ...wanted, now: new Date(nowMs()) }, null)
  const waited = await awaitDecision(services, held, state, wait.ms, io, take)
  if (waited.held_ms === null) return { state: waited.state, preference: null }
  record.setAside(waited.held_ms)
  // It was withdrawn.
  const isGone = waited.state.kind === 'none'
  const { request_id } = state
  return {
    state: isGone ? { kind: 'expired', request_id } : waited.state,
    preference: wait.preference,
  }
}

const withPreference = (refused: Deny, value: string | null): Deny =>
  value === null
    ? refused
    : {
        ...refused,
        denial: {
          ...refused.denial,
          headers: [...(refused.denial.headers ?? []), { name: 'preference-applied', value }],
        },
      }

/** As it will be sent, without the credential. */
const digestedCall = (
  call: AdmittedCall,
  needed: NeededApproval,
  body: Buffer,
  counted: Buffer | null,
): DigestedCall => ({
  agent_id: call.agent.agent_id,
  policy_sha256: policyHash(call.scope, needed.by),
  integration_id: call.integration.integration.integration_id,
  integration_sha256: recordHash(call.integration.integration),
  connection: connectionText(call.credential.credential.connection),
  method: call.method,
  url: calledUrl(call),
  headers: call.outgoing.headers,
  body,
  counted,
})

function newRequest(
  { approvals }: ApprovalServices,
  call: AdmittedCall,
  needed: NeededApproval,
  digested: DigestedCall,
  body_sha256: string,
  wanted: WantedApproval,
  said: Pick<RequestedCall, 'source_ip' | 'names_others' | 'tool'>,
): NewRequest {
  const { integration, scope, rule, agent } = call
  const request_id = mintId('arq')
  const url = shortText(maskSecrets(digested.url), URL_SHOWN_MAX)
  const { method } = digested
  const requested: RequestedCall = {
    ...said,
    agent_name: agent.agent_name,
    integration_id: integration.integration.integration_id,
    integration_name: integration.integration.name,
    scope_id: scope.scope_id,
    scope_name: scope.name,
    rule,
    method,
    url,
    policy_sha256: digested.policy_sha256,
    integration_sha256: digested.integration_sha256,
    body_sha256,
    body_bytes: digested.body.length,
    evaluation_id: wanted.by.request_id,
    asked_by: needed.by.map((one) => ({ scope_id: one.scope.scope_id, rule: one.rule })),
  }
  const excerpt = makeExcerpt(countedHeaders(digested.headers), digested.body)
  const more = {
    request_id,
    kind: 'call',
    excerpt: approvals.seal({ organization_id: agent.organization_id, request_id }, excerpt),
    approvers: needed.approvers,
    needed: String(needed.needed),
    reuse: needed.reuse,
  } as const
  return composeRequest(wanted, requested, more, needed.valid_seconds * 1000)
}

/** What an approver has to know of a call besides its method and URL. */
function actionOf({ overrides }: AdmittedCall, facts: BodyFacts | null, isMcp: boolean) {
  const names_others = !isEmpty(overrides) || (facts !== null && !isEmpty(facts.overrides))
  const read = isMcp ? facts?.json_rpc : null
  const tool =
    read != null && 'messages' in read
      ? (read.messages.find(({ is_tool_call }) => is_tool_call)?.tool ?? null)
      : null
  return {
    ...(names_others ? { names_others } : {}),
    ...(tool === null ? {} : { tool: shortText(maskSecrets(tool), TOOL_SHOWN_MAX) }),
  }
}

/** Null unless a single rule asks, and lets its approval count for further calls. */
const grantOf = (
  { target }: AdmittedCall,
  { reuse, by }: NeededApproval,
  digested: DigestedCall,
): string | null =>
  reuse === 'rule' && by.length === 1 ? grantDigest(digested, target.origin) : null

/** A lock may name the scope that an approval has made: it then allows nothing. */
function lockedGrant(
  { killBoard, nowMs }: ApprovalServices,
  call: AdmittedCall,
  { scope_id }: Extract<ApprovalState, { kind: 'granted' }>,
  facts: BodyFacts | null,
  io: CallIo,
): Deny | null {
  const { agent } = call
  const subject = { agent, key_id: null, integration_id: null, scope_id }
  const at_ms = nowMs()
  const modes = isReading(call, facts, io) ? 'deny' : 'any'
  const lock = findLock(killBoard.locksOf(agent.organization_id), subject, at_ms, modes)
  if (lock === null) return null
  return refusalAsResult(
    { kind: 'deny', step: 'approval', denial: deniedByLock(lock, at_ms) },
    facts,
  )
}

/** A grant is not used up, so that nothing is to be noted. */
function granted(
  { digest }: WantedApproval,
  { request_id, approvals, scope_id }: Extract<ApprovalState, { kind: 'granted' }>,
  { policy_sha256, integration_sha256, connection }: DigestedCall,
  body_sha256: string,
  { facts }: CallRecord,
): TakenApproval {
  const decided_by = decidedBy(approvals)
  facts.data['approval'] = { request_id, digest, body_sha256, decided_by, scope_id }
  return {
    grant_id: scope_id,
    approved: { policy_sha256, integration_sha256, connection },
    body: null,
    unsent: (refused) => Promise.resolve(refused),
    forward: (verdict) => verdict,
  }
}

/** Until the call is sent, its entry says that it was not: it may still be refused. */
function taken(
  { approvals: { noteForwarded } }: ApprovalServices,
  { organization_id, digest }: WantedApproval,
  { request_id, approvals }: Extract<ApprovalState, { kind: 'taken' }>,
  { policy_sha256, integration_sha256, connection }: DigestedCall,
  body_sha256: string,
  { facts }: CallRecord,
): TakenApproval {
  const decided_by = decidedBy(approvals)
  const approval = { request_id, digest, body_sha256, decided_by }
  const unsent = { ...approval, was_sent: false }
  facts.data['approval'] = unsent
  const note = (was_sent: boolean): Promise<void> =>
    noteForwarded(organization_id, request_id, was_sent)
  return {
    approved: { policy_sha256, integration_sha256, connection },
    body: null,
    unsent: async (refused) => {
      await note(false)
      return refused
    },
    forward: (verdict) => {
      facts.data['approval'] = approval
      const details = { request_id, cause: 'caller_left' }
      return {
        ...verdict,
        approved: {
          note: (was_sent) => void note(was_sent),
          spent: {
            reason: 'approval_expired',
            details,
            data: { ...details, approval: unsent },
          },
        },
      }
    },
  }
}

export const decidedBy = (approvals: readonly Approval[]): string =>
  approvals.map(({ email }) => email).join(', ')

function refusal(
  services: ApprovalServices,
  call: AdmittedCall,
  { digest, now }: WantedApproval,
  state:
    | Exclude<ApprovalState, { kind: 'taken' | 'granted' | 'stale' | 'none' }>
    | { readonly kind: 'none' },
): Deny {
  switch (state.kind) {
    case 'none':
      throw new Error('a request was to be made')
    case 'busy':
      return deny('approval', 'approvals_busy', {}, { headers: RETRY })
    case 'denied': {
      const { request_id, comment } = state
      return deny('approval', 'approval_denied', { request_id, comment }, { data: { request_id } })
    }
    case 'expired': {
      const { request_id } = state
      return deny('approval', 'approval_expired', { request_id })
    }
    case 'pending': {
      const { request_id, left_ms, used } = state
      const { head, facts } = call
      const { gateway } = services.settings
      const endpoint = `${gatewayUrl(gateway, head, facts.request.is_proxied)}${REQUESTS_PATH}`
      const expires_at = new Date(now.getTime() + left_ms).toISOString()
      const shown = {
        request_id,
        status_url: `${endpoint}/${request_id}`,
        expires_at,
        ...(used === null ? {} : { used }),
      }
      const details = {
        ...shown,
        access_request: {
          endpoint,
          template: { kind: 'call', request_id },
          expires_at,
          display: 'A person has to allow this call.',
        },
      }
      const data = { ...shown, digest }
      return deny('approval', 'approval_required', details, { headers: RETRY, data })
    }
  }
}
