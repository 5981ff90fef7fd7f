import type { Integration } from '../../core/model.ts'
import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'
import { holdBody } from './hold-body.ts'
import { type BodyIdentity, isForm, readBodyIdentity } from './read-body-identity.ts'

interface Need {
  readonly limit_bytes: number
  readonly may_inspect: boolean
}

/** Null where nothing has to look at the body. */
function needOf(
  { parts, head }: Call,
  { identity, integration: { integration } }: AskedCall,
  { settings }: AllowedScope,
): Need | null {
  const isNeeded =
    identity.body !== null ||
    settings.injection.enabled ||
    !settings.tools.is_unrestricted ||
    isForm(head.content_type)
  if (!isNeeded) return null
  const limit_bytes = Math.min(
    parts.settings.max_body_bytes,
    settings.max_body_bytes ?? Number.POSITIVE_INFINITY,
  )
  return { limit_bytes, may_inspect: mayInspect(settings, integration) }
}

/** Asks Envoy for a body that will be looked at, so that it arrives while something else is waited for. */
export function askForBody(call: Call, asked: AskedCall, scope: AllowedScope): void {
  const need = needOf(call, asked, scope)
  if (need !== null && (call.head.content_length ?? 0) <= need.limit_bytes)
    void call.io.body(need.may_inspect)
}

/** Holds the body where something must look at it; every other body streams through. */
export async function readNeededBody(
  call: Call,
  asked: AskedCall,
  scope: AllowedScope,
): Promise<Step<{ readonly body: Buffer | null; readonly identity_in_body: BodyIdentity | null }>> {
  const { parts, head, record } = call
  const {
    identity,
    integration: { integration },
  } = asked
  const need = needOf(call, asked, scope)
  if (need === null) return given({ body: null, identity_in_body: null })
  const held = await holdBody(call, need.limit_bytes, 'body', need.may_inspect)
  if (!held.ok) return held
  const body = held.value
  if (identity.body !== null || head.content_encoding !== null || body.length === 0)
    return given({ body, identity_in_body: identity.body })
  const said = readBodyIdentity(body, head.content_type, integration.strip_agent_id)
  if (said.kind === 'ambiguous')
    return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  if (said.kind === 'none') return given({ body, identity_in_body: null })
  if (said.agent_id === identity.agent.agent_id) return given({ body, identity_in_body: said })
  if (identity.key.agent_id === null)
    return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  const found = parts.policy.agent(identity.agent.organization_id, said.agent_id)
  const { agent } = found instanceof Promise ? await found : found
  // A value that names nobody here is the API's own and passes untouched.
  return agent === null
    ? given({ body, identity_in_body: null })
    : refuse(record, 'agent', 'agent_mismatch')
}

/** Whether the response may have to be looked at; known before the body is, which alone tells whether tools are listed. */
const mayInspect = ({ injection, tools }: EffectiveSettings, { auth }: Integration): boolean =>
  (injection.enabled && injection.scan_responses) || !tools.is_unrestricted || auth.type === 'query'
