import { setImmediate as turn } from 'node:timers/promises'
import type { OpenedAuth } from '../../core/credential/catalogue.ts'
import {
  type Agent,
  type ApiKey,
  type Connection,
  EVERYWHERE,
  type Integration,
  type Organization,
  type Scope,
  SELECTED,
  type UnlistedHosts,
  UPSTREAM_DEFAULTS,
  type UpstreamSettings,
} from '../../core/catalogue/model.ts'
import {
  type AgentScopes,
  type CompiledScope,
  compileScopes,
  compilingEach,
  gatherScopes,
} from '../../core/decision/compile-scopes.ts'
import {
  compileIntegrationsInSteps,
  type IntegrationTable,
} from '../../core/decision/compile-integrations.ts'
import { isAgentId } from '../../core/request/agent-id.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { upstreamCluster } from '../../core/store/upstream-cluster.ts'
import { openAuth, ownerOfConnection } from '../../core/store/credential-binding.ts'
import { readConnection } from '../../core/store/read-connection.ts'
import { upstreamKey } from '../../core/store/upstream-key.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import { FillCache } from './fill-cache.ts'
import { type LockFlags, readLocks } from './read-locks.ts'
import type { OwnUpstream } from './own-upstream.ts'
import { ReadTurns } from './read-turns.ts'
import { StepTurns } from './step-turns.ts'
import { segmentsOf } from '../../core/store/segments-of.ts'
import { type Formatted, isNewer, parseRecord } from '../../core/store/stored-record.ts'

/**
 * Keys in use at one edge within a short time. Unknown keys are cached too, so that each guess costs only one Redis request.
 */
const KEYS_MAX = 50_000
const AGENTS_MAX = 20_000
const ORGANIZATIONS_MAX = 1_000
/** Estimated memory of all keys, of all agents and of all integrations that are cached. */
const MEMORY_MAX_BYTES = 256 << 20
/** What JSON takes in memory once it is parsed, and what a node of a trie takes. */
const MEMORY_PER_JSON_BYTE = 4
const MEMORY_PER_NODE_BYTES = 300
/** A compiled integration with its open credential. */
const MEMORY_PER_INTEGRATION_BYTE = 8

export interface KeyPolicy {
  /** Null: no such key. */
  readonly key: ApiKey | null
  /** Estimated memory. */
  readonly bytes: number
}

export interface OrganizationPolicy {
  /** Estimated memory. */
  readonly bytes: number
  readonly table: IntegrationTable
  /** By integration_id; null if the stored credential cannot be decrypted. */
  readonly auth: ReadonlyMap<string, OpenedAuth | null>
  /** Of a connection; null if it cannot be decrypted. Decrypted when it is first used. */
  readonly authOfConnection: (connection: Connection) => OpenedAuth | null
  /** By the name of the Envoy cluster: the integrations with connection settings of their own. */
  readonly upstreams: ReadonlyMap<string, OwnUpstream>
  /** Their clusters by integration_id. */
  readonly clusters: ReadonlyMap<string, string>
  readonly unlisted_hosts: UnlistedHosts
}

export interface AgentPolicy {
  /** Estimated memory. */
  readonly bytes: number
  /** Null: no such agent. */
  readonly agent: Agent | null
  readonly scopes: AgentScopes
}

const BUDGET = {
  bytes_max: MEMORY_MAX_BYTES,
  bytesOf: ({ bytes }: { readonly bytes: number }): number => bytes,
}

/** Learns about kills from every read of an agent, and reports what is known without a read. */
export interface KillFlags extends LockFlags {
  /** Take this before reading the store, and pass it on with the result of the read. */
  moment(): number
  learnStored(agent: Agent, since: number): void
  learnAbsent(organization_id: string, agent_id: string, since: number): void
  /** When the agent was killed; null if it is active. */
  killedAt(organization_id: string, agent_id: string): string | null
}

/**
 * The scopes of one agent, twice of what the admin API stores. An agent with more, from an older version, has no scope
 * here: to parse them would hold up every other call.
 */
const AGENT_SCOPES_BYTES_MAX = 4_194_304
const AGENT_SEGMENTS_MAX = 100_000

class TooManySegments extends Error {}

