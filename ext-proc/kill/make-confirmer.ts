import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KillBoard } from './kill-board.ts'
import { verifyStates } from './verify-states.ts'

/** Kills that are heard within this time are confirmed by one read. */
const GATHER_MS = 100

interface ConfirmerParts {
  readonly killBoard: KillBoard
  readonly commands: RedisClient
}

/** Asks the store soon whether it has what messages have said; until it answers, what they said holds. */
export function makeConfirmer(parts: ConfirmerParts): () => void {
  let isDue = false
  const confirm = (): void => {
    isDue = false
    const pairs = parts.killBoard.unconfirmed()
    // What cannot be read now is read by the resync that follows every lost connection.
    verifyStates(parts, pairs).catch(() => undefined)
  }
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(confirm, GATHER_MS)
  }
}
