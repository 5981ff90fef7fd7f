import { hashKey, mintId, mintKey } from '../core/keys/api-key.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import type { Access } from '../test/kit/operator.ts'

const ORGANIZATION = 'org_default'
const BATCH = 1_000

export interface AgentTemplate {
  readonly agent: string
  readonly key: string
  readonly scope: string
  /** Those that are looked up by selectors. */
  readonly labels: string
  readonly agent_id: string
  readonly key_id: string
  readonly scope_id: string
  readonly integration_id: string
  readonly hash: string
}

/** The records of an agent that the admin API has made. */
export async function agentTemplate(redis: RedisClient, access: Access): Promise<AgentTemplate> {
  const { agent_id, api_key } = access.agent
  const { scope_id } = access
  const hash = hashKey(api_key)
  const link = await redis.hget(REDIS_KEYS.apiKeyHashes, hash)
  const key_id = link?.split(' ')[1] ?? ''
  const [agent, key, scope] = await Promise.all([
    redis.hget(REDIS_KEYS.agents(ORGANIZATION), agent_id),
    redis.hget(REDIS_KEYS.apiKeys(ORGANIZATION), key_id),
    redis.hget(REDIS_KEYS.agentScopes(ORGANIZATION, agent_id), scope_id),
  ])
  if (agent === null || key === null || scope === null)
    throw new Error('the records of the agent are not where they are looked for')
  const { integration_id } = access.integration
  const { labels = {} } = JSON.parse(agent) as { readonly labels?: object }
  return {
    agent,
    key,
    scope,
    labels: JSON.stringify(labels),
    agent_id,
    key_id,
    scope_id,
    integration_id,
    hash,
  }
}

interface Range {
  readonly from: number
  readonly to: number
  /** The organization of each agent. */
  readonly organizationAt: (i: number) => string
}

/** Adds agents with a key and a scope each; answers keys that work, of some agents of the first organization. */
export async function fillAgents(
  redis: RedisClient,
  template: AgentTemplate,
  { from, to, organizationAt }: Range,
): Promise<readonly string[]> {
  const known: string[] = []
  for (let first = from; first < to; ) {
    const org = organizationAt(first)
    const batch = new Batch(redis)
    let i = first
    for (; i < to && i < first + BATCH && organizationAt(i) === org; i++) {
      const [agent_id, key_id, scope_id] = [mintId('agt'), mintId('key'), mintId('scp')]
      const api_key = mintKey('live')
      const hash = hashKey(api_key)
      if (i % 500 === 0 && org === ORGANIZATION) known.push(api_key)
      const own = (text: string): string =>
        text
          .replaceAll(template.agent_id, agent_id)
          .replaceAll(template.key_id, key_id)
          .replaceAll(template.scope_id, scope_id)
          .replaceAll(template.hash, hash)
          .replaceAll(`"${ORGANIZATION}"`, `"${org}"`)
          .replace(/"agent_name":"[^"]*"/, `"agent_name":"agent number ${i}"`)
      batch.add('hset', REDIS_KEYS.agents(org), agent_id, own(template.agent))
      batch.add('zadd', REDIS_KEYS.agentIndex(org), i, agent_id)
      batch.add('hset', REDIS_KEYS.apiKeys(org), key_id, own(template.key))
      batch.add('zadd', REDIS_KEYS.apiKeyIndex(org, agent_id), i, key_id)
      batch.add('hset', REDIS_KEYS.apiKeyHashes, hash, `${org} ${key_id}`)
      batch.add('hset', REDIS_KEYS.agentScopes(org, agent_id), scope_id, own(template.scope))
      batch.add('hset', REDIS_KEYS.scopeOwners(org), scope_id, agent_id)
      batch.add('zadd', REDIS_KEYS.scopeIndex(org), i, scope_id)
      batch.add(
        'hset',
        REDIS_KEYS.integrationScopes(org, template.integration_id),
        scope_id,
        agent_id,
      )
      if (template.labels !== '{}')
        batch.add('hset', REDIS_KEYS.agentLabels(org), agent_id, template.labels)
    }
    await batch.send()
    first = i
  }
  return known
}

/** Commands, of which those about one key are one. */
class Batch {
  readonly #redis: RedisClient
  readonly #commands = new Map<string, [string, string, ...(string | number)[]]>()

  constructor(redis: RedisClient) {
    this.#redis = redis
  }

  add(command: 'hset' | 'zadd', key: string, field: string | number, value: string): void {
    const known = this.#commands.get(key)
    if (known === undefined) this.#commands.set(key, [command, key, field, value])
    else known.push(field, value)
  }

  async send(): Promise<void> {
    await this.#redis.pipeline([...this.#commands.values()]).exec()
  }
}
