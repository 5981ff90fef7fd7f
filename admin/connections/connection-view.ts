import type { Connection, Integration } from '../../core/catalogue/model.ts'
import type { Grant } from '../../core/oauth/grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { ownerOfConnection } from '../../core/store/credential-binding.ts'
import { CREDENTIAL_CAUSES, type CredentialCause } from '../../core/token/credential-cause.ts'
import type { AdminCall } from '../http/define-route.ts'
import { authView } from '../integrations/integration-view.ts'
import { readRecords } from '../resources/records.ts'
import type { View } from '../resources/resource.ts'

/** Connections as the API shows them. Without their integration, their secrets do not open and show as null. */
export async function connectionViews(
  { context: { redis, ring }, actor: { organization_id: org } }: AdminCall,
  connections: readonly Connection[],
): Promise<View[]> {
  if (connections.length === 0) return []
  const ids = [...new Set(connections.map(({ integration_id }) => integration_id))]
  const all = connections.map(({ connection_id }) => connection_id)
  const [integrations, lastUsed, grants] = await Promise.all([
    readRecords<Integration>(redis, REDIS_KEYS.integrations(org), ids),
    redis.hmget(REDIS_KEYS.connectionLastUsed(org), ...all),
    redis.hmget(REDIS_KEYS.grants(org), ...all),
  ])
  return connections.map((connection, i) => {
    const { organization_id, integration_id, auth: _, ended_by = null, ...shown } = connection
    const text = grants[i]
    const grant = text == null ? null : (JSON.parse(text) as Grant)
    const cause = (grant === null ? ended_by : grant.last_error) as CredentialCause | null
    const integration = integrations[ids.indexOf(integration_id)]
    const owner = integration ?? { organization_id, integration_id, base_url: '' }
    const used = lastUsed[i]
    return {
      integration_id,
      ...shown,
      auth: authView(ring, ownerOfConnection(owner, connection)),
      ...(grant === null ? {} : { refreshed_at: new Date(grant.issued_ms).toISOString() }),
      last_error: cause === null ? null : CREDENTIAL_CAUSES[cause],
      last_used_at: used == null ? null : new Date(Number(used)).toISOString(),
    }
  })
}
