import type { Connection } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { conflict, type Refusal } from '../http/outcome.ts'

/**
 * Scopes of a file name a shared connection, and nothing else tells two of one name apart.
 * @param subjects of all connections of the integration, by id
 */
export async function checkSharedName(
  redis: RedisClient,
  { organization_id, connection_id, name, subject }: Omit<Connection, 'auth'>,
  subjects: Readonly<Record<string, string>>,
): Promise<Refusal | null> {
  if (subject !== 'shared') return null
  const ids = Object.keys(subjects).filter(
    (id) => subjects[id] === 'shared' && id !== connection_id,
  )
  if (ids.length === 0) return null
  const texts = await redis.hmget(REDIS_KEYS.connections(organization_id), ...ids)
  // All of an organization have 4 MiB; few need to be parsed.
  const quoted = JSON.stringify(name)
  const taken = texts.findIndex(
    (text) => text?.includes(quoted) && (JSON.parse(text) as Connection).name === name,
  )
  return taken < 0
    ? null
    : conflict(
        'name_taken',
        'There is a shared connection of this integration with this name. Choose another one.',
        { connection_id: ids[taken] },
      )
}
