import type { EnforceParts } from './enforce-kill.ts'
import { type CutCounts, NONE_CUT } from './calls-in-flight.ts'

/**
 * Ends the calls in flight of an organization's agents that are no longer in the store, for example after the organization was
 * deleted. After a mere rename, no call is affected. Returns the number of calls that were ended.
 * @throws (rejects) if the store cannot be read
 */
export async function cutDeleted(
  { policy, inFlight }: Pick<EnforceParts, 'policy' | 'inFlight'>,
  organization_id: string,
): Promise<CutCounts> {
  const agents = inFlight.agents().filter(([organization]) => organization === organization_id)
  const killed_at = new Date().toISOString()
  const cuts = await Promise.all(
    agents.map(async ([, agent_id]) => {
      const read = await policy.readableAgent(organization_id, agent_id)
      if (read === null)
        return inFlight.cutAgent(organization_id, agent_id, { reason: 'gateway_unavailable' })
      if (read.agent !== null) return NONE_CUT
      return inFlight.cutAgent(organization_id, agent_id, { reason: 'agent_killed', killed_at })
    }),
  )
  return {
    terminated: cuts.reduce((sum, { terminated }) => sum + terminated, 0),
    unconfirmed: cuts.reduce((sum, { unconfirmed }) => sum + unconfirmed, 0),
  }
}
