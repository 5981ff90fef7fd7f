import type { ApiKey, AdminToken, Organization } from '../../core/model.ts'
import type { Write } from '../../core/redis/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readRecord } from '../lists/records.ts'
import type { Call } from '../server/define-route.ts'
import { NO_CONTENT, type Outcome, conflict, notFound } from '../server/outcome.ts'
import { deleteWebhooksOf } from '../webhooks/delete-webhook.ts'

/** So many members are removed by one command while an organization is tidied away. */
const TIDY_CHUNK = 500

/** One that still has agents or integrations goes only with ?cascade=true; the default one never. */
export async function deleteOrganization(
  call: Call<{ organization_id: string }, { cascade?: boolean }>,
): Promise<Outcome> {
  const { context, params, query } = call
  const { redis, settings } = context
  const org = params.organization_id
  const stored = await readRecord<Organization>(redis, REDIS_KEYS.organizations, org)
  if (stored === null) return notFound()
  if (org === settings.organizationId)
    return conflict('default_organization', 'The default organization cannot be deleted.')
  const [agents, integrations] = await Promise.all([
    redis.hlen(REDIS_KEYS.agents(org)),
    redis.hlen(REDIS_KEYS.integrations(org)),
  ])
  if (agents + integrations > 0 && query.cascade !== true)
    return conflict(
      'in_use',
      'The organization has agents or integrations. Delete them first, or repeat this with ?cascade=true.',
      { agents, integrations },
    )
  const left = await readLeftovers(redis, org)
  const webhook_ids = await redis.hkeys(REDIS_KEYS.webhooks(org))
  return {
    kind: 'plan',
    guards: [['HGET', REDIS_KEYS.organizations, org, stored.text]],
    writes: [
      ['HDEL', REDIS_KEYS.organizations, org],
      ['ZREM', REDIS_KEYS.organizationIndex, org],
      ...wholeKeys(org).map((key): Write => ['UNLINK', key]),
      ...deleteWebhooksOf(org, webhook_ids),
    ],
    targets: [
      { what: 'organization', organization_id: org },
      { what: 'integrations', organization_id: org },
    ],
    audit: {
      action: 'organization.delete',
      target: org,
      before: { ...stored.record, agents, integrations },
      after: null,
    },
    answer: NO_CONTENT,
    afterwards: () => tidy(redis, org, left),
  }
}

/** What makes its keys, tokens, agents and integrations exist; without these the rest is out of reach. */
const wholeKeys = (org: string): string[] => [
  REDIS_KEYS.adminTokens(org),
  REDIS_KEYS.adminTokenIndex(org),
  REDIS_KEYS.adminTokenLastUsed(org),
  REDIS_KEYS.apiKeys(org),
  REDIS_KEYS.apiKeyLastUsed(org),
  REDIS_KEYS.agents(org),
  REDIS_KEYS.agentIndex(org),
  REDIS_KEYS.agentLastSeen(org),
  REDIS_KEYS.agentTombstones(org),
  REDIS_KEYS.integrations(org),
  REDIS_KEYS.integrationIndex(org),
  REDIS_KEYS.integrationBaseUrls(org),
  REDIS_KEYS.scopeOwners(org),
  REDIS_KEYS.scopeIndex(org),
  REDIS_KEYS.activity(org),
]

interface Leftovers {
  readonly keyHashes: readonly string[]
  readonly tokenHashes: readonly string[]
  readonly keys: readonly string[]
}

async function readLeftovers(redis: RedisClient, org: string): Promise<Leftovers> {
  const [apiKeys, tokens, agent_ids, integration_ids] = await Promise.all([
    redis.hvals(REDIS_KEYS.apiKeys(org)),
    redis.hvals(REDIS_KEYS.adminTokens(org)),
    redis.hkeys(REDIS_KEYS.agents(org)),
    redis.hkeys(REDIS_KEYS.integrations(org)),
  ])
  const owners = [...agent_ids, '-']
  return {
    keyHashes: apiKeys.map((text) => (JSON.parse(text) as ApiKey).hash),
    tokenHashes: tokens.map((text) => (JSON.parse(text) as AdminToken).hash),
    keys: [
      ...owners.map((owner) => REDIS_KEYS.apiKeyIndex(org, owner)),
      ...agent_ids.map((agent_id) => REDIS_KEYS.agentScopes(org, agent_id)),
      ...integration_ids.map((id) => REDIS_KEYS.integrationScopes(org, id)),
    ],
  }
}

async function tidy(redis: RedisClient, org: string, left: Leftovers): Promise<void> {
  for (const some of chunks(left.keyHashes)) await redis.hdel(REDIS_KEYS.apiKeyHashes, ...some)
  for (const some of chunks(left.tokenHashes))
    await redis.hdel(REDIS_KEYS.adminTokenHashes, ...some)
  for (const some of chunks(left.keys)) await redis.unlink(...some)
  // A request of one of its tokens may have used the token while the organization went.
  await redis.unlink(REDIS_KEYS.adminTokenLastUsed(org))
}

function* chunks(items: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < items.length; from += TIDY_CHUNK)
    yield items.slice(from, from + TIDY_CHUNK)
}
