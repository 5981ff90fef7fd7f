import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KillBoard } from './kill-board.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

const AGENTS_AT_ONCE = 500

/**
 * Compares the known state of agents, given as pairs of organization and agent, with the store. As a result it is confirmed,
 * lifted, or found to be lost there.
 * @throws (rejects) if the store cannot be read
 */
export async function verifyStates(
  { killBoard, commands }: { readonly killBoard: KillBoard; readonly commands: RedisClient },
  pairs: readonly (readonly [organization_id: string, agent_id: string])[],
): Promise<void> {
  const byOrganization = new Map<string, string[]>()
  for (const [organization_id, agent_id] of pairs) {
    const ids = byOrganization.get(organization_id)
    if (ids === undefined) byOrganization.set(organization_id, [agent_id])
    else ids.push(agent_id)
  }
  for (const [organization_id, ids] of byOrganization)
    for (let i = 0; i < ids.length; i += AGENTS_AT_ONCE) {
      const some = ids.slice(i, i + AGENTS_AT_ONCE)
      const since = killBoard.moment()
      const texts = await commands.hmget(REDIS_KEYS.agents(organization_id), ...some)
      for (const [at, text] of texts.entries())
        if (text === null) killBoard.learnAbsent(organization_id, some[at] ?? '', since)
        else {
          const agent = readableRecord<Agent>(text)
          // What is known of an agent whose record this version cannot read stays in force.
          if (agent !== null) killBoard.learnStored(agent, since)
        }
    }
}
