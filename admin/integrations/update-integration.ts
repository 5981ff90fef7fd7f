import { isDeepStrictEqual } from 'node:util'
import { secretMembers } from '../../core/credential/catalogue.ts'
import type { Integration } from '../../core/model.ts'
import { parseBaseUrl } from '../../core/policy/parse-base-url.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type PlainAuth, sealAuth } from '../../core/store/credential-binding.ts'
import { mergePatch } from '../changes/merge-patch.ts'
import { readRecord } from '../lists/records.ts'
import { checkInput } from '../http/check-input.ts'
import { checkReadOnly } from '../http/check-read-only.ts'
import type { Call } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { type Outcome, type Refusal, answer, invalid, notFound } from '../http/outcome.ts'
import { checkAuth } from './check-auth.ts'
import { sameBaseUrl } from './create-integration.ts'
import {
  EditableIntegration,
  INTEGRATION_DEFAULTS,
  INTEGRATION_READ_ONLY,
} from './integration-schemas.ts'
import { integrationView } from './integration-view.ts'
import { readBaseUrl } from './read-base-url.ts'

/**
 * A merge patch; `auth` is replaced whole. A base URL of a new origin needs `auth` with it, so that nobody can send a
 * stored secret elsewhere without knowing it (threats.md 4).
 */
export async function updateIntegration(call: Call<{ integration_id: string }>): Promise<Outcome> {
  const { context, actor, params, headers } = call
  const { redis, ring } = context
  const org = actor.organization_id
  const stored = await readRecord<Integration>(
    redis,
    REDIS_KEYS.integrations(org),
    params.integration_id,
  )
  if (stored === null) return notFound()
  const stale = checkPrecondition(headers, stored.text)
  if (stale !== null) return stale
  const { record: current } = stored
  const before = integrationView(ring, current)
  const decided = applyPatch(context, current, before, call.body as Record<string, unknown>)
  if ('kind' in decided) return decided
  const { updated } = decided
  const moved = updated.base_url !== current.base_url
  const holder = moved
    ? await redis.hget(REDIS_KEYS.integrationBaseUrls(org), updated.base_url)
    : null
  if (holder !== null) return sameBaseUrl(holder)
  const after = integrationView(ring, updated)
  const { integration_id } = updated
  return {
    kind: 'plan',
    guards: [
      ['HGET', REDIS_KEYS.integrations(org), integration_id, stored.text],
      ...(moved ? moveGuards(org, updated) : []),
    ],
    writes: [
      ['HSET', REDIS_KEYS.integrations(org), integration_id, JSON.stringify(updated)],
      ...(moved ? moveWrites(org, current, updated) : []),
    ],
    targets: [{ what: 'integrations', organization_id: org }],
    audit: {
      action: 'integration.update',
      target: integration_id,
      before,
      after: decided.auth_replaced ? { ...after, auth_replaced: true } : after,
      integration_id,
    },
    answer: answer(200, after),
  }
}

function applyPatch(
  { ring }: Call['context'],
  current: Integration,
  shown: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): { readonly updated: Integration; readonly auth_replaced: boolean } | Refusal {
  const fixed = checkReadOnly(given, shown, INTEGRATION_READ_ONLY)
  if (fixed.length > 0) return invalid(fixed)
  const { auth: givenAuth, ...patch } = without(given, INTEGRATION_READ_ONLY)
  // What was read and is sent back holds no secret, so it changes nothing.
  const auth_replaced = givenAuth !== undefined && !isDeepStrictEqual(givenAuth, shown['auth'])
  const { name, base_url, strip_agent_id, allow_empty_segments } = current
  const { allow_encoded_slashes = false } = current
  const editable = { name, base_url, strip_agent_id, allow_empty_segments, allow_encoded_slashes }
  const merged = mergePatch(editable, patch, { whole: [], nullable: [] })
  const checked = checkInput(EditableIntegration, {
    ...INTEGRATION_DEFAULTS,
    ...merged,
    auth: auth_replaced ? givenAuth : { type: 'none' },
  })
  if (!checked.ok) return invalid(checked.issues)
  const parsed = readBaseUrl(checked.value.base_url)
  if (!parsed.ok) return invalid([parsed.issue])
  const issues = auth_replaced ? checkAuth(checked.value.auth) : []
  if (issues.length > 0) return invalid(issues)
  const was = parseBaseUrl(current.base_url)
  const stays = was.ok && was.base.origin === parsed.base.origin
  // Without a secret there is nothing that the same `auth`, given again, could send elsewhere.
  const is_secretless = givenAuth !== undefined && secretMembers(current.auth.type).length === 0
  if (!auth_replaced && !stays && !is_secretless)
    return invalid([
      { path: '/auth', message: 'is needed in the same request when base_url has a new origin' },
    ])
  const moved: Integration = {
    ...current,
    ...checked.value,
    base_url: parsed.base.base_url,
    auth: current.auth,
  }
  const plain = checked.value.auth as PlainAuth
  const auth = auth_replaced ? sealAuth(ring, { ...moved, auth: plain }) : current.auth
  return { updated: { ...moved, auth }, auth_replaced }
}

const without = (
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)))

const moveGuards = (org: string, { base_url }: Integration): Guard[] => [
  ['HGET', REDIS_KEYS.integrationBaseUrls(org), base_url, false],
]

const moveWrites = (org: string, current: Integration, updated: Integration): Write[] => [
  ['HDEL', REDIS_KEYS.integrationBaseUrls(org), current.base_url],
  ['HSET', REDIS_KEYS.integrationBaseUrls(org), updated.base_url, updated.integration_id],
]
