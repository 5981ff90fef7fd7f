import {
  type Agent,
  type ApiKey,
  type Connection,
  type Integration,
  type Lock,
  type Organization,
  type Scope,
  SELECTED,
} from '../../core/catalogue/model.ts'
import type { KillRecord } from '../../core/kill/kill-record.ts'
import type { LockRecord } from '../../core/kill/lock-record.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** As many of the store's records as an edge reads. Each read sees them as they were when it began, or fails. */
export class FakePolicyRedis {
  readonly agents = new Map<string, Agent>()
  readonly scopes = new Map<string, readonly Scope[]>()
  /** By hash. */
  readonly keys = new Map<string, ApiKey>()
  integrations: readonly Integration[] = []
  connections: readonly Connection[] = []
  organization: Organization | undefined
  readonly kills = new Map<number, KillRecord>()
  readonly lockings = new Map<number, Pick<LockRecord, 'lock'>>()
  readonly locks = new Map<string, Lock>()
  readonly lifted = new Set<string>()
  /** Agents whose records are no JSON. */
  readonly damaged = new Set<string>()
  isUp = true
  /** Reads so far, each by what was read. */
  readonly reads: string[] = []
  #held: (() => void)[] | null = null

  get client(): RedisClient {
    return this as unknown as RedisClient
  }

  /** From now on reads wait for `release`, with what they have seen. */
  hold(): void {
    this.#held = []
  }

  release(): void {
    for (const go of this.#held?.splice(0) ?? []) go()
    this.#held = null
  }

  /** `find-key` has one key, `read-agent` two. */
  async evalsha(_sha: string, count: number, ...rest: string[]): Promise<unknown> {
    if (count === 1) {
      const hash = rest[1] ?? ''
      return this.#read(`key ${hash}`, () => textOf(this.keys.get(hash)))
    }
    const agent_id = rest[2] ?? ''
    return this.#read(`agent ${agent_id}`, () => [
      textOf(this.agents.get(agent_id)),
      ...(this.scopes.get(agent_id) ?? []).map((scope) => JSON.stringify(scope)),
    ])
  }

  /** Of the organization's integrations, or of its scopes that select agents. */
  async hvals(key: string): Promise<string[]> {
    if (key.includes(':locks:')) return this.#locksIn(key).map(([, lock]) => JSON.stringify(lock))
    if (key.includes(':connections:')) return this.connections.map((one) => JSON.stringify(one))
    const selecting = this.scopes.get(SELECTED) ?? []
    if (key.includes('agent-scopes'))
      return selecting.length === 0
        ? []
        : this.#read('selecting', () => selecting.map((one) => JSON.stringify(one)))
    return this.#read('integrations', () => this.integrations.map((one) => JSON.stringify(one)))
  }

  async hget(): Promise<string | null> {
    return textOf(this.organization)
  }

  async hmget(key: string, ...ids: string[]): Promise<(string | null)[]> {
    if (key.includes(':locks:')) {
      const locks = new Map(this.#locksIn(key))
      return this.#read(`locks ${ids.join()}`, () => ids.map((id) => textOf(locks.get(id))))
    }
    return this.#read(`agents ${ids.join()}`, () =>
      ids.map((id) => (this.damaged.has(id) ? '{' : textOf(this.agents.get(id)))),
    )
  }

  async zmscore(_key: string, ...ids: string[]): Promise<(string | null)[]> {
    return ids.map((id) => (this.lifted.has(id) ? '1' : null))
  }

  #locksIn(key: string): (readonly [string, Lock])[] {
    return [...this.locks].filter(([, { organization_id }]) => key.endsWith(`:${organization_id}`))
  }

  async hgetall(key: string): Promise<Record<string, string>> {
    if (key.includes('lockings'))
      return Object.fromEntries(
        [...this.lockings].map(([epoch, record]) => [epoch, JSON.stringify(record)]),
      )
    return this.#read('kills', () =>
      Object.fromEntries([...this.kills].map(([epoch, record]) => [epoch, JSON.stringify(record)])),
    )
  }

  async #read<T>(what: string, see: () => T): Promise<T> {
    this.reads.push(what)
    const { isUp } = this
    const seen = see()
    const held = this.#held
    if (held !== null) await new Promise<void>((resolve) => held.push(resolve))
    if (!isUp) throw new Error('Connection is closed.')
    return seen
  }
}

const textOf = (record: object | undefined): string | null =>
  record === undefined ? null : JSON.stringify(record)
