import type { ConnectionStatus } from '../catalogue/model.ts'
import type { CredentialCause } from '../token/credential-cause.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { changeConnection } from './change-connection.ts'
import { dueMember, type GrantPlace, swapGrant } from './grant-store.ts'

/**
 * Removes the tokens of a connection, so that nothing tries them again, and says in its status why. The log entry raises the alert.
 * @param text the grant as it was read
 * @returns false, and changes nothing, if the grant has changed meanwhile
 */
export async function endGrant(
  parts: { readonly redis: RedisClient; readonly lease_ms: number },
  place: GrantPlace,
  text: string,
  status: ConnectionStatus,
  ended_by: CredentialCause,
): Promise<boolean> {
  const { organization_id, connection_id } = place
  const grants = REDIS_KEYS.grants(organization_id)
  const changed = await changeConnection(parts, place, {
    members: { status, ended_by },
    guards: [['HGET', grants, connection_id, text]],
    writes: [
      ['HDEL', grants, connection_id],
      ['ZREM', REDIS_KEYS.grantsDue, dueMember(place)],
    ],
    by: {
      timestamp: new Date().toISOString(),
      email: null,
      source_ip: null,
      request_id: null,
    },
  })
  if (changed !== null) return true
  // A connection that is gone has no status.
  return (await swapGrant(parts.redis, place, text, null)) !== null
}
