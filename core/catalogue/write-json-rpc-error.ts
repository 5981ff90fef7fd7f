import type { ErrorBody } from './reasons.ts'

/**
 * The error body of an MCP call, in a form that MCP clients show to their model: a JSON-RPC error whose `data` is the complete
 * error body. The other members of the error body are kept at the top level; only `error` cannot be both a code and an object.
 * @param id JSON text; null if unknown, which JSON-RPC represents as `null`
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
