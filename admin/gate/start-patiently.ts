import type { Logger } from 'pino'

const ATTEMPTS = 3

/**
 * Tries again to start when the store has not answered a command in time, as on a machine that starts everything at once.
 * @throws (rejects) with the error of the last attempt, or at once with any other error
 */
export async function startPatiently<T>(
  start: () => Promise<T>,
  log: Pick<Logger, 'warn'>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (attempt === ATTEMPTS || !message.includes('Command timed out')) throw error
      log.warn('the store did not answer in time; the admin service tries again to start')
    }
  }
}
