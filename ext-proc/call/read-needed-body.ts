import { holdsBody } from '../../core/credential/holds-body.ts'
import type { BodyFacts, BodyQuestions } from '../../core/inspection/read-body.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'
import { deferredSettings } from '../policy/deferred-settings.ts'
import { holdBody, type SentBody } from './hold-body.ts'
import { mayBodyOverride } from '../../core/policy/may-body-override.ts'

/** The largest body that may be held; null where nothing has to look at it. */
function limitOf(
  { parts, head, io, record }: Call,
  { identity, integration: { integration, base } }: AskedCall,
  scope: AllowedScope,
): number | null {
  const { auth } = integration
  const { settings } = scope
  const there = identity.policy.scopes.by_integration.get(integration.integration_id)
  const isNeeded =
    identity.body !== null ||
    settings.injection.enabled ||
    !settings.tools.is_unrestricted ||
    record.mcp?.mirrors === true ||
    (io.has_body && there !== undefined && mayBodyOverride(there, scope, head.content_type)) ||
    holdsBody(auth, base.scheme)
  if (!isNeeded) return null
  return Math.min(
    parts.settings.max_body_bytes,
    settings.max_body_bytes ?? Number.POSITIVE_INFINITY,
  )
}

/** Asks Envoy for a body that will be looked at, so that it arrives while something else is waited for. */
export function askForBody(call: Call, asked: AskedCall, scope: AllowedScope): void {
  const limit_bytes = limitOf(call, asked, scope)
  if (
    limit_bytes !== null &&
    asked.identity.body === null &&
    (call.head.content_length ?? 0) <= limit_bytes
  )
    void call.io.body()
}

/** What the later steps ask of a body, read in one go. */
export interface NeededBody {
  /** Null where nobody looks at it. */
  readonly body: SentBody | null
  readonly facts: BodyFacts | null
}

/** Holds the body where something must look at it; every other body streams through. */
export async function readNeededBody(
  call: Call,
  asked: AskedCall,
  scope: AllowedScope,
): Promise<Step<NeededBody>> {
  const { parts, record } = call
  const { identity } = asked
  const limit_bytes = limitOf(call, asked, scope)
  if (limit_bytes === null) return given({ body: null, facts: null })
  const held =
    identity.body === null
      ? await holdBody(call, limit_bytes, 'body')
      : withinLimit(call, identity.body.bytes, limit_bytes)
  if (!held.ok) return held
  const { injection } = scope.settings
  const questions = questionsOf(call, asked, scope)
  const settings = injection.enabled ? deferredSettings(scope.settings) : null
  const reading = parts.pool.readBody(held.value, questions, settings)
  const read = reading instanceof Promise ? await reading : reading
  if (read.kind === 'busy') return refuse(record, 'body', 'gateway_unavailable')
  const { facts, sent } = read
  record.json_rpc_id = idOf(facts)
  record.setAside(facts.scan_ms)
  const is_cut = read.is_cut || identity.body?.is_cut === true
  const body = sent === null ? null : { bytes: sent, is_cut }
  const said = facts.identity
  if (said === null || said.kind === 'none') return given({ body, facts })
  if (said.kind === 'ambiguous')
    return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  if (said.agent_id === identity.agent.agent_id) return given({ body, facts })
  if (identity.key.agent_id === null)
    return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  const found = parts.policy.agent(identity.agent.organization_id, said.agent_id)
  const { agent } = found instanceof Promise ? await found : found
  // A value that names nobody here is the API's own and passes untouched.
  return agent === null ? given({ body, facts }) : refuse(record, 'agent', 'agent_mismatch')
}

/** A scope may have a lower limit than the one under which the body was read for the agent's name. */
const withinLimit = ({ record }: Call, bytes: Buffer, limit_bytes: number): Step<Buffer> =>
  (record.facts.bytes_in ?? 0) > limit_bytes
    ? refuse(record, 'body', 'request_too_large', { limit_bytes })
    : given(bytes)

function questionsOf(
  { parts, head, record }: Call,
  { identity, integration, target, outgoing }: AskedCall,
  { settings }: AllowedScope,
): BodyQuestions {
  const { strip_agent_id } = integration.integration
  return {
    content_type: head.content_type,
    content_encoding: head.content_encoding,
    limit_bytes: parts.settings.max_body_bytes,
    identity:
      identity.body === null ? { strips: strip_agent_id, agent_id: identity.agent.agent_id } : null,
    asks_overrides: true,
    json_rpc:
      settings.tools.is_unrestricted && record.mcp === null ? null : { headers: record.mcp },
    scan: settings.injection.enabled
      ? {
          path: pathBelowBase(target.raw_path, integration.base.segments.length),
          query: outgoing.raw_query ?? '',
          headers: outgoing.headers.map(({ name, value }) => [name, value] as const),
        }
      : null,
  }
}

/** Of the one message that a refusal would answer; null where there are several, or none. */
function idOf({ json_rpc }: BodyFacts): string | null {
  if (json_rpc?.kind === 'mismatch') return json_rpc.id
  return json_rpc?.kind === 'single' ? (json_rpc.messages[0]?.id ?? null) : null
}

/** As it was sent, from the first slash below the base URL on. */
function pathBelowBase(raw_path: string, base_segments: number): string {
  let at = 0
  for (let i = 0; i < base_segments && at >= 0; i++) at = raw_path.indexOf('/', at + 1)
  return at < 0 ? '' : raw_path.slice(at)
}
