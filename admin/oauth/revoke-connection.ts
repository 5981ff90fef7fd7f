import { changeConnection } from '../../core/oauth/change-connection.ts'
import { dueMember, readGrant } from '../../core/oauth/grant-store.ts'
import { type Revocation, revokeTokens } from '../../core/oauth/revoke-token.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import { waitForEdges } from '../changes/wait-for-edges.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { OwnedConnection } from './connection-owner.ts'

type Needed = Pick<
  AdminContext,
  | 'redis'
  | 'ring'
  | 'settings'
  | 'tokenEgress'
  | 'now'
  | 'nowMs'
  | 'clock'
  | 'acknowledgements'
  | 'log'
>

/**
 * Ends a connection here first, so that no edge uses it, and then its tokens at the provider.
 * @param by null: the gateway itself, after a kill
 */
export async function revokeConnection(
  context: AdminContext | Needed,
  { connection, owner }: OwnedConnection,
  by: { readonly actor: Actor; readonly request_id: string } | null,
): Promise<Revocation> {
  const { redis, ring, settings, tokenEgress, now } = context
  const { organization_id, connection_id, integration_id, status } = connection
  const grants = REDIS_KEYS.grants(organization_id)
  const { grant } = await readGrant(redis, owner)
  const audit = {
    action: 'connection.end' as const,
    target: connection_id,
    before: { status },
    after: { status: 'revoked' },
    integration_id,
  }
  const committed = await changeConnection({ redis, lease_ms: settings.killLease_ms }, owner, {
    members: { status: 'revoked' },
    guards: [],
    writes: [
      ['HDEL', grants, connection_id],
      ['ZREM', REDIS_KEYS.grantsDue, dueMember(owner)],
    ],
    ...(by === null ? {} : { entries: [auditEntry(audit, { ...by, time: context.clock.now() })] }),
    by: {
      timestamp: now().toISOString(),
      email: by?.actor.email ?? null,
      source_ip: by?.actor.source_ip ?? null,
      request_id: by?.request_id ?? null,
    },
  })
  const started_ms = context.nowMs()
  const [result] = await Promise.all([
    grant === null ? ('unsupported' as const) : revokeTokens(tokenEgress, ring, owner, grant),
    committed === null ? null : waitForEdges(context as AdminContext, committed, started_ms),
  ])
  return result
}
