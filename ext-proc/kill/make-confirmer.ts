import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KillBoard } from './kill-board.ts'
import { verifyStates } from './verify-states.ts'

/** Kills received within this time are confirmed with a single read. */
const GATHER_MS = 100

interface ConfirmerParts {
  readonly killBoard: KillBoard
  readonly commands: RedisClient
}

/** Schedules a read that checks messages against the store. Until then, the messages are in force. */
export function makeConfirmer(parts: ConfirmerParts): () => void {
  let isDue = false
  const confirm = (): void => {
    isDue = false
    const pairs = parts.killBoard.toConfirm()
    // If the read fails, the resync after the lost connection repeats it.
    verifyStates(parts, pairs).catch(() => undefined)
  }
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(confirm, GATHER_MS)
  }
}
