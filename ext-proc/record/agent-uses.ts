import type { ApiKey } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { onBeat } from '../../core/system/on-beat.ts'

const FLUSH_INTERVAL_S = 2
/** Agents whose uses are noted between two writes; others are noted the next time. */
const AGENTS_MAX = 50_000
/** Keys and connections that are noted for one agent between two writes. */
const KEYS_MAX = 100
/** A longer path is cut in what a kill tells of the last call. */
const PATH_LENGTH_MAX = 2048

/** Of a key of the agent, of a key of the organization, of a connection. */
type UseKind = 0 | 1 | 2

interface Uses {
  readonly organization_id: string
  readonly agent_id: string
  /** By key_id and connection_id. */
  readonly keys: Map<string, { readonly kind: UseKind; at_ms: number }>
  last_ms: number
  last_path: string | null
  calls: number
}

/**
 * Notes when agents and keys were last used, how often agents called, and which keys of the organization they used, and
 * writes it in batches, since a write for each call would cost more than it says.
 */
export class AgentUses {
  readonly #redis: RedisClient
  readonly #nowMs: () => number
  readonly #stopFlushing: () => void
  #waiting = new Map<string, Uses>()

  constructor(redis: RedisClient, nowMs: () => number) {
    this.#redis = redis
    this.#nowMs = nowMs
    this.#stopFlushing = onBeat(FLUSH_INTERVAL_S, () => void this.flush())
  }

  /** An agent makes a call to a path with a key, its own or one of the organization. */
  note(
    agent_id: string,
    {
      organization_id,
      key_id,
      agent_id: owner,
    }: Pick<ApiKey, 'organization_id' | 'key_id' | 'agent_id'>,
    path: string | null,
    connection_id: string | null = null,
  ): void {
    const name = `${organization_id} ${agent_id}`
    const at_ms = this.#nowMs()
    let uses = this.#waiting.get(name)
    if (uses === undefined) {
      if (this.#waiting.size >= AGENTS_MAX) return
      uses = {
        organization_id,
        agent_id,
        keys: new Map(),
        last_ms: at_ms,
        last_path: path,
        calls: 0,
      }
      this.#waiting.set(name, uses)
    }
    uses.last_ms = at_ms
    uses.last_path = path
    uses.calls++
    noteUse(uses, key_id, owner === null ? 1 : 0, at_ms)
    if (connection_id !== null) noteUse(uses, connection_id, 2, at_ms)
  }

  /** Writes what is noted of one agent now: what follows on the same connection comes after it. */
  writeAgent(organization_id: string, agent_id: string, redis: RedisClient): void {
    const name = `${organization_id} ${agent_id}`
    const uses = this.#waiting.get(name)
    if (uses === undefined) return
    this.#waiting.delete(name)
    void this.#write(uses, redis)
  }

  async flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = new Map()
    await Promise.all([...waiting.values()].map((uses) => this.#write(uses, this.#redis)))
  }

  async stop(): Promise<void> {
    this.#stopFlushing()
    await this.flush()
  }

  /**
   * Those of an agent or key that was deleted in the meantime are left out. A write that fails loses what it held: the next use
   * says most of it again.
   */
  async #write(
    { organization_id: org, agent_id, keys, last_ms, last_path, calls }: Uses,
    redis: RedisClient,
  ): Promise<void> {
    const path = last_path?.slice(0, PATH_LENGTH_MAX) ?? ''
    const minute = Math.floor(last_ms / 60_000)
    await runScript(
      redis,
      'note-agent-uses',
      [
        REDIS_KEYS.agents(org),
        REDIS_KEYS.agentLastSeen(org),
        REDIS_KEYS.agentLastPath(org),
        REDIS_KEYS.apiKeys(org),
        REDIS_KEYS.apiKeyLastUsed(org),
        REDIS_KEYS.agentOrganizationKeys(org, agent_id),
        REDIS_KEYS.agentCalls(org, agent_id),
        REDIS_KEYS.connections(org),
        REDIS_KEYS.connectionLastUsed(org),
      ],
      [
        agent_id,
        last_ms,
        path,
        minute,
        calls,
        ...[...keys].flatMap(([id, { kind, at_ms }]) => [id, at_ms, kind]),
      ],
    ).catch(() => undefined)
  }
}

function noteUse({ keys }: Uses, id: string, kind: UseKind, at_ms: number): void {
  const known = keys.get(id)
  if (known !== undefined) known.at_ms = at_ms
  else if (keys.size < KEYS_MAX) keys.set(id, { kind, at_ms })
}
