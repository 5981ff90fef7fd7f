import type { ErrorShape, WrittenError } from '../../core/error-format/write-format.ts'
import { ERROR_WRITERS } from '../../core/error-format/writers.ts'
import { writeJsonRpcError } from '../../core/catalogue/write-json-rpc-error.ts'
import { NO_RETRY } from '../../core/catalogue/no-retry.ts'
import { type ErrorBody, REASONS } from '../../core/catalogue/reasons.ts'
import type { Header } from '../../core/request/header.ts'
import type { LocalReply } from '../envoy/write-response.ts'
import type { Denial } from './denial.ts'

/** What the error response needs to know about the call. */
interface RefusedCall {
  readonly facts: { readonly request_id: string }
  /** Null for a call that is not MCP. */
  readonly mcp: object | null
  readonly json_rpc_id: string | null
  readonly error_shape?: ErrorShape | null
}

/** Two challenges in one value, because ext_proc replaces a header that is set twice. */
const CHALLENGE: Header = {
  name: 'www-authenticate',
  value: 'Bearer realm="agw", Basic realm="agw", charset="UTF-8"',
}

const WAS_CALLED = 'The API was called.'
/** The catalogue names a header that a proxy does not read. */
const KEY_OF_PROXY =
  'An API key is required. Write it into the URL of the proxy: http://agent:<API_KEY>@host:port.'

/**
 * The response to the caller: the error body, in the format of the integration once the caller has a scope for it. For an MCP call
 * it is also a JSON-RPC error.
 * @param record of the call
 */
export function writeError(denial: Denial, record: RefusedCall): LocalReply {
  const { reason, details, was_called = false } = denial
  const { status: usual, message: said } = REASONS[reason]
  const status = denial.status ?? usual
  const message = status === 407 && reason === 'authentication_required' ? KEY_OF_PROXY : said
  const { request_id } = record.facts
  const error: ErrorBody = {
    error: reason,
    message:
      was_called && !message.includes('API was called') ? `${message} ${WAS_CALLED}` : message,
    details,
    request_id,
    // What OAuth clients show.
    ...(reason === 'oauth_not_supported' ? { error_description: message } : {}),
  }
  const written = writeBody(error, record, status, denial.json_rpc_code ?? status)
  return {
    status,
    headers: [
      { name: 'content-type', value: written.content_type ?? 'application/json' },
      { name: 'x-agw-reason', value: denial.reason },
      ...(written.headers ?? []),
      ...(was_called ? NO_RETRY : []),
      ...(status === 401 ? [CHALLENGE] : []),
      ...(denial.headers ?? []),
    ],
    body: denial.body ?? Buffer.from(written.body),
    details: `agw_${denial.reason}`,
  }
}

function writeBody(
  error: ErrorBody,
  { mcp, json_rpc_id, error_shape = null }: RefusedCall,
  status: number,
  json_rpc_code: number,
): WrittenError {
  if (mcp !== null) return { body: writeJsonRpcError(error, json_rpc_id, json_rpc_code) }
  if (error_shape === null) return { body: JSON.stringify(error) }
  const { format, aws } = error_shape
  return ERROR_WRITERS[format](error, { status, json_rpc_id, aws })
}
