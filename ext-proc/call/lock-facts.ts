import type { LockFacts } from '../../core/decision/admission-facts.ts'
import type { RestrictionBoard } from '../kill/restriction-board.ts'

export interface LockServices {
  readonly killBoard: Pick<RestrictionBoard, 'locksOf'>
  readonly nowMs: () => number
}

/**
 * The locks that may concern calls of an organization, which was read before. Called when the call is registered as in flight: a lock
 * from before is among them, and a later one finds the call.
 */
export function lockFacts(
  { killBoard, nowMs }: LockServices,
  organization_id: string,
): LockFacts | null {
  const table = killBoard.locksOf(organization_id)
  return table === null ? null : { table, at_ms: nowMs() }
}
