import { randomUUID } from 'node:crypto'
import { readMcpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import type { Header } from '../../core/policy/header.ts'
import { CallRecord } from './call-record.ts'

/** A method is a token of few letters; what is longer is cut in the log. */
const SHOWN_METHOD_LIMIT = 32

/** Starts the record of a call from what Envoy says of it: its own request id, and the caller's address. */
export function beginRecord(
  headers: readonly Header[],
  edge_id: string,
  clockMs: () => number,
): CallRecord {
  let method = ''
  let request_id = ''
  let source_ip: string | null = null
  for (const { name, value } of headers) {
    if (name === ':method') method = value
    else if (name === 'x-request-id') request_id = value
    else if (name === 'x-envoy-external-address') source_ip = value
    else if (name === 'x-forwarded-for') source_ip ??= value.split(',').at(-1)?.trim() ?? null
  }
  return new CallRecord(
    {
      organization_id: null,
      agent_id: null,
      agent_name: null,
      key_id: null,
      integration_id: null,
      scope_id: null,
      rule: null,
      method: method.slice(0, SHOWN_METHOD_LIMIT),
      endpoint: null,
      source_ip,
      request_id: request_id || randomUUID(),
      bytes_in: null,
      data: {},
    },
    readMcpHeaders(headers),
    edge_id,
    clockMs,
    Date.now(),
  )
}
