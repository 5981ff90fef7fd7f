import { chunksOf } from '../../core/system/chunks-of.ts'
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { entriesAfter } from '../../core/activity/entries-after.ts'
import { readLog } from '../../core/activity/read-log.ts'
import { takeRows } from '../../core/activity/take-rows.ts'
import { type ScopeKey, scopeKey } from '../../core/anomaly/anomaly-model.ts'
import type { ScopeScore } from '../../core/anomaly/anomaly-type.ts'
import { stepIncident } from '../../core/anomaly/incident.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { LogWatch } from '../context/log-watch.ts'
import type { RequestLoad } from '../context/request-load.ts'
import { AgentSettings, type AnalysedAgent, type AnalysedScope } from './agent-settings.ts'
import { type ActionTaken, anomalyEntry } from './anomaly-entry.ts'
import { AnomalyStore, ANALYSER_LEASE_MS, SCOPES_AT_ONCE } from './anomaly-store.ts'
import {
  agentsWithoutScope,
  OrganizationAnalysis,
  readPlaced,
  type StreamEntry,
} from './organization-analysis.ts'
import { BEGINNING, POSITION_FIELD } from './stored-scope.ts'

/** Rows per read, and how many of their entries are taken; the parser needs one or two milliseconds for them. */
const ROWS_MAX = 200
const ENTRIES_MAX = 300
const POLL_MS = 500
/** The lease and the list of organizations are renewed this often; in the meantime a round only asks each log for new rows. */
const RENEWAL_MS = ANALYSER_LEASE_MS / 5
/**
 * Between two rounds of storing all that changed, 8 kB a scope: rarely, since the log of a minute is soon read again. A
 * backlog is stored when it was read.
 */
const SAVE_INTERVAL_MS = 60_000
/** Edges write in batches, so scoring lags by this much. */
const ARRIVAL_MS = 1000
/** Older anomalies are only stored: they were read late, after a restart or at the first start. */
const ALERT_AGE_MAX_MS = 3_600_000
/** An agent is killed only for its current traffic. */
const KILL_AGE_MAX_MS = 120_000

export interface AnomalyParts {
  readonly redis: RedisClient
  /** The id of this process, for the log and the lease. */
  readonly name: string
  readonly log: Logger
  readonly now: () => Date
  readonly load: RequestLoad
  readonly logs: LogWatch
  /** Kills an agent; false if it does not exist. */
  readonly killAgent: (order: {
    readonly organization_id: string
    readonly agent_id: string
    readonly reason: string
  }) => Promise<boolean>
}

/**
 * Scores the traffic of all scopes in one admin process at a time, reports anomalies, and kills agents where a
 * scope says so. The learned state is stored. Returns the function that stops it.
 */
export function startAnomalyAnalyser(parts: AnomalyParts): () => Promise<void> {
  const stopped = new AbortController()
  const running = new Analyser(parts).run(stopped.signal)
  return async () => {
    stopped.abort()
    await running
  }
}

const KILL_REASON = 'Anomaly score'

/** Whether the analyser has already killed the agent for this incident. */
const isKilledFor = ({ kill_reason, killed_at }: AnalysedAgent, { at_ms }: ScopeScore): boolean =>
  kill_reason?.startsWith(KILL_REASON) === true &&
  Math.abs(Date.parse(killed_at ?? '') - at_ms) <= KILL_AGE_MAX_MS

const TAKEN_OVER = 'another process has taken over the analysis'

interface Analysed {
  readonly analysis: OrganizationAnalysis
  readonly settings: AgentSettings
}

class Analyser {
  readonly #parts: AnomalyParts
  readonly #store: AnomalyStore
  #organizations = new Map<string, Analysed>()
  #organization_ids: readonly string[] = []
  #held_ms = Number.NEGATIVE_INFINITY
  #save_ms = 0
  #is_behind = false

  constructor(parts: AnomalyParts) {
    this.#parts = parts
    this.#store = new AnomalyStore(parts.redis, `${parts.name}-${randomUUID()}`)
  }

