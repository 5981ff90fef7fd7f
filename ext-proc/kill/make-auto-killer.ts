import type { KillMethod } from '../../core/kill/kill-record.ts'
import { publishKill } from '../../core/kill/publish-kill.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { waitForReplicas } from '../../core/redis/wait-for-replicas.ts'
import type { RestrictionBoard } from './restriction-board.ts'

/**
 * A kill that could not be written is retried until the store takes it, however long it is unavailable. After so many attempts,
 * some ten hours, an operator has long been alerted.
 */
const TRIES_LIMIT = 7_200
const RETRY_AFTER_MS = 500
const RETRY_AFTER_MAX_MS = 5_000
/** Agents whose kill is retried at the same time. */
const RETRIED_MAX = 1_000
const REPLICA_WAIT_MS = 500

export interface AutoKillOrder {
  readonly kill_method: Extract<KillMethod, `auto_${string}`>
  readonly reason: string
}

/** Kills an agent automatically. Returns whether the kill was written at the first attempt. */
export type AutoKiller = (agent: Agent, order: AutoKillOrder) => Promise<boolean>

interface AutoKillerParts {
  /** A separate connection, because a wait for replicas blocks later commands. */
  readonly redis: RedisClient
  readonly killBoard: RestrictionBoard
  readonly lease_ms: number
  readonly edge_id: string
  readonly nowMs: () => number
  readonly now: () => Date
  readonly log: { warn(data: object, message: string): void }
}

/** Concurrent requests for the same kill share one. A sweeper completes the counts and the event. */
export function makeAutoKiller(parts: AutoKillerParts): AutoKiller {
  const underWay = new Map<string, Promise<boolean>>()
  return (agent, order) => {
    const { organization_id, agent_id } = agent
    if (parts.killBoard.killedAt(organization_id, agent_id) !== null) return Promise.resolve(true)
    const key = `${organization_id} ${agent_id}`
    const known = underWay.get(key)
    if (known !== undefined) return known
    const attempt = kill(parts, agent, order)
    const first = attempt.then((outcome) => outcome === 'killed')
    underWay.set(key, first)
    void attempt
      .then((outcome) =>
        outcome === 'failed' && underWay.size <= RETRIED_MAX
          ? insist(parts, agent, order)
          : undefined,
      )
      .finally(() => underWay.delete(key))
    return first
  }
}

/** `needless`: the agent is killed or was deleted. */
type KillOutcome = 'killed' | 'needless' | 'failed'

async function kill(
  parts: AutoKillerParts,
  agent: Agent,
  order: AutoKillOrder,
): Promise<KillOutcome> {
  const { redis, edge_id, log, killBoard } = parts
  const { organization_id, agent_id } = agent
  try {
    const killed = await publishKill(parts, {
      organization_id,
      agent_id,
      ...order,
      notify: [],
      actor: { email: 'system', token_id: null, source_ip: null, request_id: null, edge_id },
      own_finish_ms: 0,
    })
    if (killed === null) return 'needless'
    const { revision, killed_at } = killed.record
    // In force on this edge immediately. The message that ends the calls in flight follows.
    killBoard.receive(organization_id, agent_id, { revision, killed_at })
    log.warn({ organization_id, agent_id, ...order }, 'an agent was killed automatically')
    void waitForReplicas(redis, REPLICA_WAIT_MS).catch(() => undefined)
    return 'killed'
  } catch (error) {
    log.warn(
      { organization_id, agent_id, ...order, error: String(error) },
      'an automatic kill could not be written',
    )
    return 'failed'
  }
}

async function insist(parts: AutoKillerParts, agent: Agent, order: AutoKillOrder): Promise<void> {
  for (let tries = 1; tries < TRIES_LIMIT; tries++) {
    const pause_ms = Math.min(tries * RETRY_AFTER_MS, RETRY_AFTER_MAX_MS)
    await new Promise((resolve) => setTimeout(resolve, pause_ms))
    // Somebody else may have killed it.
    if (parts.killBoard.killedAt(agent.organization_id, agent.agent_id) !== null) return
    if ((await kill(parts, agent, order)) !== 'failed') return
  }
}
