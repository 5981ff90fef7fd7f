import type { Connection } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { forgetGrant } from '../changes/connection-writes.ts'
import { conflict, type Refusal } from '../http/outcome.ts'
import type { Removed } from '../resources/resource.ts'

/** Calls by a scope that names it would be refused, so such a scope is changed first. */
export async function removeConnection(
  { context: { redis } }: AdminCall,
  { organization_id: org, integration_id, connection_id }: Connection,
): Promise<Removed<Connection> | Refusal> {
  const users = REDIS_KEYS.connectionScopes(org, connection_id)
  const scopes = await redis.hkeys(users)
  if (scopes.length > 0)
    return conflict(
      'in_use',
      'Scopes name this connection. Change or delete them first, or set its status to revoked.',
      { scopes: scopes.slice(0, SHOWN_SCOPES) },
    )
  return {
    kind: 'removed',
    guards: [['HLEN', users, '', '0']],
    writes: [
      ['HDEL', REDIS_KEYS.integrationConnections(org, integration_id), connection_id],
      ['HDEL', REDIS_KEYS.connectionLastUsed(org), connection_id],
      ...forgetGrant(org, connection_id),
    ],
  }
}

const SHOWN_SCOPES = 20