  async run(stopped: AbortSignal): Promise<void> {
    let isWell = true
    while (!stopped.aborted) {
      let pause_ms = POLL_MS
      const { logs } = this.#parts
      const { mark } = logs
      try {
        if (!(await this.#holdsLease())) pause_ms = RENEWAL_MS
        else pause_ms = (await this.#round(stopped)) ? 0 : POLL_MS
        isWell = true
      } catch (error) {
        // Entries since the last stored state are read again, by this process or another.
        this.#organizations.clear()
        this.#held_ms = Number.NEGATIVE_INFINITY
        if (isWell && !stopped.aborted)
          this.#parts.log.warn({ err: error }, 'analysing traffic failed; it will be retried')
        isWell = false
        pause_ms = RENEWAL_MS
      }
      await logs.grown(mark, pause_ms, RENEWAL_MS, stopped)
      if (pause_ms === 0) await this.#parts.load.quiet()
    }
    await this.#end().catch(() => undefined)
  }

  async #holdsLease(): Promise<boolean> {
    if (performance.now() - this.#held_ms < RENEWAL_MS) return true
    const [lease, organization_ids] = await Promise.all([
      this.#store.hold(),
      this.#parts.redis.hkeys(REDIS_KEYS.organizations),
    ])
    // Another process may have stored state that this one has not read.
    if (lease !== 'renewed') this.#organizations.clear()
    if (lease === 'not ours') return false
    this.#held_ms = performance.now()
    this.#organization_ids = organization_ids
    for (const known of this.#organizations.keys())
      if (!this.#organization_ids.includes(known)) this.#organizations.delete(known)
    return true
  }

  /** Continues reading every log, scores, and stores the state periodically. Returns whether any log has more entries. */
  async #round(stopped: AbortSignal): Promise<boolean> {
    let has_more = false
    for (const organization_id of this.#organization_ids) {
      if (stopped.aborted) return false
      has_more = (await this.#readOn(organization_id)) || has_more
    }
    const now_ms = this.#parts.now().getTime()
    const has_caught_up = this.#is_behind && !has_more
    this.#is_behind = has_more
    if (has_caught_up || now_ms - this.#save_ms >= SAVE_INTERVAL_MS) {
      this.#save_ms = now_ms
      await this.#saveAll()
    }
    return has_more
  }

  /** A process that yields to many requests, or kills several agents in one round, may take longer than the lease lasts. */
  async #keepLease(): Promise<void> {
    if (performance.now() - this.#held_ms < RENEWAL_MS) return
    if ((await this.#store.hold()) !== 'renewed') throw new Error(TAKEN_OVER)
    this.#held_ms = performance.now()
  }

  async #readOn(organization_id: string): Promise<boolean> {
    const { redis, load } = this.#parts
    const { analysis, settings } = await this.#open(organization_id)
    const after = analysis.position
    const [time, read] = await Promise.all([
      redis.time(),
      readLog(redis, organization_id, after, ROWS_MAX),
    ])
    const rows = takeRows(read.rows, ENTRIES_MAX)
    const hasMore = rows.length < read.rows.length || read.has_more
    const entries: StreamEntry[] = []
    for (const placed of entriesAfter(after, rows)) {
      const entry = readPlaced(placed)
      if (entry !== null) entries.push(entry)
    }
    // The ids of the log come from the store's clock.
    const [seconds = 0, microseconds = 0] = time.map(Number)
    const now_ms = seconds * 1000 + microseconds / 1000
    await settings.load(agentsWithoutScope(entries), now_ms)
    const giveWay = async (): Promise<void> => {
      await load.quiet()
      await this.#keepLease()
    }
    await load.each(entries, (entry) => analysis.take(entry), giveWay)
    if (!hasMore) analysis.model.advance(now_ms - ARRIVAL_MS)
    const scores = analysis.takeScores()
    await settings.load(
      scores.map(({ agent_id }) => agent_id),
      now_ms,
    )
    for (const score of scores) await this.#judge(organization_id, score, now_ms - score.at_ms)
    return hasMore
  }

  async #open(organization_id: string): Promise<Analysed> {
    const known = this.#organizations.get(organization_id)
    if (known !== undefined) return known
    const settings = new AgentSettings(this.#parts.redis, organization_id)
    const isWatched = (agent_id: string, scope_id: string): boolean =>
      settings.of(agent_id).scopes.get(scope_id)?.anomaly_detection.enabled === true
    const stored = await this.#store.readPosition(organization_id)
    const analysis = new OrganizationAnalysis(stored, BEGINNING, isWatched)
    for await (const [key, scope] of this.#store.readScopes(organization_id))
      analysis.restore(key, scope)
    const opened = { analysis, settings }
    this.#organizations.set(organization_id, opened)
    return opened
  }

  /** The consequence of a score for the agent. */
  async #judge(organization_id: string, score: ScopeScore, age_ms: number): Promise<void> {
    const { analysis, settings } = await this.#open(organization_id)
    const key = scopeKey(score.agent_id, score.scope_id)
    const { agent, scopes, has_newer } = settings.of(score.agent_id)
    const scope = scopes.get(score.scope_id)
    if (agent === null || scope === undefined) {
      // What a newer version has stored is judged by a process of that version, and keeps what was learned.
      if (has_newer) return
      analysis.model.forget(score.agent_id, score.scope_id)
      analysis.incidents.delete(key)
      return
    }
    if (!scope.anomaly_detection.enabled) return
    const before = analysis.incidents.get(key) ?? null
    const step = stepIncident(before, score.score, score.at_ms, scope.anomaly_detection)
    if (step.incident === null) {
      analysis.incidents.delete(key)
      return
    }
    analysis.incidents.set(key, step.incident)
    if (step.action === null || age_ms > ALERT_AGE_MAX_MS) return
    const was_killed = agent.status === 'killed'
    // If a process ends between the kill and the event, its successor writes the event.
    const owes = was_killed && step.action === 'kill' && isKilledFor(agent, score)
    if (was_killed && !owes) return
    const kills = step.action === 'kill' && age_ms <= KILL_AGE_MAX_MS
    const killed = owes || (kills && (await this.#kill(organization_id, score)))
    if (step.action === 'kill' && !killed)
      analysis.incidents.set(key, { ...step.incident, killed: false })
    if (!killed && before !== null && step.incident.opened_ms === before.opened_ms) return
    await this.#tell(organization_id, key, {
      agent,
      scope,
      score,
      action: killed ? 'killed' : 'alert',
    })
  }

  async #kill(organization_id: string, { agent_id, score, types }: ScopeScore): Promise<boolean> {
    const { killAgent, log } = this.#parts
    // A kill waits for acknowledgements of the edges.
    await this.#keepLease()
    const reason = `${KILL_REASON} ${score}: ${types.join(', ')}`
    try {
      return await killAgent({ organization_id, agent_id, reason })
    } catch (error) {
      log.error(
        { err: error, organization_id, agent_id },
        'an automatic kill failed; it will be retried',
      )
      return false
    }
  }

  /** The event is written with the state that remembers it. */
  async #tell(
    organization_id: string,
    key: ScopeKey,
    {
      agent,
      scope,
      score,
      action,
    }: { agent: AnalysedAgent; scope: AnalysedScope; score: ScopeScore; action: ActionTaken },
  ): Promise<void> {
    const { analysis } = await this.#open(organization_id)
    const stored = analysis.stored(key)
    if (stored === null) return
    const entries = [anomalyEntry(agent, scope, score, action, this.#parts.now())]
    const saved = await this.#store.save(organization_id, { fields: [[key, stored]], entries })
    if (saved === 'lease_lost') throw new Error(TAKEN_OVER)
  }

  async #saveAll(): Promise<void> {
    for (const [organization_id, { analysis }] of this.#organizations) {
      const { saved, removed } = analysis.model.takeChanges()
      for (const some of chunksOf(saved, SCOPES_AT_ONCE)) {
        const fields: [ScopeKey, object][] = []
        for (const key of some) {
          const stored = analysis.stored(key)
          if (stored !== null) fields.push([key, stored])
        }
        await this.#save(organization_id, { fields })
        await this.#parts.load.quiet()
      }
      const fields = [[POSITION_FIELD, analysis.storedPosition()]] as const
      await this.#save(organization_id, { fields, removed })
    }
  }

  async #save(organization_id: string, saving: Parameters<AnomalyStore['save']>[1]): Promise<void> {
    const saved = await this.#store.save(organization_id, saving)
    if (saved === 'lease_lost') throw new Error(TAKEN_OVER)
  }

  async #end(): Promise<void> {
    try {
      await this.#saveAll()
    } finally {
      await this.#store.giveBack()
    }
  }
}
