import type { ErrorBody } from '../../core/reasons.ts'

/**
 * The error body of an MCP call, in a form that MCP clients show to their model: a JSON-RPC error whose `data` is the
 * whole error body. Its other members stay beside it, only `error` cannot be both a code and an object.
 * @param id JSON text; null where it is not known, which JSON-RPC spells as `null`
 */
export const writeJsonRpcError = (error: ErrorBody, id: string | null, code: number): string => {
  const { message, details, request_id } = error
  const rest = JSON.stringify({
    error: { code, message, data: error },
    message,
    details,
    request_id,
  })
  return `{"jsonrpc":"2.0","id":${id ?? 'null'},${rest.slice(1)}`
}
