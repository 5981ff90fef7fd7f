import type { Scope } from '../../core/catalogue/model.ts'
import type { AdminCall } from '../http/define-route.ts'
import type { Refusal } from '../http/outcome.ts'
import { checkSelectorScopes } from './check-owners.ts'
import { checkAgentTotal } from './check-agent-total.ts'

/** Whether each agent may have all of the new scopes that are for it. */
export async function checkNewScopes(
  { context }: AdminCall,
  scopes: readonly Scope[],
): Promise<Refusal | null> {
  const tooMany = await checkSelectorScopes(context.redis, scopes)
  if (tooMany !== null) return tooMany
  const byAgent = new Map<string, Scope[]>()
  for (const scope of scopes) {
    const own = byAgent.get(scope.agent_id)
    if (own === undefined) byAgent.set(scope.agent_id, [scope])
    else own.push(scope)
  }
  for (const own of byAgent.values()) {
    const [first] = own
    if (first === undefined) continue
    const excess = await checkAgentTotal(context.redis, first, own, null)
    if (excess !== null) return excess
  }
  return null
}
