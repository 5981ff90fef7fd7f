import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { checkMcpTool } from '../../core/mcp/check-mcp-tool.ts'
import { foldMethod } from '../../core/mcp/fold-method.ts'
import { describeEndpoint } from '../../core/policy/describe-call.ts'
import { namesOtherCharset } from '../../core/policy/names-other-charset.ts'
import type { JsonRpcMessage } from '../../core/mcp/read-json-rpc.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'

/**
 * Tool permissions: every `tools/call` in the body, whatever its type says, must be allowed.
 * A batch with one blocked call is answered whole, and nothing of it is forwarded.
 */
export function checkTools(
  call: Call,
  { integration, identity, target }: AskedCall,
  { settings }: AllowedScope,
  facts: BodyFacts | null,
): Step<{ readonly lists_tools: boolean }> {
  const { tools } = settings
  const { record, head } = call
  const read = facts?.json_rpc ?? null
  // The answer to a list may come in a stream that another request opens, also anew after it broke.
  const opensStream = head.method === 'GET'
  if (read === null) return given({ lists_tools: opensStream })
  if (namesOtherCharset(head.content_type))
    return refuse(record, 'tools', 'ambiguous_request', { reason: 'charset' })
  switch (read.kind) {
    case 'other':
      record.mark('tools', 'pass')
      return given({ lists_tools: opensStream })
    case 'ambiguous':
      return refuse(record, 'tools', 'ambiguous_request', { reason: read.member })
    case 'unreadable':
      return refuse(record, 'tools', 'ambiguous_request', { reason: 'json_rpc' })
    case 'single':
    case 'batch':
      break
  }
  for (const message of read.messages) {
    if (!message.is_tool_call) continue
    const answer = checkMcpTool(tools, message.tool)
    if (answer.kind === 'allowed') continue
    record.mark('tools', 'deny')
    const service = integration.integration.name
    const details = {
      tool_name: message.tool,
      service,
      endpoint: describeEndpoint(target),
      reason: answer.reason,
      agent_scopes: identity.policy.scopes.names,
    }
    const text = `The tool "${message.tool ?? ''}" is blocked for this agent on ${service} (${answer.reason}). Use another tool, or ask an operator.`
    const json_rpc = answerBlocked(read.messages, read.kind === 'batch', text)
    const denial = { reason: 'mcp_tool_blocked', details, body: Buffer.from(json_rpc) } as const
    return { ok: false, answer: { kind: 'deny', denial } }
  }
  record.mark('tools', 'pass')
  const lists = read.messages.some(
    ({ method }) => method !== null && foldMethod(method) === 'tools/list',
  )
  return given({ lists_tools: opensStream || lists })
}

const NOT_FORWARDED = {
  code: -32000,
  message: 'Not forwarded: another call of the same batch is blocked.',
} as const

/** Ids are repeated as the caller wrote them; a notification has none and gets no answer of its own. */
function answerBlocked(
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
    .filter((message) => message.id !== null)
    .map(({ id, is_tool_call }) =>
      is_tool_call
        ? `{"jsonrpc":"2.0","id":${id},"result":${result}}`
        : `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(NOT_FORWARDED)}}`,
    )
  if (isBatch) return `[${answers.join(',')}]`
  return (
    answers[0] ??
    `{"jsonrpc":"2.0","id":null,"error":${JSON.stringify({ code: -32000, message: text })}}`
  )
}
