import { writeJsonRpcError } from '../catalogue/write-json-rpc-error.ts'
import type { ErrorWriter } from './write-format.ts'

export const writeJsonrpc: ErrorWriter = (error, { status, json_rpc_id }) => ({
  body: writeJsonRpcError(error, json_rpc_id, status),
})
