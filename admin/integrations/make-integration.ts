import type { Static } from 'typebox'
import { mintId } from '../../core/keys/api-key.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict, invalid } from '../http/outcome.ts'
import type { Made } from '../resources/resource.ts'
import { checkLabels } from '../labels/check-labels.ts'
import { integrationSelecting, labelChange } from '../labels/selected.ts'
import { checkAlsoHosts, completeAlsoHosts } from './check-also-hosts.ts'
import { checkOwnAuth, mayNameIn } from './check-auth.ts'
import { checkIntegrationsTotal } from './check-integrations-total.ts'
import { claimChanges, findTakenClaim } from './integration-claims.ts'
import {
  INTEGRATIONS_LIMIT,
  INTEGRATION_DEFAULTS,
  type NewIntegration,
} from './integration-schemas.ts'
import { readBaseUrl } from './read-base-url.ts'
import { setUpstream } from './set-upstream.ts'
import { warningsOfIntegration } from './warnings-of-integration.ts'

export async function makeIntegration(
  call: AdminCall<unknown, unknown, Static<typeof NewIntegration>>,
): Promise<Made<Integration> | Refusal> {
  const { context, actor, body } = call
  const { redis, ring, now, egress, settings } = context
  const org = actor.organization_id
  const parsed = readBaseUrl(body.base_url)
  const also_hosts = completeAlsoHosts(body.also_hosts)
  const issues = [
    ...checkOwnAuth(body.auth, mayNameIn(settings.secretRefs, org)),
    ...checkAlsoHosts({ ...body, also_hosts }),
    ...checkLabels(body.labels ?? {}),
  ]
  if (!parsed.ok) return invalid([parsed.issue, ...issues])
  if (issues.length > 0) return invalid(issues)
  const { base_url } = parsed.base
  const integration_id = mintId('int')
  const owner = { organization_id: org, integration_id, base_url, also_hosts, auth: body.auth }
  const connection = setUpstream(ring, owner, body.upstream ?? {}, null)
  if (!connection.ok) return invalid(connection.issues)
  const integration: Integration = {
    ...INTEGRATION_DEFAULTS,
    ...body,
    ...owner,
    upstream: connection.upstream,
    auth: sealAuth(ring, owner),
    created_at: now().toISOString(),
  }
  const warnings = await warningsOfIntegration(egress, integration)
  const claims = claimChanges(null, integration)
  const [taken, count] = await Promise.all([
    findTakenClaim(redis, claims),
    redis.zcard(REDIS_KEYS.integrationIndex(org)),
  ])
  if (taken !== null) return taken
  if (count >= INTEGRATIONS_LIMIT)
    return conflict(
      'too_many_integrations',
      `An organization has at most ${INTEGRATIONS_LIMIT} integrations.`,
    )
  const excess = await checkIntegrationsTotal(redis, integration, null)
  if (excess !== null) return excess
  const { guards, writes } = claims
  const selecting = await integrationSelecting(redis, org)
  const effects = labelChange(selecting, 'integration_selector', null, integration.labels ?? {})
  return { kind: 'made', record: integration, guards, writes, effects, warnings }
}
