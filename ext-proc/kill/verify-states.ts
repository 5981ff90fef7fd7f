import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { groupPairs } from './group-pairs.ts'
import type { RestrictionBoard } from './restriction-board.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** The record of an agent may have 16 kB of metadata. */
const AGENTS_PER_READ = 50
/** Reads that wait for the store at a time, on the connection of the heartbeat. */
const READS_AT_ONCE = 20

type AgentPair = readonly [organization_id: string, agent_id: string]

/** `unreadable`: damaged, or in the format of a newer version. `held`: changes of it may be unknown since a restore. */
export type StoredState = 'stored' | 'held' | 'absent' | 'unreadable'

/**
 * Compares the known state of agents with the store, by their records alone: no scope is read or compiled, so that the agents
 * of one organization do not hold up a kill of another. As a result each state is confirmed, lifted, or found to be lost there.
 * `onState` is called for each agent as soon as its record is read.
 * @throws (rejects) if the store cannot be read
 */
export async function verifyStates(
  { killBoard, commands }: { readonly killBoard: RestrictionBoard; readonly commands: RedisClient },
  pairs: readonly AgentPair[],
  onState?: (pair: AgentPair, state: StoredState) => void,
): Promise<void> {
  const reads = groupPairs(pairs, AGENTS_PER_READ)
  for (let i = 0; i < reads.length; i += READS_AT_ONCE)
    await Promise.all(
      reads.slice(i, i + READS_AT_ONCE).map(async ([organization_id, ids]) => {
        const since = killBoard.moment()
        const texts = await commands.hmget(REDIS_KEYS.agents(organization_id), ...ids)
        for (const [at, agent_id] of ids.entries()) {
          const state = learn(killBoard, organization_id, agent_id, texts[at] ?? null, since)
          onState?.([organization_id, agent_id], state)
        }
      }),
    )
}

function learn(
  killBoard: RestrictionBoard,
  organization_id: string,
  agent_id: string,
  text: string | null,
  since: number,
): StoredState {
  if (text === null) {
    killBoard.learnAbsent(organization_id, agent_id, since)
    return 'absent'
  }
  const agent = readAgent(text)
  // What is known of an agent whose record cannot be read stays in force.
  if (agent === null) return 'unreadable'
  killBoard.learnStored(agent, since)
  return agent.restore_gap === undefined ? 'stored' : 'held'
}

function readAgent(text: string): Agent | null {
  try {
    return readableRecord<Agent>(text)
  } catch {
    return null
  }
}