function* parsed(texts: readonly string[]): Iterable<Scope> {
  let segments = 0
  for (const text of texts) {
    const scope = parseRecord<Scope>(text)
    segments += segmentsOf(scope)
    // Not only the scopes before: one that is missing may be the one that restricts.
    if (segments > AGENT_SEGMENTS_MAX) throw new TooManySegments()
    yield scope
  }
}

/** Ends with no scopes once nobody waits for them. */
function* compilingWanted(
  texts: readonly string[],
  isWanted: () => boolean,
): Generator<undefined, readonly CompiledScope[]> {
  const steps = compilingEach(parsed(texts))
  while (isWanted()) {
    const { done, value } = steps.next()
    if (done === true) return value
    yield
  }
  return []
}

/** Of stored integrations, read between two pauses: about a millisecond of work. */
const CHARACTERS_PER_STEP = 131_072
/** To decrypt the credential of an integration costs as much as to read so many characters. */
const CHARACTERS_PER_INTEGRATION = 3_072

/** The scopes of an organization that select their agents, compiled once for all agents. */
interface SharedScopes {
  /** Estimated memory. */
  readonly bytes: number
  readonly scopes: readonly CompiledScope[]
}

/** What an agent takes for each scope that it shares. */
const MEMORY_PER_SHARED_BYTES = 100

interface PolicyStoreParts {
  readonly redis: RedisClient
  readonly keyRing: KeyRing
  readonly killBoard: KillFlags
  readonly turns?: StepTurns
}

/** Everything that the hot path looks up: compiled, cached within bounds, and invalidated by messages. */
export class PolicyStore {
  readonly #keys: FillCache<KeyPolicy>
  readonly #organizations: FillCache<OrganizationPolicy>
  readonly #agents: FillCache<AgentPolicy>
  readonly #shared: FillCache<SharedScopes>
  readonly #turns: StepTurns
  readonly #reads = new ReadTurns()
  readonly #parts: PolicyStoreParts

