import type { RedisClient } from '../../core/redis/run-script.ts'
import type { RestrictionBoard } from './restriction-board.ts'
import { verifyLocks } from './verify-locks.ts'
import { verifyStates } from './verify-states.ts'

const TRY_AGAIN_MS = 500

interface VerifierParts {
  readonly killBoard: RestrictionBoard
  readonly commands: RedisClient
}

/**
 * Compares everything that this edge knows about kills and locks with the store, which may be a different one after a lost connection. It
 * retries until it succeeds, because the command connection may return later than the subscription that triggers this.
 */
export function makeVerifier(
  parts: VerifierParts,
  log: { warn(data: object, message: string): void },
): () => void {
  let wanted = 0
  const verify = async (number: number): Promise<void> => {
    while (number === wanted) {
      try {
        await verifyStates(parts, parts.killBoard.all())
        await verifyLocks(parts, parts.killBoard.allLocks())
        return
      } catch (error) {
        log.warn({ error: String(error) }, 'comparing the store with the known kills failed')
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
      }
    }
  }
  return () => void verify(++wanted)
}
