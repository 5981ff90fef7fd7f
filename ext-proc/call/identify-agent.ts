import type { PooledFacts } from '../../core/inspection/scan-pool.ts'
import type { Agent, ApiKey } from '../../core/model.ts'
import type { CompiledIntegration } from '../../core/policy/compile-integrations.ts'
import type { OwnedName } from '../../core/policy/owned-name.ts'
import type { AgentPolicy } from '../policy/policy-store.ts'
import { type Call, type DeciderParts, given, refuse, type Step } from './call.ts'
import type { Presented } from './find-presented-key.ts'
import { holdBody, type SentBody } from './hold-body.ts'

export interface Identity {
  readonly agent: Agent
  readonly key: ApiKey
  readonly policy: AgentPolicy
  /** The body, where it had to be read for the agent's name. */
  readonly body: SentBody | null
}

/** A key that lies in a header which this integration's credential does not own is not presented to us. */
function ownPlaceOnly(presented: Presented, owned: OwnedName): Presented {
  if (presented.kind !== 'known' && presented.kind !== 'unknown') return presented
  const { place } = presented
  const isOurs =
    place.kind === 'authorization' || (place.kind === owned.kind && place.name === owned.name)
  return isOurs ? presented : { kind: 'none' }
}

/** Step 3. */
export async function identifyAgent(
  call: Call,
  presented: Presented,
  integration: CompiledIntegration,
): Promise<Step<Identity>> {
  const { record, head, parts } = call
  const own = ownPlaceOnly(presented, integration.owned)
  switch (own.kind) {
    case 'none':
      return refuse(record, 'agent', 'authentication_required')
    case 'ambiguous':
      return refuse(record, 'agent', 'ambiguous_request', { reason: own.reason })
    case 'unknown':
      return refuse(record, 'agent', 'invalid_api_key')
    case 'known':
      break
  }
  const shown = own.key
  const key =
    shown.revoked_by === 'kill' && shown.agent_id !== null
      ? await parts.policy.revokedByKill(shown, shown.agent_id)
      : shown
  record.facts.key_id = key.key_id
  const refused = await checkKey(call, key)
  if (refused !== null) return refused
  if (head.agent_ids.length > 1)
    return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id_header' })
  const named = await nameAgent(call, key, integration)
  if (!named.ok) return named
  const { agent_id, body } = named.value
  if (key.agent_ids !== null && !key.agent_ids.includes(agent_id))
    return refuse(record, 'agent', 'key_not_allowed')
  const found = parts.policy.agent(key.organization_id, agent_id)
  const policy = found instanceof Promise ? await found : found
  if (policy.agent === null) {
    record.facts.data['claimed_agent_id'] = agent_id.slice(0, 128)
    return refuse(record, 'agent', 'agent_not_found')
  }
  record.facts.agent_id = agent_id
  record.facts.agent_name = policy.agent.agent_name
  // Held before it is looked at: a kill that comes between finds the call.
  call.io.hold(key.organization_id, agent_id)
  const killed_at = killedAt(parts, policy.agent)
  if (killed_at !== null) return refuse(record, 'agent', 'agent_killed', { killed_at })
  parts.uses.note(agent_id, key, record.facts.endpoint)
  record.mark('agent', 'pass')
  return given({ agent: policy.agent, key, policy, body })
}

const killedAt = ({ killBoard }: DeciderParts, agent: Agent): string | null =>
  killBoard.killedAt(agent.organization_id, agent.agent_id) ??
  // A store that was read before the flag was heard of counts as well, unless a reactivation is known since.
  (agent.status === 'killed' &&
  (killBoard.known(agent.organization_id, agent.agent_id)?.revision ?? 0) <= agent.revision
    ? (agent.killed_at ?? agent.created_at)
    : null)

/** Null when the key may be used here. */
async function checkKey({ parts, record }: Call, key: ApiKey): Promise<Step<never> | null> {
  if (key.revoked_at !== null) {
    if (key.revoked_by !== 'kill' || key.agent_id === null)
      return refuse(record, 'agent', 'invalid_api_key')
    const found = parts.policy.agent(key.organization_id, key.agent_id)
    const { agent } = found instanceof Promise ? await found : found
    if (agent === null) return refuse(record, 'agent', 'invalid_api_key')
    // An agent that was switched on again since the key was read does not make the kill that this key tells of unsaid.
    const killed_at = killedAt(parts, agent) ?? key.revoked_at
    record.facts.agent_id = agent.agent_id
    record.facts.agent_name = agent.agent_name
    return refuse(record, 'agent', 'agent_killed', { killed_at })
  }
  if (key.expires_at !== null && Date.parse(key.expires_at) <= parts.nowMs())
    return refuse(record, 'agent', 'invalid_api_key')
  if (!key.uses.includes('proxy')) return refuse(record, 'agent', 'key_not_allowed')
  return null
}

/** The agent's id: the key's own, else the header's, else the body's. */
async function nameAgent(
  call: Call,
  key: ApiKey,
  integration: CompiledIntegration,
): Promise<Step<{ readonly agent_id: string; readonly body: SentBody | null }>> {
  const { head, record } = call
  const [named] = head.agent_ids
  if (key.agent_id !== null) {
    if (named !== undefined && named !== key.agent_id)
      return refuse(record, 'agent', 'agent_mismatch')
    return given({ agent_id: key.agent_id, body: null })
  }
  if (named !== undefined)
    return named === ''
      ? refuse(record, 'agent', 'agent_id_required')
      : given({ agent_id: named, body: null })
  const bytes = await holdBody(call, call.parts.settings.max_body_bytes, 'agent')
  if (!bytes.ok) return bytes
  if (head.content_encoding !== null && bytes.value.length > 0)
    return refuse(record, 'agent', 'unsupported_content_encoding', {
      content_encoding: head.content_encoding,
    })
  const read = await readIdentity(call, bytes.value, integration)
  if (read.kind === 'busy') return refuse(record, 'agent', 'gateway_unavailable')
  const said = read.facts.identity ?? { kind: 'none' }
  if (said.kind === 'ambiguous')
    return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  if (said.kind === 'none' || read.sent === null)
    return refuse(record, 'agent', 'agent_id_required')
  const { sent, is_cut } = read
  return given({ agent_id: said.agent_id, body: { bytes: sent, is_cut } })
}

function readIdentity(
  { parts, head }: Call,
  bytes: Buffer,
  { integration }: CompiledIntegration,
): PooledFacts | Promise<PooledFacts> {
  const questions = {
    content_type: head.content_type,
    content_encoding: null,
    limit_bytes: parts.settings.max_body_bytes,
    identity: { strips: integration.strip_agent_id, agent_id: null },
    asks_overrides: false,
    json_rpc: null,
    scan: null,
  }
  return parts.pool.readBody(bytes, questions, null)
}
