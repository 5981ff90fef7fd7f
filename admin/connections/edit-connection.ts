import type { Static } from 'typebox'
import type { Connection, Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { ownerOfConnection, type PlainAuth, sealAuth } from '../../core/store/credential-binding.ts'
import type { AdminCall } from '../http/define-route.ts'
import { invalid, notFound, type Refusal } from '../http/outcome.ts'
import { checkAuth, mayNameIn } from '../integrations/check-auth.ts'
import { warningsOfIntegration } from '../integrations/warnings-of-integration.ts'
import { forgetGrant } from '../changes/connection-writes.ts'
import { needsConsent } from '../oauth/needs-consent.ts'
import { readRecord } from '../resources/records.ts'
import type { Edited, View } from '../resources/resource.ts'
import { checkConnectionsTotal } from './check-connections-total.ts'
import { checkSharedName } from './check-shared-name.ts'
import type { EditableConnection } from './connection-schemas.ts'

/** A new credential makes the connection active, unless the request says otherwise. */
export async function editConnection({
  call: { context, actor },
  record: current,
  value,
  patch,
}: {
  readonly call: AdminCall
  readonly record: Connection
  readonly value: Static<typeof EditableConnection>
  readonly patch: View
}): Promise<Edited<Connection> | Refusal> {
  const { redis, ring, egress, settings } = context
  const { name, auth } = value
  const asked = patch['status'] === undefined && auth !== undefined ? 'active' : value.status
  if (asked !== current.status && asked !== 'active' && asked !== 'revoked')
    return invalid([{ path: '/status', message: 'can only be set to active and revoked' }])
  const consents = needsConsent(auth ?? current.auth)
  if (consents && asked === 'active' && (patch['status'] ?? current.status) !== current.status)
    return invalid([{ path: '/status', message: 'becomes active by consent alone' }])
  // New endpoints, or another client: what was consented to before is not theirs.
  const status = consents && auth !== undefined ? 'needs_consent' : asked
  const renamed: Connection = { ...current, name, status }
  const { organization_id, integration_id } = current
  if (name !== current.name) {
    const others = REDIS_KEYS.integrationConnections(organization_id, integration_id)
    const refused = await checkSharedName(redis, renamed, await redis.hgetall(others))
    if (refused !== null) return refused
  }
  const writes =
    status === 'active' ? [] : forgetGrant(current.organization_id, current.connection_id)
  if (auth === undefined) return { kind: 'edited', record: renamed, writes }
  const issues = checkAuth(auth as PlainAuth, mayNameIn(settings.secretRefs, organization_id))
  if (issues.length > 0) return invalid(issues)
  const integrations = REDIS_KEYS.integrations(organization_id)
  const integration = await readRecord<Integration>(redis, integrations, integration_id)
  if (integration === null) return notFound()
  const granted_by = consents ? null : actor.email
  const plain = { ...renamed, auth: auth as PlainAuth, granted_by, refreshed_at: null }
  const sealed = sealAuth(ring, ownerOfConnection(integration.record, plain))
  const updated: Connection = { ...plain, auth: sealed }
  const excess = await checkConnectionsTotal(redis, updated, current)
  if (excess !== null) return excess
  return {
    kind: 'edited',
    record: updated,
    writes,
    guards: [['HGET', integrations, integration_id, integration.text]],
    note: { auth_replaced: true },
    warnings: await warningsOfIntegration(egress, { ...integration.record, auth: sealed }),
  }
}
