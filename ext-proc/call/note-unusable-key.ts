import type { ApiKey } from '../../core/model.ts'
import type { Call } from './call.ts'

/**
 * Notes whose key is tried that was revoked or has expired, so that the refusal, whatever its reason, is in the log of
 * that agent. Who calls is not known: the key may have leaked. What a kill revoked is the agent's own, and is noted later.
 */
export async function noteUnusableKey({ parts, record }: Call, key: ApiKey): Promise<void> {
  const state = stateOf(key, parts.nowMs())
  if (state === null) return
  const { facts } = record
  facts.key_id = key.key_id
  facts.data['key_state'] = state
  if (key.agent_id === null) return
  facts.agent_id = key.agent_id
  const { agent } = await parts.policy.agent(key.organization_id, key.agent_id)
  facts.agent_name = agent?.agent_name ?? null
}

function stateOf(key: ApiKey, now_ms: number): 'revoked' | 'expired' | null {
  if (key.revoked_at !== null) return key.revoked_by === 'kill' ? null : 'revoked'
  return key.expires_at !== null && Date.parse(key.expires_at) <= now_ms ? 'expired' : null
}
