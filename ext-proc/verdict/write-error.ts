import { writeJsonRpcError } from '../../core/write-json-rpc-error.ts'
import { type ErrorBody, REASONS } from '../../core/reasons.ts'
import type { Header } from '../../core/policy/header.ts'
import type { LocalReply } from '../envoy/write-response.ts'
import type { Denial } from './denial.ts'

/** What the error response needs to know about the call. */
interface RefusedCall {
  readonly facts: { readonly request_id: string }
  /** Null for a call that is not MCP. */
  readonly mcp: object | null
  readonly json_rpc_id: string | null
}

/** Two challenges in one value, because ext_proc replaces a header that is set twice. */
const CHALLENGE: Header = {
  name: 'www-authenticate',
  value: 'Bearer realm="agw", Basic realm="agw", charset="UTF-8"',
}

/**
 * The response to the caller: the error body, which for an MCP call is also a JSON-RPC error.
 * @param record of the call
 */
export function writeError(denial: Denial, record: RefusedCall): LocalReply {
  const { reason, details } = denial
  const { status: usual, message } = REASONS[reason]
  const status = denial.status ?? usual
  const { request_id } = record.facts
  const error: ErrorBody = {
    error: reason,
    message,
    details,
    request_id,
    // What OAuth clients show.
    ...(reason === 'oauth_not_supported' ? { error_description: message } : {}),
  }
  const body =
    record.mcp === null
      ? JSON.stringify(error)
      : writeJsonRpcError(error, record.json_rpc_id, denial.json_rpc_code ?? status)
  return {
    status,
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'x-agw-reason', value: denial.reason },
      ...(status === 401 ? [CHALLENGE] : []),
      ...(denial.headers ?? []),
    ],
    body: denial.body ?? Buffer.from(body),
    details: `agw_${denial.reason}`,
  }
}
