import { checkKey } from '../../core/decision/check-key.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { CallFacts } from '../record/passed-call.ts'

/**
 * Records the owner of a revoked or expired key, so that the refusal, whatever its reason, is in the log of that agent. The
 * caller is not authenticated: the key may have leaked. A key revoked by a kill is recorded later.
 * @returns null if there is nothing to record, which is the case for nearly every call
 */
export function noteUnusableKey(
  facts: CallFacts,
  policy: Pick<PolicyStore, 'agent'>,
  key: ApiKey,
  now_ms: number,
): Promise<void> | null {
  if (checkKey(key, now_ms) !== 'invalid_api_key') return null
  facts.key_id = key.key_id
  facts.data['key_state'] = key.revoked_at === null ? 'expired' : 'revoked'
  return key.agent_id === null ? null : noteOwner(facts, policy, key, key.agent_id)
}

async function noteOwner(
  facts: CallFacts,
  policy: Pick<PolicyStore, 'agent'>,
  { organization_id }: ApiKey,
  agent_id: string,
): Promise<void> {
  facts.agent_id = agent_id
  const { agent } = await policy.agent(organization_id, agent_id)
  facts.agent_name = agent?.agent_name ?? null
}
