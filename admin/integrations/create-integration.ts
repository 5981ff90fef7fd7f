import type { Static } from 'typebox'
import { mintId } from '../../core/api-key.ts'
import type { Integration } from '../../core/model.ts'
import { EPOCH } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import type { Call } from '../http/define-route.ts'
import { type Outcome, type Refusal, answer, conflict, invalid } from '../http/outcome.ts'
import { checkAuth } from './check-auth.ts'
import {
  INTEGRATIONS_LIMIT,
  INTEGRATION_DEFAULTS,
  type NewIntegration,
} from './integration-schemas.ts'
import { integrationView } from './integration-view.ts'
import { readBaseUrl } from './read-base-url.ts'

export async function createIntegration(
  call: Call<unknown, unknown, Static<typeof NewIntegration>>,
): Promise<Outcome> {
  const { context, actor, body } = call
  const { redis, ring, now } = context
  const org = actor.organization_id
  const parsed = readBaseUrl(body.base_url)
  const issues = checkAuth(body.auth)
  if (!parsed.ok) return invalid([parsed.issue, ...issues])
  if (issues.length > 0) return invalid(issues)
  const { base_url } = parsed.base
  const integration_id = mintId('int')
  const owner = { organization_id: org, integration_id, base_url, auth: body.auth }
  const integration: Integration = {
    ...INTEGRATION_DEFAULTS,
    ...body,
    ...owner,
    auth: sealAuth(ring, owner),
    created_at: now().toISOString(),
  }
  const [holder, count] = await Promise.all([
    redis.hget(REDIS_KEYS.integrationBaseUrls(org), base_url),
    redis.zcard(REDIS_KEYS.integrationIndex(org)),
  ])
  if (holder !== null) return sameBaseUrl(holder)
  if (count >= INTEGRATIONS_LIMIT)
    return conflict(
      'too_many_integrations',
      `An organization has at most ${INTEGRATIONS_LIMIT} integrations.`,
    )
  const view = integrationView(ring, integration)
  return {
    kind: 'plan',
    guards: [['HGET', REDIS_KEYS.integrationBaseUrls(org), base_url, false]],
    writes: [
      ['HSET', REDIS_KEYS.integrations(org), integration_id, JSON.stringify(integration)],
      ['ZADD', REDIS_KEYS.integrationIndex(org), EPOCH, integration_id],
      ['HSET', REDIS_KEYS.integrationBaseUrls(org), base_url, integration_id],
    ],
    targets: [{ what: 'integrations', organization_id: org }],
    audit: {
      action: 'integration.create',
      target: integration_id,
      before: null,
      after: view,
      integration_id,
    },
    answer: answer(201, view),
  }
}

export const sameBaseUrl = (integration_id: string): Refusal =>
  conflict(
    'base_url_taken',
    'Another integration has this base URL. Change that one, or use another base URL.',
    { integration_id },
  )
