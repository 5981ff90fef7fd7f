import { composeRequest } from '../../core/approval/compose-request.ts'
import { isAskable } from '../../core/approval/access-hint.ts'
import { ACCESS_VALID_MS, type RequestedCall } from '../../core/approval/access-request.ts'
import { accessDigest } from '../../core/approval/call-digest.ts'
import { sealedExcerpt } from '../../core/approval/sealed-excerpt.ts'
import {
  type ApprovalState,
  type NewRequest,
  takeApproval,
  type WantedApproval,
} from '../../core/approval/take-approval.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { mintId } from '../../core/keys/api-key.ts'
import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { readFutureTime } from '../http/read-future-time.ts'
import type { AskingAgent } from './agent-of-key.ts'
import { CALL_MESSAGE, checkCall } from './answers.ts'
import { readOwnRequest } from './own-requests.ts'
import { JUSTIFICATION_MESSAGE, readWords, type SaidWords } from './read-words.ts'

export type AskedAccess =
  | { readonly request: object }
  | {
      readonly reason: Reason
      readonly details: Readonly<Record<string, unknown>>
      /** Default: that of the reason. */
      readonly message?: string
    }

/** `*` would be a rule for all methods. */
const METHOD = /^[A-Z][A-Z-]{0,31}$/
const PLAIN_MESSAGE =
  'url must be the absolute URL of one call: printable ASCII, no empty segments, no encoded slashes, no secrets.'
const ALLOWED_MESSAGE = 'The rules allow this call. Make it.'
const URL_LENGTH = 2_000

/**
 * Asks for access to a call that no rule allows. The answer is the same for an integration that the agent does not know and for none:
 * only those who decide see which one it is.
 */
export async function askForAccess(
  context: AdminContext,
  agent: AskingAgent,
  given: Readonly<Record<string, unknown>>,
  by: string,
): Promise<AskedAccess> {
  const { method, url, requested_until } = given
  if (typeof method !== 'string' || !METHOD.test(method) || typeof url !== 'string')
    return bad(CALL_MESSAGE)
  const plain = plainUrl(url)
  if (plain === null) return bad(PLAIN_MESSAGE)
  const until =
    requested_until === undefined
      ? null
      : readFutureTime(
          typeof requested_until === 'string' ? requested_until : '',
          context.now(),
          '/requested_until',
        )
  if (until !== null && !until.ok) return bad(`requested_until ${until.issue.message}.`)
  const refused = whyNot(context, agent, method, plain)
  if (refused !== null) return refused
  const words = await readWords(context, agent, given['justification'])
  if (words === null) return bad(JUSTIFICATION_MESSAGE)
  const asked = { method, url: plain, words, until: until?.time ?? null }
  return await answerOf(context, agent, await makeRequest(context, agent, asked, by))
}

const bad = (message: string): AskedAccess => ({ reason: 'bad_request', details: {}, message })

/** The URL without its query, if all who read it read the same. */
function plainUrl(url: string): string | null {
  if (url.length > URL_LENGTH || !/^[\x21-\x7e]+$/.test(url)) return null
  const parsed = parseTarget(`/${url}`)
  if (!parsed.ok) return null
  const { origin, raw_path, split_readings, has_empty_segment } = parsed.target
  const plain = `${origin}${raw_path}`
  const isPlain = split_readings.length === 0 && !has_empty_segment && maskSecrets(plain) === plain
  return isPlain ? plain : null
}

/** Null for a call that nothing but a missing rule or integration stands against. */
function whyNot(
  context: AdminContext,
  agent: AskingAgent,
  method: string,
  url: string,
): AskedAccess | null {
  const { policy } = agent
  // What the agent has by another request may be asked for again before it ends.
  const scopes = policy.scopes.filter(({ grant }) => grant === undefined)
  const asking = { ...agent, policy: { ...policy, scopes } }
  const checked = checkCall(context, asking, { method, url }, '')
  if (checked === null) return bad(CALL_MESSAGE)
  const { error, details } = checked
  if (error === null) return bad(ALLOWED_MESSAGE)
  return isAskable({ reason: error, details }, method) ? null : { reason: error, details }
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly words: SaidWords
  readonly until: string | null
}

async function makeRequest(
  { redis, ring, now }: AdminContext,
  { organization_id, policy }: AskingAgent,
  asked: Asked,
  by: string,
): Promise<ApprovalState> {
  const { agent_id, revision } = policy.agent
  const wanted: WantedApproval = {
    organization_id,
    agent_id,
    revision,
    digest: accessDigest(agent_id, asked.method, asked.url),
    grant_digest: null,
    by: { request_id: by, edge_id: '' },
    now: now(),
  }
  const request_id = mintId('arq')
  const nothing = { headers: [], body: null, is_cut: false }
  const excerpt = sealedExcerpt.seal(ring, { organization_id, request_id }, nothing)
  const ask = newRequest(policy.agent.agent_name, wanted, request_id, excerpt, asked)
  const state = await takeApproval(redis, wanted, ask)
  // It is said once that the request before has expired.
  return state.kind === 'expired' ? await takeApproval(redis, wanted, ask) : state
}

function newRequest(
  agent_name: string,
  wanted: WantedApproval,
  request_id: string,
  excerpt: string,
  { method, url, words, until }: Asked,
): NewRequest {
  const call: RequestedCall = {
    agent_name,
    integration_id: '',
    integration_name: '',
    scope_id: '',
    scope_name: '',
    rule: 0,
    method,
    url,
    policy_sha256: '',
    integration_sha256: '',
    body_sha256: '',
    body_bytes: 0,
    evaluation_id: wanted.by.request_id,
    source_ip: null,
  }
  const more = {
    request_id,
    kind: 'access',
    excerpt,
    // A new scope is an administrator's decision, as in the rest of the admin API.
    approvers: 'admin',
    needed: '1',
    reuse: 'rule',
    ...words,
    ...(until === null ? {} : { requested_until: until }),
  } as const
  return composeRequest(wanted, call, more, ACCESS_VALID_MS)
}

async function answerOf(
  context: AdminContext,
  agent: AskingAgent,
  state: ApprovalState,
): Promise<AskedAccess> {
  if (state.kind === 'busy') return { reason: 'approvals_busy', details: {} }
  const request =
    'request_id' in state ? await readOwnRequest(context, agent, state.request_id) : null
  return request === null ? { reason: 'gateway_unavailable', details: {} } : { request }
}
