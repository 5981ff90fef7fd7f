import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { checkMcpTool } from '../../core/mcp/check-mcp-tool.ts'
import { foldMethod } from '../../core/mcp/fold-method.ts'
import { describeEndpoint } from '../../core/request/describe-call.ts'
import { namesOtherCharset } from '../../core/request/names-other-charset.ts'
import type { JsonRpcBody, JsonRpcMessage } from '../../core/mcp/read-json-rpc.ts'
import type { McpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import { SCOPES_PATH } from '../../core/approval/access-hint.ts'
import { shortText } from '../../core/system/short-text.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { type Deny, deny, pass, type Step } from '../verdict/step.ts'
import type { CallIo } from './call-io.ts'
import { isReading } from './is-reading-call.ts'
import { answerBlocked, refusalAsResult } from './tool-result.ts'
import type { AdmittedCall } from './admit-call.ts'

/** The MCP error code for headers that contradict the body. */
const HEADER_MISMATCH = -32020
/** Of a tool that is blocked. Servers have names of at most 128 characters; that of a caller may be as long as its body. */
const TOOL_NAME_SHOWN_MAX = 256

export interface ToolUse {
  /** Whether there was anything to check. */
  readonly is_checked: boolean
  /** The call requests a tool list, or opens a stream that may contain one. */
  readonly lists_tools: boolean
}

/**
 * Tool permissions: every `tools/call` in the body, whatever its content type, must be allowed, and headers that repeat values
 * of the body must match it. If one call of a batch is blocked, all calls of the batch are answered here and nothing is
 * forwarded.
 */
export function checkTools(
  call: AdmittedCall,
  mcp: McpHeaders | null,
  facts: BodyFacts | null,
  io: Pick<CallIo, 'has_body'>,
): Step<ToolUse> {
  const { head, integration, target, settings, agent_scopes } = call
  const { tools } = settings
  const read = facts?.json_rpc ?? null
  const mismatch = mismatchOf(mcp, read)
  if (mismatch !== null)
    return deny(
      'tools',
      'ambiguous_request',
      { reason: mismatch },
      { json_rpc_code: HEADER_MISMATCH },
    )
  const blocked = checkLock(call, facts, io)
  if (blocked !== null) return blocked
  // The response to `tools/list` may arrive in a stream opened by another request, also after a reconnect.
  const opensStream = head.method === 'GET'
  const isUnchecked = tools.is_unrestricted && mcp?.mirrors !== true
  if (read === null || isUnchecked) return pass({ is_checked: false, lists_tools: opensStream })
  if (namesOtherCharset(head.content_type))
    return deny('tools', 'ambiguous_request', { reason: 'charset' })
  if (read.kind === 'ambiguous') return deny('tools', 'ambiguous_request', { reason: read.member })
  if (read.kind === 'unreadable') return deny('tools', 'ambiguous_request', { reason: 'json_rpc' })
  const messages = 'messages' in read ? read.messages : []
  for (const tool of messages.flatMap(toolsOf)) {
    const answer = checkMcpTool(tools, tool)
    if (answer.kind === 'allowed') continue
    const service = integration.integration.name
    const shown = tool === null ? null : shortText(tool, TOOL_NAME_SHOWN_MAX)
    const details = {
      tool_name: shown,
      service,
      endpoint: describeEndpoint(target),
      reason: answer.reason,
      agent_scopes: agent_scopes.names,
    }
    const text = `The tool "${shown ?? ''}" is blocked for this agent on ${service} (${answer.reason}). Use another tool: GET ${SCOPES_PATH} and the tool list_access of the gateway name those that you may call. No request for access allows it: ask your user to have an operator add it to mcp_tools.`
    const json_rpc = answerBlocked(messages, read.kind === 'batch', text)
    return deny('tools', 'mcp_tool_blocked', details, { body: Buffer.from(json_rpc) })
  }
  const lists = messages.some(
    ({ method }) => method !== null && foldMethod(method) === 'tools/list',
  )
  return pass({ is_checked: true, lists_tools: opensStream || lists })
}

/** Of a call that must only read. */
function checkLock(
  call: AdmittedCall,
  facts: BodyFacts | null,
  io: Pick<CallIo, 'has_body'>,
): Deny | null {
  const { reading_lock: lock } = call
  if (lock === null || isReading(call, facts, io)) return null
  return refusalAsResult(
    { kind: 'deny', step: 'tools', denial: deniedByLock(lock, Date.now()) },
    facts,
  )
}

/** Every tool that the server might run because of this message. */
const toolsOf = ({ is_tool_call, tool, uses }: JsonRpcMessage): readonly (string | null)[] =>
  is_tool_call ? [tool, ...uses] : uses

/** The header that contradicts the body or is repeated. */
function mismatchOf(mcp: McpHeaders | null, read: JsonRpcBody | null): string | null {
  if (mcp === null) return null
  if (mcp.repeated !== null) return mcp.repeated
  if (read?.kind === 'mismatch') return read.header
  // A header that repeats values of the body requires a body.
  return read === null && mcp.mirrors ? 'mcp-method' : null
}
