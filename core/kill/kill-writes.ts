import type { ControlTarget } from '../control/control-message.ts'
import type { Agent, ApiKey } from '../catalogue/model.ts'
import type { Write } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { AgentWithKeys } from './agent-with-keys.ts'
import { changedText, NewerFormatError, recordText } from '../store/stored-record.ts'
import type { KillableAgent } from './killable-agent.ts'

/**
 * The next revision of an agent's kill state. It follows the store's clock, so it is higher than any revision that edges
 * remember, even if the store lost the latest ones in a failover.
 */
export const nextRevision = ({ agent, now_ms }: AgentWithKeys): number =>
  Math.max(agent.revision + 1, now_ms)

interface StateChange<A> {
  readonly agent: A
  readonly keys: readonly ApiKey[]
  readonly writes: readonly Write[]
  readonly targets: readonly ControlTarget[]
}

/** Marks an agent as killed and revokes the keys that still work. All else in the record of the agent stays, in whichever format. */
export function killWrites(
  found: AgentWithKeys,
  state: { readonly revision: number; readonly killed_at: string; readonly reason: string | null },
): StateChange<KillableAgent> {
  const { revision, killed_at, reason } = state
  const change = { status: 'killed', revision, killed_at, kill_reason: reason } as const
  const agent = { ...found.agent, ...change }
  const keys = found.keys
    .filter((key) => key.revoked_at === null)
    .map((key): ApiKey => ({ ...key, revoked_at: killed_at, revoked_by: 'kill' }))
  const { organization_id, agent_id } = agent
  return {
    agent,
    keys,
    writes: stateWrites(agent, changedText(found.agent_text, change), keys),
    targets: [
      { what: 'kill', organization_id, agent_id, revision, killed_at },
      ...keys.map(({ hash }): ControlTarget => ({ what: 'key', hash })),
    ],
  }
}

/**
 * Marks an agent as active. The keys that the kill revoked work again, unless they are replaced. Replaced keys count as revoked
 * by the operator, so that no later reactivation restores them.
 * @throws NewerFormatError if a newer version has stored the agent: what a reactivation means there is not known, and the agent
 * stays killed until a process of that version reactivates it
 */
export function reactivateWrites(
  { record, keys: found }: AgentWithKeys,
  revision: number,
  keysAre: 'restored' | 'replaced',
): StateChange<Agent> {
  if (record === null) throw new NewerFormatError()
  const agent: Agent = {
    ...record,
    status: 'active',
    revision,
    killed_at: null,
    kill_reason: null,
    keys_replaced: keysAre === 'replaced',
  }
  const keys = found
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
      ...stateWrites(agent, recordText(agent), keys),
      // The violations that led to the kill must not lead to the next kill at the first refusal.
      ['DEL', REDIS_KEYS.rateViolations(organization_id, agent_id)],
    ],
    targets: [
      { what: 'reactivate', organization_id, agent_id, revision },
      ...keys.map(({ hash }): ControlTarget => ({ what: 'key', hash })),
    ],
  }
}

const stateWrites = (
  { organization_id, agent_id }: KillableAgent,
  text: string,
  keys: readonly ApiKey[],
): Write[] => [
  ['HSET', REDIS_KEYS.agents(organization_id), agent_id, text],
  ...keys.map(
    (key): Write => ['HSET', REDIS_KEYS.apiKeys(key.organization_id), key.key_id, recordText(key)],
  ),
]
