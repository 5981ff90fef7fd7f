import type { Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { conflict, type Refusal } from '../http/outcome.ts'
import { INTEGRATIONS_LIMIT_BYTES } from './integration-schemas.ts'

/**
 * Whether an organization may have an integration in addition to its others. Every edge that an agent of the organization calls
 * holds all of them, so together they have a limit too. A change that makes one no larger is always allowed.
 * @param before the stored integration that is changed; null for a new one
 */
export async function checkIntegrationsTotal(
  redis: RedisClient,
  next: Integration,
  before: Integration | null,
): Promise<Refusal | null> {
  const growth = sizeOf(next) - (before === null ? 0 : sizeOf(before))
  if (growth <= 0) return null
  const hash = REDIS_KEYS.integrations(next.organization_id)
  const bytes = (await runScript(redis, 'hash-bytes', [hash], [])) as number
  if (bytes + growth <= INTEGRATIONS_LIMIT_BYTES) return null
  return conflict(
    'integrations_too_large',
    `The integrations of an organization have at most ${INTEGRATIONS_LIMIT_BYTES} bytes of JSON in all. Remove certificates or integrations, or use several organizations.`,
  )
}

const sizeOf = (integration: Integration): number => Buffer.byteLength(JSON.stringify(integration))
