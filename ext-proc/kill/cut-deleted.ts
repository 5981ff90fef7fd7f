import { type CallsInFlight, type Cut, type CutCounts, sumOfCuts } from './calls-in-flight.ts'
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
  const ids = { absent: new Set<string>(), unreadable: new Set<string>() }
  await verifyStates(parts, agents, ([, agent_id], state) => {
    if (state === 'absent' || state === 'unreadable') ids[state].add(agent_id)
  })
  // All at once: the calls of many agents would not be cut in turns.
  const cut = (of: ReadonlySet<string>, why: Cut): Promise<CutCounts> =>
    inFlight.cut(
      inFlight.find((call) => call.organization_id === organization_id && of.has(call.agent_id)),
      why,
      () => [...of].reduce((sum, id) => sum + inFlight.unwatched.count(organization_id, id), 0),
    )
  const killed_at = new Date().toISOString()
  const cuts = [
    cut(ids.absent, { reason: 'agent_killed', killed_at }),
    cut(ids.unreadable, { reason: 'gateway_unavailable' }),
  ]
  return sumOfCuts(await Promise.all(cuts))
}
