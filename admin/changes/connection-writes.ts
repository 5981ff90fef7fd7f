import type { Scope } from '../../core/catalogue/model.ts'
import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'

/** Removes connections with all that is kept of them, and of the scopes that name them. */
export const removeConnections = (
  org: string,
  connections: readonly (readonly [connection_id: string, integration_id: string])[],
): Write[] =>
  connections.flatMap(([connection_id, integration_id]): Write[] => [
    ['HDEL', REDIS_KEYS.connections(org), connection_id],
    ['ZREM', REDIS_KEYS.connectionIndex(org), connection_id],
    ['HDEL', REDIS_KEYS.connectionLastUsed(org), connection_id],
    ...forgetGrant(org, connection_id),
    ['HDEL', REDIS_KEYS.integrationConnections(org, integration_id), connection_id],
    ['DEL', REDIS_KEYS.connectionScopes(org, connection_id)],
  ])

/** Of a scope that is deleted, or that names another connection from now on. */
export const forgetScopeConnection = ({
  organization_id,
  scope_id,
  connection_id = null,
}: Pick<Scope, 'organization_id' | 'scope_id' | 'connection_id'>): Write[] =>
  connection_id === null
    ? []
    : [['HDEL', REDIS_KEYS.connectionScopes(organization_id, connection_id), scope_id]]

/** The tokens of a connection. */
export const forgetGrant = (org: string, connection_id: string): Write[] => [
  ['HDEL', REDIS_KEYS.grants(org), connection_id],
  ['ZREM', REDIS_KEYS.grantsDue, `${org} ${connection_id}`],
]
