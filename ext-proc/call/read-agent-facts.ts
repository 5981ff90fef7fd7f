import type { AgentFacts } from '../../core/decision/admission-facts.ts'
import type { MissingFact } from '../../core/decision/admission.ts'
import { storedKilledAt } from '../../core/decision/stored-killed-at.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import type { RestrictionBoard } from '../kill/restriction-board.ts'
import type { AgentPolicy, PolicyStore } from '../policy/policy-store.ts'
import type { CallIo } from './call-io.ts'

export interface AgentServices {
  readonly policy: Pick<PolicyStore, 'agent'>
  readonly killBoard: Pick<RestrictionBoard, 'killedAt' | 'known' | 'locksOf'>
}

/** The agent with its scopes and kill state. If it is calling, the call is registered as in flight. */
export function readAgentFacts(
  { policy, killBoard }: AgentServices,
  io: Pick<CallIo, 'registerInFlight'>,
  asked: Extract<MissingFact, { readonly fact: 'agent' }>,
): AgentFacts | Promise<AgentFacts> {
  const { organization_id, agent_id, is_calling } = asked
  const factsOf = ({ agent, scopes }: AgentPolicy): AgentFacts => {
    if (agent === null) return { agent, scopes, killed_at: null }
    // Registered as in flight before the kill flag is read: a kill before that is in the flag, and a later one finds the call.
    if (is_calling) io.registerInFlight(organization_id, agent_id)
    return { agent, scopes, killed_at: killedAt(killBoard, agent) }
  }
  const found = policy.agent(organization_id, agent_id)
  return found instanceof Promise ? found.then(factsOf) : factsOf(found)
}

const killedAt = (killBoard: AgentServices['killBoard'], agent: Agent): string | null =>
  killBoard.killedAt(agent.organization_id, agent.agent_id) ??
  // A kill found in an older read of the store counts too, unless a later reactivation is known.
  ((killBoard.known(agent.organization_id, agent.agent_id)?.revision ?? 0) <= agent.revision
    ? storedKilledAt(agent)
    : null)
