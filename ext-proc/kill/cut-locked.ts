import { type Agent, EVERYWHERE, type Lock } from '../../core/catalogue/model.ts'
import { compileLocks, endOfLock, findLock, type LockTable } from '../../core/decision/locks.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import {
  type CallInFlight,
  type CallsInFlight,
  type CutCounts,
  NONE_CUT,
} from './calls-in-flight.ts'

interface Parts {
  readonly inFlight: CallsInFlight
  readonly policy: Pick<PolicyStore, 'agent'>
  readonly nowMs: () => number
}

/**
 * Ends what a lock refuses of the calls in flight. Of a call that is still undecided only the agent is known: one that the lock may
 * concern by something else is refused before it is forwarded.
 * @throws (rejects) if it selects by labels and an agent cannot be read
 */
export async function cutLocked(parts: Parts, lock: Lock): Promise<CutCounts> {
  const { inFlight, nowMs } = parts
  const at_ms = nowMs()
  if (endOfLock(lock) <= at_ms) return NONE_CUT
  const { organization_id, target } = lock
  const table = compileLocks([lock])
  const isOwn = (call: CallInFlight): boolean =>
    organization_id === EVERYWHERE || call.organization_id === organization_id
  const find = (labelled: ReadonlyMap<string, Agent>): readonly CallInFlight[] =>
    inFlight.find(
      (call) => isOwn(call) && lockOn(table, call, at_ms, labelled.get(call.agent_id)) !== null,
    )
  const why = { reason: 'locked', lock, at_ms } as const
  const unwatched = (): number =>
    'agent_id' in target
      ? inFlight.unwatched.count(organization_id, target.agent_id)
      : inFlight.unwatched.countIn(organization_id === EVERYWHERE ? null : organization_id)
  return 'agent_selector' in target
    ? await inFlight.cutFound(
        async () => find(await agentsOf(parts, organization_id)),
        why,
        unwatched,
      )
    : await inFlight.cut(find(NOT_READ), why, unwatched)
}

const NOT_READ: ReadonlyMap<string, Agent> = new Map()

/** Agents of an organization with calls in flight, with the labels of now. Calls that begin meanwhile are decided with the lock. */
async function agentsOf(
  { inFlight, policy }: Parts,
  organization_id: string,
): Promise<ReadonlyMap<string, Agent>> {
  const pairs = inFlight.agents().filter(([organization]) => organization === organization_id)
  const found = await Promise.all(
    pairs.map(async ([, agent_id]) => await policy.agent(organization_id, agent_id)),
  )
  return new Map(found.flatMap(({ agent }) => (agent === null ? [] : [[agent.agent_id, agent]])))
}

/**
 * The lock that refuses a call in flight.
 * @param agent as it is now; without it, labels are those of the decision
 */
export function lockOn(
  table: LockTable | null,
  { standing = null, agent_id }: CallInFlight,
  at_ms: number,
  agent?: Agent,
): Lock | null {
  if (standing !== null) {
    const { is_reading, ...subject } = standing.subject
    const now = agent === undefined ? subject : { ...subject, agent }
    return findLock(table, now, at_ms, is_reading ? 'deny' : 'any')
  }
  // Its labels are not known yet.
  const named = table === null || agent !== undefined ? table : { ...table, selecting: [] }
  const known = { key_id: null, integration_id: null, scope_id: null }
  return findLock(named, { ...known, agent: agent ?? { agent_id } }, at_ms, 'deny')
}
