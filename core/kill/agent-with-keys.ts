import type { Agent, ApiKey } from '../catalogue/model.ts'
import type { Guard } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { readableRecord } from '../store/stored-record.ts'
import { type KillableAgent, newerAgent } from './killable-agent.ts'

/** A consistent snapshot of an agent and its keys, with the guards that must still hold when a change is written. */
export interface AgentWithKeys {
  readonly agent: KillableAgent
  readonly agent_text: string
  /** The whole record of the agent; null if a newer version has stored it in its format. */
  readonly record: Agent | null
  /** Without keys that a newer version has stored in its format: they are left as they are, and the state of the agent applies to them. */
  readonly keys: readonly ApiKey[]
  /** Clock of the store. */
  readonly now_ms: number
  readonly guards: readonly Guard[]
}

/** Null if the agent does not exist. */
export async function readAgentWithKeys(
  redis: RedisClient,
  organization_id: string,
  agent_id: string,
): Promise<AgentWithKeys | null> {
  const agents = REDIS_KEYS.agents(organization_id)
  const index = REDIS_KEYS.apiKeyIndex(organization_id, agent_id)
  const hash = REDIS_KEYS.apiKeys(organization_id)
  const [now_ms, agentText, size, ...keyTexts] = (await runScript(
    redis,
    'read-agent-keys',
    [agents, index, hash],
    [agent_id],
  )) as [number, string | null, number, ...string[]]
  if (agentText === null) return null
  const stored = keyTexts.flatMap((text) => {
    const key = readableRecord<ApiKey>(text)
    return key === null ? [] : [{ key, text }]
  })
  const record = readableRecord<Agent>(agentText)
  return {
    agent: record ?? newerAgent(agentText, organization_id, agent_id),
    agent_text: agentText,
    record,
    keys: stored.map(({ key }) => key),
    now_ms,
    guards: [
      ['HGET', agents, agent_id, agentText],
      ['ZCARD', index, '', String(size)],
      ...stored.map(({ key: { key_id }, text }): Guard => ['HGET', hash, key_id, text]),
    ],
  }
}
