import type { Write } from '../../core/change/commit.ts'
import { changeConnection } from '../../core/oauth/change-connection.ts'
import type { Grant } from '../../core/oauth/grant.ts'
import { readGrant } from '../../core/oauth/grant-store.ts'
import { revokeTokens } from '../../core/oauth/revoke-token.ts'
import type { RevocationResult } from '../../core/kill/revocations.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import { forgetGrant } from '../changes/connection-writes.ts'
import { waitForEdges } from '../changes/wait-for-edges.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { OwnedConnection } from './connection-owner.ts'

/** An edge may renew the tokens at the same moment. */
const TRIES_LIMIT = 5

/**
 * Ends a connection here, so that no edge uses it any more, and returns the tokens that it had.
 * @param by null: the gateway itself, after a kill
 * @param keep what else is written, of the grant that is removed
 * @throws if the store is unavailable
 */
export async function endConnection(
  { redis, settings, now, clock }: Pick<AdminContext, 'redis' | 'settings' | 'now' | 'clock'>,
  { connection, owner }: OwnedConnection,
  by: { readonly actor: Actor; readonly request_id: string } | null,
  keep: (grant: Grant, now_ms: number) => readonly Write[] = () => [],
) {
  const { organization_id, connection_id, integration_id, status } = connection
  const grants = REDIS_KEYS.grants(organization_id)
  const audit = {
    action: 'connection.end' as const,
    target: connection_id,
    before: { status },
    after: { status: 'revoked' },
    integration_id,
  }
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const { grant, text, now_ms } = await readGrant(redis, owner)
    const committed = await changeConnection({ redis, lease_ms: settings.killLease_ms }, owner, {
      members: { status: 'revoked' },
      guards: [['HGET', grants, connection_id, grant === null ? false : text]],
      writes: [
        ...forgetGrant(organization_id, connection_id),
        ...(grant === null ? [] : keep(grant, now_ms)),
      ],
      ...(by === null ? {} : { entries: [auditEntry(audit, { ...by, time: clock.now() })] }),
      by: {
        timestamp: now().toISOString(),
        email: by?.actor.email ?? null,
        source_ip: by?.actor.source_ip ?? null,
        request_id: by?.request_id ?? null,
      },
    })
    if (committed !== null) return { grant, committed }
  }
  return null
}

/** Ends a connection here first, and then its tokens at the provider. */
export async function revokeConnection(
  context: AdminContext,
  owned: OwnedConnection,
  by: { readonly actor: Actor; readonly request_id: string },
): Promise<RevocationResult> {
  const started_ms = context.nowMs()
  const ended = await endConnection(context, owned, by)
  if (ended === null) return 'failed'
  const { grant, committed } = ended
  const [result] = await Promise.all([
    grant === null
      ? ('unsupported' as const)
      : revokeTokens({ ...context, egress: context.tokenEgress }, owned.owner, grant),
    waitForEdges(context, committed, started_ms),
  ])
  return result
}
