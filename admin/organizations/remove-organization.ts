import {
  type ApiKey,
  type AdminToken,
  type Organization,
  SELECTED,
} from '../../core/catalogue/model.ts'
import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Removed } from '../resources/resource.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict } from '../http/outcome.ts'
import { removeTraces, type Traces } from './remove-traces.ts'
import { deleteWebhooksOf } from '../webhooks/delete-webhooks-of.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

/** An organization with agents or integrations is deleted only with ?cascade=true; the default one never. */
export async function removeOrganization(
  { context: { redis, settings }, query }: AdminCall<unknown, { cascade?: boolean }>,
  { organization_id: org }: Organization,
): Promise<Removed<Organization> | Refusal> {
  if (org === settings.organizationId)
    return conflict('default_organization', 'The default organization cannot be deleted.')
  const [agents, integrations] = await Promise.all([
    redis.hlen(REDIS_KEYS.agents(org)),
    redis.hlen(REDIS_KEYS.integrations(org)),
  ])
  if (agents + integrations > 0 && query.cascade !== true)
    return conflict(
      'in_use',
      'The organization has agents or integrations. Delete them first, or repeat the request with ?cascade=true.',
      { agents, integrations },
    )
  const traces = await readTraces(redis, org)
  const webhook_ids = await redis.hkeys(REDIS_KEYS.webhooks(org))
  return {
    kind: 'removed',
    writes: [
      ...wholeKeys(org).map((key): Write => ['UNLINK', key]),
      ...deleteWebhooksOf(org, webhook_ids),
    ],
    targets: [{ what: 'integrations', organization_id: org }],
    note: { agents, integrations },
    afterwards: () => removeTraces(redis, org, traces),
  }
}

/** The indexes of its keys, tokens, agents and integrations; without them the rest is unreachable. */
const wholeKeys = (org: string): string[] => [
  REDIS_KEYS.adminTokens(org),
  REDIS_KEYS.adminTokenIndex(org),
  REDIS_KEYS.adminTokenLastUsed(org),
  REDIS_KEYS.apiKeys(org),
  REDIS_KEYS.apiKeyLastUsed(org),
  REDIS_KEYS.agents(org),
  REDIS_KEYS.agentIndex(org),
  REDIS_KEYS.agentLastSeen(org),
  REDIS_KEYS.agentLastPath(org),
  REDIS_KEYS.agentTombstones(org),
  REDIS_KEYS.integrations(org),
  REDIS_KEYS.integrationIndex(org),
  REDIS_KEYS.integrationBaseUrls(org),
  REDIS_KEYS.connections(org),
  REDIS_KEYS.connectionIndex(org),
  REDIS_KEYS.connectionLastUsed(org),
  REDIS_KEYS.grants(org),
  REDIS_KEYS.scopeOwners(org),
  REDIS_KEYS.agentScopes(org, SELECTED),
  REDIS_KEYS.integrationScopes(org, SELECTED),
  REDIS_KEYS.agentLabels(org),
  REDIS_KEYS.scopeIndex(org),
  REDIS_KEYS.killRevocations(org),
  REDIS_KEYS.locks(org),
  REDIS_KEYS.activity(org),
  REDIS_KEYS.anomalyState(org),
]

async function readTraces(redis: RedisClient, org: string): Promise<Traces> {
  const [keys, tokens, lock_ids] = await Promise.all([
    redis.hvals(REDIS_KEYS.apiKeys(org)),
    redis.hvals(REDIS_KEYS.adminTokens(org)),
    redis.hkeys(REDIS_KEYS.locks(org)),
  ])
  return {
    lock_ids,
    key_hashes: keys.map((text) => parseRecord<ApiKey>(text).hash),
    token_hashes: tokens.map((text) => parseRecord<AdminToken>(text).hash),
  }
}
