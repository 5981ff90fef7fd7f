import type { AdminAction } from '../activity/words-of-action.ts'
import type { Agent } from '../catalogue/model.ts'
import { type Guard, type Write, commit } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { readAgentWithKeys } from './agent-with-keys.ts'
import { activityWrite } from '../change/activity-write.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import { killWrites, reactivateWrites } from './kill-writes.ts'
import type { KillableAgent } from './killable-agent.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'

/** A state that an edge has read from the store earlier and that the store no longer has. */
export interface LostState extends Pick<Agent, 'revision' | 'killed_at' | 'kill_reason'> {
  readonly keys_replaced: boolean
}

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly now: () => Date
}

type Who = Pick<Agent, 'organization_id' | 'agent_id'>

/**
 * Restores a kill or a reactivation in a store that has lost it, for example in a failover to a replica that lacked it, from
 * what an edge remembers (invariant 4), and records this in the activity log, which raises an alert. Only one of several edges
 * succeeds.
 * @returns whether this call wrote it; `absent` if the store does not have the agent
 */
export async function restoreState(
  { redis, lease_ms, now }: Parts,
  { organization_id, agent_id }: Who,
  lost: LostState,
  edge_id: string,
): Promise<'restored' | 'not_lost' | 'absent'> {
  const found = await readAgentWithKeys(redis, organization_id, agent_id)
  if (found === null) return 'absent'
  if (found.agent.revision >= lost.revision) return 'not_lost'
  const { revision, killed_at, kill_reason, keys_replaced } = lost
  const change =
    killed_at === null
      ? // The new key is lost, and the old ones may have been given up because others have them.
        reactivateWrites(found, revision, keys_replaced ? 'replaced' : 'restored')
      : killWrites(found, { revision, killed_at, reason: kill_reason })
  const state = ({ status, revision: number }: KillableAgent) => ({ status, revision: number })
  const warning = entryOfNoCall({
    event: 'admin_action',
    organization_id,
    agent_id,
    agent_name: found.agent.agent_name,
    timestamp: now().toISOString(),
    actor: { source_ip: null, request_id: null, edge_id },
    data: {
      actor: 'system',
      action: (killed_at === null
        ? 'agent.reactivation_restored'
        : 'agent.kill_restored') satisfies AdminAction,
      target: agent_id,
      killed_at,
      warning: 'The store had lost this state; an edge restored it.',
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
  return committed.kind === 'committed' ? 'restored' : 'not_lost'
}

/**
 * Records in the activity log, which raises an alert, that the store has lost a killed agent completely. @returns
 * `no_organization` while the store does not even have the organization, which is briefly the case if it starts empty
 */
export async function tellLostAgent(
  { redis, lease_ms, now }: Parts,
  { organization_id, agent_id }: Who,
  killed_at: string,
  edge_id: string,
): Promise<'told' | 'not_lost' | 'no_organization'> {
  const guards: readonly Guard[] = [
    ['HGET', REDIS_KEYS.organizations, organization_id, true],
    ['HGET', REDIS_KEYS.agents(organization_id), agent_id, false],
    // A deleted agent leaves its id as a tombstone.
    ['HGET', REDIS_KEYS.agentTombstones(organization_id), agent_id, false],
  ]
  const entry = entryOfNoCall({
    event: 'admin_action',
    organization_id,
    agent_id,
    agent_name: null,
    timestamp: now().toISOString(),
    actor: { source_ip: null, request_id: null, edge_id },
    data: {
      actor: 'system',
      action: 'agent.kill_lost' satisfies AdminAction,
      target: agent_id,
      killed_at,
      warning: 'The store has lost this killed agent; this edge still refuses it.',
    },
  })
  const writes: readonly Write[] = [activityWrite(entry)]
  const committed = await commit(
    redis,
    { guards, writes, targets: [] },
    lease_ms + LEASE_MARGIN_MS,
    'even_when_full',
  )
  if (committed.kind === 'committed') return 'told'
  return committed.guard === 0 ? 'no_organization' : 'not_lost'
}
