import type { McpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import { mayBodyOverride } from '../../core/policy/may-body-override.ts'
import type { AdmittedCall } from './admit-call.ts'
import type { CallIo } from './call-io.ts'

/**
 * The largest body that is buffered; null if no step needs the body and it is streamed. A body that is needed is requested from
 * Envoy now, so that it arrives while the rate limit is taken.
 */
export function planBody(
  call: AdmittedCall,
  io: CallIo,
  mcp: McpHeaders | null,
  max_body_bytes: number,
): number | null {
  if (!isNeeded(call, io.has_body, mcp)) return null
  const { body, head, settings } = call
  const limit_bytes = Math.min(max_body_bytes, settings.max_body_bytes ?? Number.POSITIVE_INFINITY)
  if (body === null && (head.content_length ?? 0) <= limit_bytes) void io.body()
  return limit_bytes
}

function isNeeded(call: AdmittedCall, has_body: boolean, mcp: McpHeaders | null): boolean {
  const { integration, needs_body } = call.integration
  const { injection, tools } = call.settings
  if (call.body !== null || injection.enabled || !tools.is_unrestricted) return true
  if (mcp?.mirrors === true || needs_body) return true
  const there = call.agent_scopes.by_integration.get(integration.integration_id)
  return has_body && there !== undefined && mayBodyOverride(there, call, call.head.content_type)
}
