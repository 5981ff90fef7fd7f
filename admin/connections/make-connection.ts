import { mintId } from '../../core/keys/api-key.ts'
import type { Connection, ConnectionSubject, Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { ownerOfConnection, type PlainAuth, sealAuth } from '../../core/store/credential-binding.ts'
import type { AdminCall } from '../http/define-route.ts'
import { conflict, invalid, notFound, type Refusal } from '../http/outcome.ts'
import { checkAuth, mayNameIn } from '../integrations/check-auth.ts'
import { warningsOfIntegration } from '../integrations/warnings-of-integration.ts'
import { needsConsent } from '../oauth/needs-consent.ts'
import { startConsent } from '../oauth/start-consent.ts'
import { isDryRun } from '../resources/dry-run.ts'
import { readRecord } from '../resources/records.ts'
import type { Made, Params } from '../resources/resource.ts'
import { checkConnectionsTotal } from './check-connections-total.ts'
import { checkSharedName } from './check-shared-name.ts'
import { CONNECTIONS_LIMIT, type NewConnection } from './connection-schemas.ts'

const AGENT = 'agent:'

export async function makeConnection(
  call: AdminCall<Params, unknown, NewConnection>,
): Promise<Made<Connection> | Refusal> {
  const { context, actor, body } = call
  const { redis, ring, now, egress, settings } = context
  const org = actor.organization_id
  const integration_id = call.params['integration_id'] ?? ''
  const subject = (body.subject ?? 'shared') as ConnectionSubject
  const agent_id = subject.startsWith(AGENT) ? subject.slice(AGENT.length) : null
  const integrations = REDIS_KEYS.integrations(org)
  const ofIntegration = REDIS_KEYS.integrationConnections(org, integration_id)
  const [integration, others, count, hasAgent] = await Promise.all([
    readRecord<Integration>(redis, integrations, integration_id),
    redis.hgetall(ofIntegration),
    redis.zcard(REDIS_KEYS.connectionIndex(org)),
    agent_id === null ? 1 : redis.hexists(REDIS_KEYS.agents(org), agent_id),
  ])
  if (integration === null) return notFound()
  const issues = checkAuth(body.auth as PlainAuth, mayNameIn(settings.secretRefs, org))
  if (hasAgent === 0) issues.push({ path: '/subject', message: 'no agent has this id' })
  if (issues.length > 0) return invalid(issues)
  const [taken] = Object.entries(others).find(([, other]) => other === subject) ?? []
  if (subject !== 'shared' && taken !== undefined)
    return conflict(
      'subject_taken',
      'There is a connection of this integration for this subject. Change or delete that one.',
      { connection_id: taken },
    )
  if (count >= CONNECTIONS_LIMIT)
    return conflict(
      'too_many_connections',
      `An organization has at most ${CONNECTIONS_LIMIT} connections.`,
    )
  const hasConsent = needsConsent(body.auth as PlainAuth)
  const plain: Connection = {
    connection_id: mintId('con'),
    organization_id: org,
    integration_id,
    name: body.name,
    subject,
    auth: body.auth as PlainAuth,
    status: hasConsent ? 'needs_consent' : 'active',
    granted_by: hasConsent ? null : actor.email,
    refreshed_at: null,
    created_at: now().toISOString(),
  }
  const { connection_id } = plain
  const named = await checkSharedName(redis, plain, others)
  if (named !== null) return named
  const owner = { ...ownerOfConnection(integration.record, plain), connection_id }
  const connection = { ...plain, auth: sealAuth(ring, owner) }
  const excess = await checkConnectionsTotal(redis, connection, null)
  if (excess !== null) return excess
  const asked = { connection, owner: { ...owner, auth: connection.auth } }
  const started = hasConsent && !isDryRun(call) ? await startConsent(context, actor, asked) : null
  if (started?.kind === 'refusal') return started
  return {
    kind: 'made',
    record: connection,
    guards: [
      // It is sealed for the origins that were read.
      ['HGET', integrations, integration_id, integration.text],
      ['HLEN', ofIntegration, '', String(Object.keys(others).length)],
      ...(agent_id === null ? [] : [['HGET', REDIS_KEYS.agents(org), agent_id, true] as const]),
    ],
    writes: [['HSET', ofIntegration, connection.connection_id, subject]],
    ...(started === null ? {} : { shown_once: { authorize_url: started.authorize_url } }),
    warnings: await warningsOfIntegration(egress, { ...integration.record, auth: connection.auth }),
  }
}
