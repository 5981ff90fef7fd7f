import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KillBoard } from './kill-board.ts'
import { verifyStates } from './verify-states.ts'

const TRY_AGAIN_MS = 500

interface VerifierParts {
  readonly killBoard: KillBoard
  readonly commands: RedisClient
}

/**
 * Compares all that this edge knows of kills with the store, which may be another one since the connection was lost;
 * as often as it takes, since the connection for commands may come back later than the one that asks for this.
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
        return
      } catch (error) {
        log.warn({ error: String(error) }, 'comparing the store with the known kills failed')
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
      }
    }
  }
  return () => void verify(++wanted)
}
