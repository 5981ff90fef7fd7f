import type { Logger } from 'pino'
import { raiseAlert } from '../alerts/raise-alert.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** Raises the alert about a secret that cannot be read any more. */
export const staleSecretAlert =
  (redis: RedisClient, log: Pick<Logger, 'warn'>) =>
  (organization_id: string, ref: string, ends: Date): void => {
    const expires_at = ends.toISOString()
    const cause = {
      about: `secret ${ref}`,
      kind: 'secret_unavailable',
      severity: 'high',
      title: `The secret ${ref} cannot be read. Its last value is used until ${expires_at}.`,
      occurrence: { ref, expires_at },
    } as const
    raiseAlert(redis, organization_id, cause, new Date()).catch((error: unknown) =>
      log.warn({ err: error }, 'an alert could not be raised'),
    )
  }
