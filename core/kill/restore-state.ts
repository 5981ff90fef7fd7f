import type { Agent } from '../model.ts'
import { commit } from '../redis/commit.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { readAgentWithKeys } from './agent-with-keys.ts'
import { activityWrite, agentEntry } from './kill-entries.ts'
import { killWrites, reactivateWrites } from './kill-writes.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'

/** What an edge has seen in the store before, and the store no longer has. */
export type LostState = Pick<Agent, 'revision' | 'killed_at' | 'kill_reason'>

/**
 * Gives a store that lost a kill or a reactivation, as in a failover to a replica that lacked it, what an edge
 * remembers of it (invariant 4), and says so in the activity log. Of several edges one is first.
 * @returns whether this call wrote it
 */
export async function restoreState(
  {
    redis,
    lease_ms,
    now,
  }: { readonly redis: RedisClient; readonly lease_ms: number; readonly now: () => Date },
  { organization_id, agent_id }: Pick<Agent, 'organization_id' | 'agent_id'>,
  lost: LostState,
  edge_id: string,
): Promise<boolean> {
  const found = await readAgentWithKeys(redis, organization_id, agent_id)
  if (found === null || found.agent.revision >= lost.revision) return false
  const { revision, killed_at, kill_reason } = lost
  const change =
    killed_at === null
      ? reactivateWrites(found, revision, 'restored')
      : killWrites(found, { revision, killed_at, reason: kill_reason })
  const state = ({ status, revision: number }: Agent) => ({ status, revision: number })
  const warning = agentEntry({
    event: 'admin_action',
    organization_id,
    agent_id,
    agent_name: found.agent.agent_name,
    timestamp: now().toISOString(),
    actor: { source_ip: null, request_id: null, edge_id },
    data: {
      actor: 'system',
      action: killed_at === null ? 'agent.reactivation_restored' : 'agent.kill_restored',
      target: agent_id,
      warning: 'The store had lost this state; an edge that remembered it has written it back.',
      before: state(found.agent),
      after: state(change.agent),
    },
  })
  const { targets } = change
  const writes = [...change.writes, activityWrite(warning)]
  const committed = await commit(
    redis,
    { guards: found.guards, writes, targets },
    lease_ms + LEASE_MARGIN_MS,
    'even_when_full',
  )
  return committed.kind === 'committed'
}
