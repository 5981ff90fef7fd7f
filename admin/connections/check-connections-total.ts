import type { Connection } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { conflict, type Refusal } from '../http/outcome.ts'
import { CONNECTIONS_LIMIT_BYTES } from './connection-schemas.ts'

/** Whether an organization may have a connection in addition to its others, or in place of one of before. */
export async function checkConnectionsTotal(
  redis: RedisClient,
  next: Connection,
  before: Connection | null,
): Promise<Refusal | null> {
  const growth = sizeOf(next) - (before === null ? 0 : sizeOf(before))
  if (growth <= 0) return null
  const hash = REDIS_KEYS.connections(next.organization_id)
  const bytes = (await runScript(redis, 'hash-bytes', [hash], [])) as number
  return bytes + growth <= CONNECTIONS_LIMIT_BYTES
    ? null
    : conflict(
        'connections_too_large',
        `The connections of an organization have at most ${CONNECTIONS_LIMIT_BYTES} bytes of JSON in all. Delete some, or use several organizations.`,
      )
}

const sizeOf = (connection: Connection): number => Buffer.byteLength(JSON.stringify(connection))
