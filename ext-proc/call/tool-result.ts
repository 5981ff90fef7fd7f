import type { BodyFacts } from '../../core/inspection/read-body.ts'
import type { JsonRpcMessage } from '../../core/mcp/read-json-rpc.ts'
import { REASONS, type Reason } from '../../core/catalogue/reasons.ts'
import type { Denial } from '../verdict/denial.ts'
import type { Deny } from '../verdict/step.ts'
import { bufferBody } from './buffer-body.ts'
import type { CallIo } from './call-io.ts'
import { readHead } from './read-head.ts'
import type { IdentityServices } from './read-identity.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { Header } from '../../core/request/header.ts'

/** Refused before the body is read; of a tool call the model has to see them, and an MCP client shows it only results. */
const SHOWN: ReadonlySet<Reason> = new Set<Reason>([
  'connection_required',
  'locked',
  'rate_limit_exceeded',
])
/** A larger tool call is refused as any other call. */
const READ_MAX_BYTES = 64 * 1024
const NOT_FORWARDED = 'Not forwarded: another call of the same batch is blocked.'

/** The refusal of an MCP call, as a result if it is one of a tool call that has not been read yet. */
export async function toolResultOf(
  { pool }: Pick<IdentityServices, 'pool'>,
  refusal: Deny,
  headers: readonly Header[],
  io: CallIo,
  { mcp, facts }: CallRecord,
): Promise<Deny> {
  const { reason, status, body } = refusal.denial
  const isRead = body !== undefined || facts.bytes_in !== null
  if (!SHOWN.has(reason) || status !== undefined || isRead || mcp === null || !io.has_body)
    return refusal
  const { content_type, content_encoding, content_length } = readHead(headers)
  const owner = { organization_id: facts.organization_id ?? '', agent_id: facts.agent_id ?? '' }
  const held = await bufferBody(io, facts, content_length, READ_MAX_BYTES, 'tools', owner)
  if (held === 'busy' || held === 'too_large') return refusal
  const questions = {
    content_type,
    content_encoding,
    limit_bytes: READ_MAX_BYTES,
    identity: null,
    asks_overrides: false,
    keeps_body: false,
    json_rpc: { headers: mcp },
    scan: null,
  }
  const read = await pool.readBody(held, questions, null, { ...owner, isGone: () => io.is_over })
  if (read.kind === 'busy') return refusal
  return refusalAsResult(refusal, read.facts)
}

/** The refusal of a call whose body was read; of one that is no tool call it stays as it is. */
export function refusalAsResult(refusal: Deny, facts: BodyFacts | null): Deny {
  const read = facts?.json_rpc ?? null
  if (read === null || !('messages' in read)) return refusal
  const { reason, details } = refusal.denial
  const text = `${REASONS[reason].message} ${JSON.stringify(details)}`
  return {
    ...refusal,
    denial: asToolResult(refusal.denial, read.messages, read.kind === 'batch', text),
  }
}

/** As the result of each tool call among the messages, so that an MCP client shows it to the model; unchanged if there is none. */
export function asToolResult(
  denial: Denial,
  messages: readonly JsonRpcMessage[],
  isBatch: boolean,
  text: string,
): Denial {
  if (!messages.some(({ is_tool_call }) => is_tool_call)) return denial
  return { ...denial, status: 200, body: Buffer.from(answerBlocked(messages, isBatch, text)) }
}

/** Ids are returned exactly as the caller wrote them. Notifications and responses are not answered. */
export function answerBlocked(
  messages: readonly JsonRpcMessage[],
  isBatch: boolean,
  text: string,
): string {
  const result = JSON.stringify({
    // Required since revision 2026-07-28; earlier clients ignore it.
    resultType: 'complete',
    content: [{ type: 'text', text }],
    isError: true,
  })
  const answers = messages
    .filter(({ id, method }) => id !== null && method !== null)
    .map(({ id, is_tool_call }) =>
      is_tool_call
        ? `{"jsonrpc":"2.0","id":${id},"result":${result}}`
        : errorAnswer(id, isBatch ? NOT_FORWARDED : text),
    )
  return isBatch ? `[${answers.join(',')}]` : (answers[0] ?? errorAnswer(null, text))
}

const errorAnswer = (id: string | null, message: string): string =>
  `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: 403, message })}}`
