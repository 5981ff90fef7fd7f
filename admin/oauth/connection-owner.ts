import type { Connection, Integration } from '../../core/catalogue/model.ts'
import type { GrantOwner } from '../../core/oauth/refresh-grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { ownerOfConnection } from '../../core/store/credential-binding.ts'
import { readRecord } from '../resources/records.ts'

export interface OwnedConnection {
  readonly connection: Connection
  readonly owner: GrantOwner
}

/** A connection with what its tokens are bound to; null if it or its integration is gone. */
export async function connectionOwner(
  redis: RedisClient,
  organization_id: string,
  connection_id: string,
): Promise<OwnedConnection | null> {
  const hash = REDIS_KEYS.connections(organization_id)
  const found = await readRecord<Connection>(redis, hash, connection_id)
  if (found === null) return null
  const { record: connection } = found
  const integrations = REDIS_KEYS.integrations(organization_id)
  const integration = await readRecord<Integration>(redis, integrations, connection.integration_id)
  if (integration === null) return null
  return {
    connection,
    owner: { ...ownerOfConnection(integration.record, connection), connection_id },
  }
}
