import { restoreState } from '../../core/kill/restore-state.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { LostState } from './kill-board.ts'

interface RestorerParts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly edge_id: string
  readonly now: () => Date
  readonly log: { warn(data: object, message: string): void }
}

/** What to do about a state that the store had and has no longer: it is written back, one write an agent at a time. */
export function makeRestorer(parts: RestorerParts): (lost: LostState) => void {
  const underWay = new Set<string>()
  return (lost) => {
    const { organization_id, agent_id, revision, killed_at } = lost
    const key = `${organization_id} ${agent_id}`
    if (underWay.has(key)) return
    underWay.add(key)
    const facts = { organization_id, agent_id, revision, killed_at }
    restoreState(parts, lost, lost, parts.edge_id)
      .then(
        (isWritten) => {
          if (isWritten)
            parts.log.warn(facts, 'the store had lost the state of an agent; it was written back')
        },
        (error: unknown) =>
          parts.log.warn(
            { ...facts, error: String(error) },
            'the store has lost the state of an agent, and it could not be written back; this edge keeps to it',
          ),
      )
      .finally(() => underWay.delete(key))
  }
}
