import { setTimeout as wait } from 'node:timers/promises'
import { restoreState, tellLostAgent } from '../../core/kill/restore-state.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { AgentKillState } from './restriction-board.ts'

/**
 * An admin process creates the first organization of an empty store within seconds, and an unavailable store usually returns.
 * After these attempts, the next lost connection starts them again.
 */
const TRIES_MAX = 20
const TRY_AGAIN_MS = 1_000
/** Agents already reported as lost, so that each is reported once; far more than a deployment kills. */
const TOLD_MAX = 100_000

interface RestorerParts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly edge_id: string
  readonly now: () => Date
  readonly log: { warn(data: object, message: string): void }
}

/**
 * Handles a state that the store has lost: it is restored, with one write per agent at a time. An agent that is missing
 * completely is reported, unless it was deleted.
 */
export function makeRestorer(parts: RestorerParts): (lost: AgentKillState) => void {
  const underWay = new Set<string>()
  const told = new Set<string>()
  return (lost) => {
    const { organization_id, agent_id, revision, killed_at } = lost
    const key = `${organization_id} ${agent_id}`
    if (underWay.has(key)) return
    underWay.add(key)
    const facts = { organization_id, agent_id, revision, killed_at }
    const restore = async (): Promise<'done' | 'later'> => {
      const outcome = await restoreState(parts, lost, lost, parts.edge_id)
      if (outcome === 'restored')
        parts.log.warn(facts, 'the store had lost the state of an agent; this edge restored it')
      if (outcome !== 'absent' || killed_at === null || told.has(key)) return 'done'
      const tell = await tellLostAgent(parts, lost, killed_at, parts.edge_id)
      if (tell === 'no_organization') return 'later'
      if (tell === 'told')
        parts.log.warn(facts, 'the store has lost a killed agent; this edge keeps refusing it')
      if (told.size >= TOLD_MAX) told.clear()
      told.add(key)
      return 'done'
    }
    void insist(restore, (error) =>
      parts.log.warn(
        { ...facts, error: String(error) },
        'the store has lost the state of an agent and restoring it failed; this edge keeps its own state',
      ),
    ).finally(() => underWay.delete(key))
  }
}

export async function insist(
  attempt: () => Promise<'done' | 'later'>,
  onError: (error: unknown) => void,
): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const outcome = await attempt().catch(onError)
    if (outcome === 'done') return
    await wait(TRY_AGAIN_MS)
  }
}