  constructor(parts: PolicyStoreParts) {
    this.#parts = parts
    this.#turns = parts.turns ?? new StepTurns()
    this.#keys = new FillCache(KEYS_MAX, (hash) => this.#readKey(hash), BUDGET)
    this.#organizations = new FillCache(
      ORGANIZATIONS_MAX,
      (id) => this.#readOrganization(id),
      BUDGET,
    )
    this.#shared = new FillCache(
      ORGANIZATIONS_MAX,
      (id, isWanted) => this.#readShared(id, isWanted),
      BUDGET,
    )
    this.#agents = new FillCache(
      AGENTS_MAX,
      (pair, isWanted) => {
        const [organization_id = '', agent_id = ''] = pair.split(' ')
        return this.#readAgent(organization_id, agent_id, isWanted)
      },
      BUDGET,
    )
  }

  /** @param hash SHA-256 of the presented key */
  key(hash: string): KeyPolicy | Promise<KeyPolicy> {
    return this.#keys.get(hash)
  }

  organization(organization_id: string): OrganizationPolicy | Promise<OrganizationPolicy> {
    return this.#organizations.get(organization_id)
  }

  agent(organization_id: string, agent_id: string): AgentPolicy | Promise<AgentPolicy> {
    // Callers name agents, in texts of any length, which must be neither looked up nor cached.
    return isAgentId(agent_id) ? this.#agents.get(`${organization_id} ${agent_id}`) : NOBODY
  }

  /**
   * The current state of a key that a kill has revoked. While a kill or a reactivation is in progress, key and agent may have
   * been cached on different sides of it; then both are read again.
   */
  async revokedByKill(key: ApiKey, agent_id: string): Promise<ApiKey> {
    const { organization_id, hash } = key
    const { agent } = await this.agent(organization_id, agent_id)
    const isKilled =
      agent?.status === 'killed' ||
      this.#parts.killBoard.killedAt(organization_id, agent_id) !== null
    if (agent === null || isKilled) return key
    this.#agents.drop(`${organization_id} ${agent_id}`)
    this.#keys.drop(hash)
    const [again] = await Promise.all([this.key(hash), this.agent(organization_id, agent_id)])
    return again.key ?? key
  }

  drop(target: ControlTarget): void {
    switch (target.what) {
      case 'key':
        this.#keys.drop(target.hash)
        return
      case 'integrations':
        this.#organizations.drop(target.organization_id)
        return
      case 'agent':
      case 'kill':
      case 'reactivate':
        this.#agents.drop(`${target.organization_id} ${target.agent_id}`)
        return
      case 'scopes':
        this.#shared.drop(target.organization_id)
        this.#agents.dropAll(`${target.organization_id} `)
        return
      case 'organization':
        this.clear()
        return
      case 'access_request':
      case 'forward_ca':
      case 'lock':
      case 'unlock':
        return
    }
  }

  clear(): void {
    this.#keys.clear()
    this.#organizations.clear()
    this.#agents.clear()
    this.#shared.clear()
  }

  async #readKey(hash: string): Promise<KeyPolicy> {
    const text = await runScript(
      this.#parts.redis,
      'find-key',
      [REDIS_KEYS.apiKeyHashes],
      [hash, REDIS_KEYS.apiKeys('')],
    )
    if (typeof text !== 'string') return { key: null, bytes: 0 }
    return { key: parseRecord<ApiKey>(text), bytes: text.length * MEMORY_PER_JSON_BYTE }
  }

  /** In steps, so that an organization with many large integrations does not hold up the calls of others. */
  async #readOrganization(organization_id: string): Promise<OrganizationPolicy> {
    const { redis, killBoard } = this.#parts
    const [texts, connectionTexts, record] = await Promise.all([
      redis.hvals(REDIS_KEYS.integrations(organization_id)),
      redis.hvals(REDIS_KEYS.connections(organization_id)),
      redis.hget(REDIS_KEYS.organizations, organization_id),
      readLocks(redis, killBoard, organization_id),
      readLocks(redis, killBoard, EVERYWHERE),
    ])
    const integrations: Integration[] = []
    const auth = new Map<string, OpenedAuth | null>()
    const upstreams = new Map<string, OwnUpstream>()
    const clusters = new Map<string, string>()
    let characters = 0
    for (const text of texts) {
      characters += CHARACTERS_PER_INTEGRATION + text.length
      if (characters > CHARACTERS_PER_STEP) {
        characters = 0
        await turn()
      }
      const integration = JSON.parse(text) as Integration & Formatted
      const { integration_id } = integration
      integrations.push(integration)
      // In a format that this version would misread: calls are refused as they are without a credential.
      if (isNewer(integration)) {
        auth.set(integration_id, null)
        continue
      }
      auth.set(integration_id, openAuth(this.#parts.keyRing, integration))
      const cluster = upstreamCluster(integration)
      if (cluster === null) continue
      clusters.set(integration_id, cluster)
      const own = this.#openUpstream(integration)
      if (own === null) auth.set(integration_id, null)
      else upstreams.set(cluster, own)
    }
    const connections: Connection[] = []
    for (const text of connectionTexts) {
      characters += text.length
      if (characters > CHARACTERS_PER_STEP) {
        characters = 0
        await turn()
      }
      connections.push(readConnection(text))
    }
    const table = await compileIntegrationsInSteps(integrations, connections, () => turn())
    const bytes = (lengthOf(texts) + lengthOf(connectionTexts)) * MEMORY_PER_INTEGRATION_BYTE
    const unlisted_hosts =
      (record === null ? null : parseRecord<Organization>(record).unlisted_hosts) ?? 'refuse'
    const authOfConnection = openerOf(this.#parts.keyRing, integrations)
    return { table, auth, authOfConnection, upstreams, clusters, unlisted_hosts, bytes }
  }

  /** Null if the private key cannot be decrypted; calls are then refused as they are without a credential. */
  #openUpstream(integration: Integration): OwnUpstream | null {
    const { base_url, upstream: settings = UPSTREAM_DEFAULTS } = integration
    const scheme = base_url.startsWith('https:') ? 'https' : 'http'
    const sealed = (settings as UpstreamSettings).client_key
    if (sealed === undefined) return { scheme, settings, client_key: null }
    const client_key = upstreamKey.open(this.#parts.keyRing, integration, sealed)
    return client_key === null ? null : { scheme, settings, client_key }
  }

  /** @throws (rejects) if the store cannot be read, or if too much that was read waits to be compiled */
  async #readAgent(
    organization_id: string,
    agent_id: string,
    isWanted: () => boolean,
  ): Promise<AgentPolicy> {
    const { agent, record, texts } = await this.#reads.run(organization_id, () =>
      this.#readTexts(organization_id, agent_id),
    )
    const compiled = await this.#compile(organization_id, texts, isWanted)
    const own = compiled.filter(({ scope }) => outlivesKills(scope, agent))
    const all = await this.#shared.get(organization_id)
    const shared = all.scopes.filter(
      ({ scope }) => agent !== null && matchesSelector(scope.agent_selector, agent.labels),
    )
    const scopes = gatherScopes(own, shared)
    const characters = record.length + lengthOf(texts)
    return {
      agent,
      scopes,
      bytes:
        characters * MEMORY_PER_JSON_BYTE +
        scopes.nodes * MEMORY_PER_NODE_BYTES +
        shared.length * MEMORY_PER_SHARED_BYTES,
    }
  }

  async #readShared(organization_id: string, isWanted: () => boolean): Promise<SharedScopes> {
    const texts = await this.#parts.redis.hvals(REDIS_KEYS.agentScopes(organization_id, SELECTED))
    if (texts.length === 0) return NO_SHARED
    const scopes = await this.#compile(organization_id, withinLimit(texts), isWanted)
    const bytes =
      lengthOf(texts) * MEMORY_PER_JSON_BYTE + gatherScopes(scopes).nodes * MEMORY_PER_NODE_BYTES
    return { scopes, bytes }
  }

  /** None if they are too large. */
  #compile(
    organization_id: string,
    texts: readonly string[],
    isWanted: () => boolean,
  ): Promise<readonly CompiledScope[]> {
    return this.#turns
      .run(organization_id, lengthOf(texts), compilingWanted(texts, isWanted))
      .catch((error) => {
        if (error instanceof TooManySegments) return []
        throw error
      })
  }

  /** The agent, and its scopes unless they are too large. */
  async #readTexts(
    organization_id: string,
    agent_id: string,
  ): Promise<{
    readonly agent: Agent | null
    /** The agent as JSON. */
    readonly record: string
    readonly texts: readonly string[]
  }> {
    const { killBoard, redis } = this.#parts
    const since = killBoard.moment()
    const [agentText, ...texts] = (await runScript(
      redis,
      'read-agent',
      [REDIS_KEYS.agents(organization_id), REDIS_KEYS.agentScopes(organization_id, agent_id)],
      [agent_id],
    )) as [string | null, ...string[]]
    const agent = agentText === null ? null : parseRecord<Agent>(agentText)
    if (agent === null) killBoard.learnAbsent(organization_id, agent_id, since)
    else killBoard.learnStored(agent, since)
    const record = agentText ?? ''
    return { agent, record, texts: withinLimit(texts) }
  }
}

/** A grant is for the agent as it was when a person allowed it: a kill ends it, also if it is reactivated. */
const outlivesKills = ({ grant }: Scope, agent: Agent | null): boolean =>
  grant === undefined || grant.agent_revision === agent?.revision

const NO_SHARED: SharedScopes = { scopes: [], bytes: 0 }
const NOBODY: AgentPolicy = { agent: null, scopes: compileScopes([]), bytes: 0 }

const withinLimit = (texts: readonly string[]): readonly string[] =>
  lengthOf(texts) > AGENT_SCOPES_BYTES_MAX ? [] : texts

const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((sum, { length }) => sum + length, 0)

/** Decrypts each connection once. */
function openerOf(
  ring: KeyRing,
  integrations: readonly Integration[],
): OrganizationPolicy['authOfConnection'] {
  const opened = new Map<string, OpenedAuth | null>()
  return (connection) => {
    const { connection_id, integration_id } = connection
    const known = opened.get(connection_id)
    if (known !== undefined) return known
    const owner = integrations.find((one) => one.integration_id === integration_id)
    const auth = owner === undefined ? null : openAuth(ring, ownerOfConnection(owner, connection))
    opened.set(connection_id, auth)
    return auth
  }
}
