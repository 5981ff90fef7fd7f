import { randomUUID } from 'node:crypto'
import { offsetNote, type Time } from '../../core/control/store-clock.ts'
import { PROBE_HEADER } from '../../core/control/probe-pass.ts'
import { readMcpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import { addressWithPort, forwardedAddress } from '../../core/request/forwarded-address.ts'
import type { Header } from '../../core/request/header.ts'
import { CallRecord } from './call-record.ts'

/** A method is a token of few letters; what is longer is cut in the log. */
const SHOWN_METHOD_LIMIT = 32

/**
 * Starts the record of a call from what Envoy says of it: its own request id, and the caller's address.
 * @param trusted_hops proxies in front of Envoy whose `X-Forwarded-For` is believed
 * @param time when it began
 */
export function beginRecord(
  headers: readonly Header[],
  edge_id: string,
  clockMs: () => number,
  trusted_hops = 0,
  time: Time = { ms: Date.now(), offset_ms: 0 },
): CallRecord {
  let method = ''
  let request_id = ''
  let external: string | null = null
  let forwarded_for: string | null = null
  let probe_pass: string | null = null
  let hops = trusted_hops
  for (const { name, value } of headers) {
    if (name === ':method') method = value
    else if (name === 'x-request-id') request_id = value
    else if (name === 'x-envoy-external-address') external = value
    else if (name === 'x-forwarded-for')
      forwarded_for = forwarded_for === null ? value : `${forwarded_for},${value}`
    else if (name === PROBE_HEADER) probe_pass = value
    // Inside a tunnel of the forward proxy there is no proxy before the agent.
    else if (name === 'x-agw-tunnel') hops = 0
  }
  const record = new CallRecord(
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
      source_ip: sourceOf(external, forwarded_for, hops),
      request_id: request_id || randomUUID(),
      bytes_in: null,
      data: { ...offsetNote(time) },
    },
    readMcpHeaders(headers),
    edge_id,
    clockMs,
    time.ms,
  )
  record.probe_pass = probe_pass
  return record
}

function sourceOf(
  external: string | null,
  forwarded_for: string | null,
  trusted_hops: number,
): string | null {
  if (forwarded_for === null) return external
  if (external !== null) return forwardedAddress(forwarded_for, trusted_hops) ?? external
  const last = forwarded_for.split(',').at(-1)?.trim() ?? ''
  return addressWithPort(last) ?? last
}
