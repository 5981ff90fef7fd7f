import type { McpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import { scopesFor } from '../../core/decision/scopes-for.ts'
import { isBatchPath } from '../../core/request/batch.ts'
import { mayBodyOverride, saysForm } from '../../core/decision/may-body-override.ts'
import type { AdmittedCall } from './admit-call.ts'
import type { BodyReader, CallIo } from './call-io.ts'

export interface BodyPlan {
  readonly limit_bytes: number
  readonly held_by: BodyReader
}

/**
 * Why and up to which size the body is buffered; null if no step needs it and it is streamed. A body that is needed is requested
 * from Envoy now, so that it arrives while the rate limit is taken.
 */
export function planBody(
  call: AdmittedCall,
  io: CallIo,
  mcp: McpHeaders | null,
  max_body_bytes: number,
): BodyPlan | null {
  const held_by = readerOf(call, io.has_body, mcp)
  if (held_by === null) return null
  const { body, head, settings } = call
  const limit_bytes = Math.min(max_body_bytes, settings.max_body_bytes ?? Number.POSITIVE_INFINITY)
  if (body === null && (head.content_length ?? 0) <= limit_bytes) void io.body(held_by)
  return { limit_bytes, held_by }
}

function readerOf(
  call: AdmittedCall,
  has_body: boolean,
  mcp: McpHeaders | null,
): BodyReader | null {
  const { integration } = call.integration
  const { injection, tools } = call.settings
  if (call.body !== null) return 'agent_id'
  if (injection.enabled) return 'scan'
  if (!tools.is_unrestricted) return 'tools'
  // A body may make the API do more than its method says, and tells an MCP tool that only reads from others.
  if (call.reading_lock !== null && has_body) return 'lock'
  // What is approved is the body too.
  if (call.approval !== null && has_body) return 'approval'
  if (mcp?.mirrors === true) return 'mcp_headers'
  if (call.credential.credential.needs_body) return 'signature'
  const scopes = scopesFor(call.agent_scopes, call.integration)
  const there = scopes.by_integration.get(integration.integration_id)
  if (!has_body || there === undefined) return null
  const { integrations, target, head } = call
  const isAlone = (integrations.get(target.origin)?.count ?? 0) < 2
  const is_batch_path = isBatchPath(target.segments)
  if (mayBodyOverride(there, call.scope, head.content_type, isAlone, is_batch_path))
    return 'overrides'
  // Only a form is read for it: the key of an organization may name the agent there, in contradiction to a header.
  const hasOwnKey = (call.key?.agent_id ?? null) !== null
  return !hasOwnKey && saysForm(head.content_type) ? 'agent_id' : null
}
