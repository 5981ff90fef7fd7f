import type { ControlTarget } from '../control/control-message.ts'
import type { Agent, ApiKey } from '../model.ts'
import type { Write } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { AgentWithKeys } from './agent-with-keys.ts'
import { recordText } from '../store/stored-record.ts'

/**
 * The next revision of an agent's kill state. It follows the store's clock, so it is higher than any revision that edges
 * remember, even if the store lost the latest ones in a failover.
 */
export const nextRevision = ({ agent, now_ms }: AgentWithKeys): number =>
  Math.max(agent.revision + 1, now_ms)

interface StateChange {
  readonly agent: Agent
  readonly keys: readonly ApiKey[]
  readonly writes: readonly Write[]
  readonly targets: readonly ControlTarget[]
}

/** Marks an agent as killed and revokes the keys that still work. */
export function killWrites(
  found: AgentWithKeys,
  state: { readonly revision: number; readonly killed_at: string; readonly reason: string | null },
): StateChange {
  const { revision, killed_at, reason } = state
  const agent: Agent = {
    ...found.agent,
    status: 'killed',
    revision,
    killed_at,
    kill_reason: reason,
  }
  const keys = found.keys
    .filter((key) => key.revoked_at === null)
    .map((key): ApiKey => ({ ...key, revoked_at: killed_at, revoked_by: 'kill' }))
  const { organization_id, agent_id } = agent
  return {
    agent,
    keys,
    writes: stateWrites(agent, keys),
    targets: [
      { what: 'kill', organization_id, agent_id, revision, killed_at },
      ...keys.map(({ hash }): ControlTarget => ({ what: 'key', hash })),
    ],
  }
}

/**
 * Marks an agent as active. The keys that the kill revoked work again, unless they are replaced. Replaced keys count as revoked
 * by the operator, so that no later reactivation restores them.
 */
export function reactivateWrites(
  found: AgentWithKeys,
  revision: number,
  keysAre: 'restored' | 'replaced',
): StateChange {
  const agent: Agent = {
    ...found.agent,
    status: 'active',
    revision,
    killed_at: null,
    kill_reason: null,
    keys_replaced: keysAre === 'replaced',
  }
  const keys = found.keys
    .filter((key) => key.revoked_by === 'kill')
    .map(
      (key): ApiKey =>
        keysAre === 'restored'
          ? { ...key, revoked_at: null, revoked_by: null }
          : { ...key, revoked_by: 'operator' },
    )
  const { organization_id, agent_id } = agent
  return {
    agent,
    keys,
    writes: [
      ...stateWrites(agent, keys),
      // The violations that led to the kill must not lead to the next kill at the first refusal.
      ['DEL', REDIS_KEYS.rateViolations(organization_id, agent_id)],
    ],
    targets: [
      { what: 'reactivate', organization_id, agent_id, revision },
      ...keys.map(({ hash }): ControlTarget => ({ what: 'key', hash })),
    ],
  }
}

const stateWrites = (agent: Agent, keys: readonly ApiKey[]): Write[] => [
  ['HSET', REDIS_KEYS.agents(agent.organization_id), agent.agent_id, recordText(agent)],
  ...keys.map(
    (key): Write => ['HSET', REDIS_KEYS.apiKeys(key.organization_id), key.key_id, recordText(key)],
  ),
]
