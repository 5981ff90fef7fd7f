import type { RedisClient } from '../../core/redis/run-script.ts'
import type { RestrictionBoard } from './restriction-board.ts'
import { verifyLocks } from './verify-locks.ts'
import { verifyStates } from './verify-states.ts'

/** Kills received within this time are confirmed with a single read. */
const GATHER_MS = 100

interface ConfirmerParts {
  readonly killBoard: RestrictionBoard
  readonly commands: RedisClient
}

/** Schedules a read that checks messages against the store. Until then, the messages are in force. */
export function makeConfirmer(parts: ConfirmerParts): () => void {
  let isDue = false
  const confirm = (): void => {
    isDue = false
    const { killBoard } = parts
    // If a read fails, the resync after the lost connection repeats it.
    verifyStates(parts, killBoard.toConfirm()).catch(() => undefined)
    verifyLocks(parts, killBoard.locksToConfirm()).catch(() => undefined)
  }
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(confirm, GATHER_MS)
  }
}
