import { createHash, randomUUID } from 'node:crypto'
import {
  type McpMessage,
  QUESTION,
  readMcpMessage,
  STATE_PREFIX,
} from '../../core/approval/mcp-message.ts'
import type { ConnectState, RequestState } from '../../core/approval/request-state.ts'
import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { CONNECT_TOKEN_MS } from '../../core/store/connect-token.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { AdmittedCall } from './admit-call.ts'
import type { SentBody } from './buffer-body.ts'
import { causeOf } from './cause-of.ts'

interface Asker {
  readonly organization_id: string
  readonly agent_id: string
}

export interface QuestionServices {
  readonly approvals: {
    readonly sealState: (asker: Asker, state: RequestState | ConnectState) => string
    readonly openState: (asker: Asker, text: string) => RequestState | ConnectState | null
    /**
     * False if it was spent before, or too many of the agent were.
     * @throws (rejects) when the store does not answer
     */
    readonly spendState: (asker: Asker, state: ConnectState, now_ms: number) => Promise<boolean>
  }
  /** Wall clock. */
  readonly nowMs: () => number
  readonly whyUnavailable: (error: unknown) => string | null
}

/** Forged, of another agent or another call, or repeated after it was used. */
export const foreignState = (step: 'approval' | 'credential'): Deny =>
  deny(step, 'bad_request', { reason: 'request_state' })

/**
 * A single message to an MCP server. That it is one has to be said by the integration: a caller can write any body as JSON-RPC, and
 * another API may act on its `id`.
 */
export function mcpMessageOf(
  { integration }: AdmittedCall,
  body: Buffer | null,
  facts: BodyFacts | null,
): McpMessage | null {
  const { error_format, base_url } = integration.integration
  const isServer = error_format === 'jsonrpc' || base_url.endsWith('/mcp')
  return isServer && facts?.json_rpc?.kind === 'single' && body !== null
    ? readMcpMessage(body)
    : null
}

/** The client shows its user a page, and repeats the call with the state once the user is done. Null for what is no tool call. */
export function askByUrl(
  refused: Deny,
  facts: BodyFacts | null,
  { state, ...shown }: { readonly message: string; readonly url: string; readonly state: string },
): Deny | null {
  const read = facts?.json_rpc ?? null
  const [message] = read !== null && 'messages' in read ? read.messages : []
  if (message?.id == null || !message.is_tool_call) return null
  const params = { mode: 'url', ...shown }
  const result = {
    resultType: 'input_required',
    inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
    requestState: state,
  }
  const body = Buffer.from(
    `{"jsonrpc":"2.0","id":${message.id},"result":${JSON.stringify(result)}}`,
  )
  return { ...refused, denial: { ...refused.denial, status: 200, body } }
}

/** A tool call that lacks a connection, if its client can show the link to its user. */
export function askToConnect(
  { approvals, nowMs }: QuestionServices,
  call: AdmittedCall,
  sent: SentBody | null,
  facts: BodyFacts | null,
  refused: Deny,
): Deny | null {
  const { connect_url: url } = refused.denial.details
  const tool = mcpMessageOf(call, sent?.bytes ?? null, facts)
  if (typeof url !== 'string' || tool?.may_ask !== true) return null
  const ends_ms = nowMs() + CONNECT_TOKEN_MS
  const connect = { nonce: randomUUID(), digest: digestOf(call, tool), ends_ms }
  const message = 'An operator has to connect this API first. Open the page.'
  return askByUrl(refused, facts, { message, url, state: approvals.sealState(call.agent, connect) })
}

export interface Answered {
  /** What the client has sent back to the gateway is cut out. */
  readonly body: SentBody
  /** A state counts once: it is spent by the first call that has everything it needs. */
  readonly spend: <T>(ready: Step<T>) => Step<T> | Promise<Step<T>>
}

const MARK = Buffer.from(`"${STATE_PREFIX}`)
const NONE = pass(null)

/** What a client has sent back because of `askToConnect`. The approval of a call reads its own. */
export function readConnectState(
  { approvals, nowMs, whyUnavailable }: QuestionServices,
  call: AdmittedCall,
  sent: SentBody | null,
  facts: BodyFacts | null,
): Step<Answered | null> {
  if (facts?.json_rpc?.kind !== 'single' || sent?.bytes.includes(MARK) !== true) return NONE
  const message = mcpMessageOf(call, sent.bytes, facts)
  if (message === null || message.state === null) return NONE
  const state = approvals.openState(call.agent, message.state)
  if (state === null) return foreignState('credential')
  const body = { bytes: message.sent, is_stripped: true }
  // Of an approval: read there, or no longer needed.
  if ('request_id' in state)
    return call.approval === null ? pass({ body, spend: (ready) => ready }) : NONE
  const left_ms = state.ends_ms - nowMs()
  const isCurrent = left_ms > 0 && left_ms <= CONNECT_TOKEN_MS
  if (!isCurrent || state.digest !== digestOf(call, message)) return foreignState('credential')
  return pass({
    body,
    spend: async (ready) => {
      if (ready.kind === 'deny') return ready
      try {
        return (await approvals.spendState(call.agent, state, nowMs()))
          ? ready
          : foreignState('credential')
      } catch (error) {
        return deny('credential', 'gateway_unavailable', causeOf(whyUnavailable(error)))
      }
    },
  })
}

export const calledUrl = ({ target, outgoing: { raw_query } }: AdmittedCall): string =>
  `${target.origin}${target.raw_path}${raw_query === null ? '' : `?${raw_query}`}`

/** Of the call alone: which connection it gets is what changes. */
function digestOf(call: AdmittedCall, { counted }: McpMessage): string {
  const { integration_id } = call.integration.integration
  const text = JSON.stringify([integration_id, call.method, calledUrl(call)])
  return createHash('sha256').update(text).update(counted).digest('base64url')
}
