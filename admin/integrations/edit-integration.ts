import type { Static } from 'typebox'
import { secretMembers } from '../../core/credential/catalogue.ts'
import type { Integration } from '../../core/model.ts'
import { parseBaseUrl } from '../../core/policy/parse-base-url.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, invalid } from '../http/outcome.ts'
import type { Edited, View } from '../resources/resource.ts'
import { checkAlsoHosts, completeAlsoHosts } from './check-also-hosts.ts'
import { checkAuth } from './check-auth.ts'
import { checkIntegrationsTotal } from './check-integrations-total.ts'
import type { EditableIntegration } from './integration-schemas.ts'
import { sameBaseUrl } from './make-integration.ts'
import { readBaseUrl } from './read-base-url.ts'
import { setUpstream } from './set-upstream.ts'
import { warningsOfIntegration } from './warnings-of-integration.ts'

/**
 * `auth` is replaced as a whole. A base URL with a new origin requires `auth`, so that a stored secret cannot be sent
 * elsewhere without knowing it (threat model, rule 4).
 */
export async function editIntegration({
  call: { context, actor },
  record: current,
  value,
  patch,
}: {
  readonly call: AdminCall
  readonly record: Integration
  readonly value: Static<typeof EditableIntegration>
  readonly patch: View
}): Promise<Edited<Integration> | Refusal> {
  const { redis, ring, egress } = context
  const parsed = readBaseUrl(value.base_url)
  if (!parsed.ok) return invalid([parsed.issue])
  const { auth, upstream, ...rest } = { ...value, also_hosts: completeAlsoHosts(value.also_hosts) }
  const issues = [...(auth === undefined ? [] : checkAuth(auth)), ...checkAlsoHosts(rest)]
  if (issues.length > 0) return invalid(issues)
  const was = parseBaseUrl(current.base_url)
  const stays = was.ok && was.base.origin === parsed.base.origin
  // Without a secret, `auth` cannot send anything elsewhere.
  const is_secretless = patch['auth'] !== undefined && secretMembers(current.auth.type).length === 0
  if (auth === undefined && !stays && !is_secretless)
    return invalid([
      { path: '/auth', message: 'is required in the same request if base_url has a new origin' },
    ])
  const { base_url } = parsed.base
  const connection = setUpstream(ring, { ...current, base_url }, upstream, current)
  if (!connection.ok) return invalid(connection.issues)
  const moved: Integration = { ...current, ...rest, base_url, upstream: connection.upstream }
  const updated =
    auth === undefined ? moved : { ...moved, auth: sealAuth(ring, { ...moved, auth }) }
  const excess = await checkIntegrationsTotal(redis, updated, current)
  if (excess !== null) return excess
  const extra = {
    note: {
      ...(auth === undefined ? {} : { auth_replaced: true }),
      ...(upstream.client_key === undefined ? {} : { client_key_replaced: true }),
    },
    warnings: await warningsOfIntegration(egress, updated),
  }
  if (base_url === current.base_url) return { kind: 'edited', record: updated, ...extra }
  const base_urls = REDIS_KEYS.integrationBaseUrls(actor.organization_id)
  const holder = await redis.hget(base_urls, base_url)
  if (holder !== null) return sameBaseUrl(holder)
  return {
    kind: 'edited',
    record: updated,
    guards: [['HGET', base_urls, base_url, false]],
    writes: [
      ['HDEL', base_urls, current.base_url],
      ['HSET', base_urls, base_url, updated.integration_id],
    ],
    ...extra,
  }
}
