import { type CallsInFlight, type CutCounts, sumOfCuts } from './calls-in-flight.ts'
import { verifyStates } from './verify-states.ts'

type StateParts = Parameters<typeof verifyStates>[0]

/**
 * Ends the calls in flight of an organization's agents that are no longer in the store, for example after the organization was
 * deleted, or that cannot be read. After a mere rename, no call is affected. Returns the number of calls that were ended.
 * @throws (rejects) if the store cannot be read
 */
export async function cutDeleted(
  parts: StateParts & { readonly inFlight: CallsInFlight },
  organization_id: string,
): Promise<CutCounts> {
  const { inFlight } = parts
  const agents = inFlight.agents().filter(([organization]) => organization === organization_id)
  const killed_at = new Date().toISOString()
  const cutting: Promise<CutCounts>[] = []
  await verifyStates(parts, agents, ([, agent_id], state) => {
    if (state === 'absent')
      cutting.push(
        inFlight.cutAgent(organization_id, agent_id, { reason: 'agent_killed', killed_at }),
      )
    if (state === 'unreadable')
      cutting.push(inFlight.cutAgent(organization_id, agent_id, { reason: 'gateway_unavailable' }))
  })
  return sumOfCuts(await Promise.all(cutting))
}
