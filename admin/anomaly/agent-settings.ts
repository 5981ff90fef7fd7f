import { chunksOf } from '../../core/system/chunks-of.ts'
import type { Agent, Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scopeTextsOf } from '../labels/selected.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** A changed threshold applies after this time at the latest. */
const KEPT_MS = 5000
/** Agents that are cached between two reads; above that, all are read again. */
const AGENTS_MAX = 10_000
/** Each may have 2 MB of scopes, so few are read and parsed at a time. */
const AGENTS_AT_ONCE = 4

/** Metadata of an agent and rules of a scope can be large, and there may be thousands of them. */
export type AnalysedAgent = Omit<Agent, 'metadata'>
export type AnalysedScope = Pick<
  Scope,
  'scope_id' | 'name' | 'integration_id' | 'anomaly_detection'
>

interface Known {
  readonly agent: AnalysedAgent | null
  readonly scopes: ReadonlyMap<string, AnalysedScope>
  /** A newer version has stored the agent or one of its scopes: what is missing here may exist. */
  readonly has_newer: boolean
}

/** The anomaly settings of the analysed agents, read on demand. */
export class AgentSettings {
  readonly #redis: RedisClient
  readonly #organization_id: string
  readonly #known = new Map<string, Known>()
  #read_ms = Number.NEGATIVE_INFINITY

  constructor(redis: RedisClient, organization_id: string) {
    this.#redis = redis
    this.#organization_id = organization_id
  }

  /** Loads the settings of these agents, so that `of` can return them. */
  async load(agent_ids: Iterable<string>, now_ms: number): Promise<void> {
    if (now_ms - this.#read_ms > KEPT_MS || this.#known.size > AGENTS_MAX) {
      this.#known.clear()
      this.#read_ms = now_ms
    }
    const missing = [...new Set(agent_ids)].filter((agent_id) => !this.#known.has(agent_id))
    for (const some of chunksOf(missing, AGENTS_AT_ONCE))
      await Promise.all(some.map(async (id) => this.#known.set(id, await this.#read(id))))
  }

  of(agent_id: string): Known {
    return this.#known.get(agent_id) ?? NOBODY
  }

  async #read(agent_id: string): Promise<Known> {
    const org = this.#organization_id
    const agent = await this.#redis.hget(REDIS_KEYS.agents(org), agent_id)
    const known = agent === null ? null : readableRecord<Agent>(agent)
    const scopes = await scopeTextsOf(this.#redis, org, agent_id, known?.labels)
    const readable = scopes.flatMap((text) => readableRecord<Scope>(text) ?? [])
    return {
      agent: known === null ? null : withoutMetadata(known),
      scopes: new Map(
        readable.map(({ scope_id, name, integration_id, anomaly_detection }) => [
          scope_id,
          { scope_id, name, integration_id, anomaly_detection },
        ]),
      ),
      has_newer: (agent !== null && known === null) || readable.length < scopes.length,
    }
  }
}

function withoutMetadata(agent: Agent): AnalysedAgent {
  const { metadata: _, ...analysed } = agent
  return analysed
}

const NOBODY: Known = { agent: null, scopes: new Map(), has_newer: false }
