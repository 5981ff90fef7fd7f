import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { secretMembers } from '../../core/credential/catalogue.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import type { Guard } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { parseBaseUrl } from '../../core/request/parse-base-url.ts'
import { originsWithCredential } from '../../core/decision/also-hosts.ts'
import { resealAuth, sealAuth } from '../../core/store/credential-binding.ts'
import type { AdminCall } from '../http/define-route.ts'
import { conflict, type Refusal, invalid } from '../http/outcome.ts'
import type { Edited, View } from '../resources/resource.ts'
import { checkLabels } from '../labels/check-labels.ts'
import { integrationSelecting, labelChange } from '../labels/selected.ts'
import { checkAlsoHosts, completeAlsoHosts } from './check-also-hosts.ts'
import { checkOwnAuth, mayNameIn } from './check-auth.ts'
import { checkIntegrationsTotal } from './check-integrations-total.ts'
import { claimChanges, findTakenClaim } from './integration-claims.ts'
import type { EditableIntegration } from './integration-schemas.ts'
import { readBaseUrl } from './read-base-url.ts'
import { setUpstream } from './set-upstream.ts'
import { warningsOfIntegration } from './warnings-of-integration.ts'

/**
 * `auth` is replaced as a whole. A base URL with a new origin requires `auth`, so that a stored secret cannot be sent
 * elsewhere without knowing it (threat model, rule 4).
 */
export async function editIntegration({
  call: { context },
  record: current,
  value,
  patch,
}: {
  readonly call: AdminCall
  readonly record: Integration
  readonly value: Static<typeof EditableIntegration>
  readonly patch: View
}): Promise<Edited<Integration> | Refusal> {
  const { redis, ring, egress, settings } = context
  const parsed = readBaseUrl(value.base_url)
  if (!parsed.ok) return invalid([parsed.issue])
  const { auth, upstream, ...rest } = { ...value, also_hosts: completeAlsoHosts(value.also_hosts) }
  const issues = [
    ...(auth === undefined
      ? []
      : checkOwnAuth(auth, mayNameIn(settings.secretRefs, current.organization_id))),
    ...checkAlsoHosts(rest),
    ...checkLabels(rest.labels),
  ]
  if (issues.length > 0) return invalid(issues)
  const was = parseBaseUrl(current.base_url)
  const stays = was.ok && was.base.origin === parsed.base.origin
  // Without a secret, `auth` cannot send anything elsewhere.
  const is_secretless = patch['auth'] !== undefined && secretMembers(current.auth.type).length === 0
  if (auth === undefined && !stays && !is_secretless) return authNeeded('base_url has a new origin')
  const { base_url } = parsed.base
  const connection = setUpstream(ring, { ...current, base_url }, upstream, current)
  if (!connection.ok) return invalid(connection.issues)
  const moved: Integration = { ...current, ...rest, base_url, upstream: connection.upstream }
  if (auth === undefined && !is_secretless && hasNewCredentialHost(moved, current))
    return authNeeded('an entry of also_hosts with credential: true is new or changed')
  const isBoundAsBefore =
    originsWithCredential(moved).length === originsWithCredential(current).length
  const kept = isBoundAsBefore ? current.auth : resealAuth(ring, current, moved)
  const sealed = auth === undefined ? kept : sealAuth(ring, { ...moved, auth })
  if (sealed === null) return authNeeded('the stored credential cannot be decrypted')
  const updated: Integration = { ...moved, auth: sealed }
  const bound = await checkBoundConnections(redis, updated, current)
  if (bound.kind === 'refusal') return bound
  const excess = await checkIntegrationsTotal(redis, updated, current)
  if (excess !== null) return excess
  const extra = {
    note: {
      ...(auth === undefined ? {} : { auth_replaced: true }),
      ...(upstream.client_key === undefined ? {} : { client_key_replaced: true }),
    },
    warnings: await warningsOfIntegration(egress, updated),
    effects: isDeepStrictEqual(current.labels ?? {}, rest.labels)
      ? null
      : labelChange(
          await integrationSelecting(redis, current.organization_id),
          'integration_selector',
          current.labels ?? {},
          rest.labels,
        ),
  }
  const claims = claimChanges(current, updated)
  const taken = await findTakenClaim(redis, claims)
  if (taken !== null) return taken
  const guards = [...claims.guards, ...bound.guards]
  return { kind: 'edited', record: updated, guards, writes: claims.writes, ...extra }
}

const authNeeded = (why: string): Refusal =>
  invalid([{ path: '/auth', message: `is required in the same request if ${why}` }])

const hasNewCredentialHost = ({ also_hosts = [] }: Integration, before: Integration): boolean =>
  also_hosts.some(
    (entry) =>
      entry.credential && !before.also_hosts?.some((other) => isDeepStrictEqual(entry, other)),
  )

/** Connections are sealed for the origins of their integration, which their secrets must not leave without being known. */
async function checkBoundConnections(
  redis: RedisClient,
  after: Integration,
  before: Integration,
): Promise<Refusal | { readonly kind: 'bound'; readonly guards: readonly Guard[] }> {
  if (isDeepStrictEqual(boundOrigins(after), boundOrigins(before)))
    return { kind: 'bound', guards: [] }
  const { organization_id, integration_id } = before
  const key = REDIS_KEYS.integrationConnections(organization_id, integration_id)
  const connections = await redis.hlen(key)
  return connections === 0
    ? { kind: 'bound', guards: [['HLEN', key, '', '0']] }
    : conflict(
        'in_use',
        'The connections of this integration are bound to its origin, and to the further hosts that get its credential. Delete them first, or create another integration.',
        { connections },
      )
}

const boundOrigins = (integration: Integration): readonly string[] => {
  const parsed = parseBaseUrl(integration.base_url)
  return [parsed.ok ? parsed.base.origin : '', ...originsWithCredential(integration)]
}
