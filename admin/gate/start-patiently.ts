import { COMMAND_TIMED_OUT } from '../../core/redis/store-client.ts'

const ATTEMPTS = 3

/**
 * Tries again to start when the store has not answered a command in time, as on a machine that starts everything at once.
 * @throws (rejects) with the error of the last attempt, or at once with any other error
 */
export async function startPatiently<T>(
  start: () => Promise<T>,
  onFailure: (message: string) => void,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      // From another thread, of which only the message comes.
      const message = error instanceof Error ? error.message : String(error)
      if (attempt === ATTEMPTS || !message.includes(COMMAND_TIMED_OUT)) throw error
      onFailure(message)
    }
  }
}
