import { hashKey, mintId } from '../../core/keys/api-key.ts'
import { type AdminToken, type Organization } from '../../core/catalogue/model.ts'
import { commit, EPOCH, type Guard, type Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { newLineage } from '../../core/store/minimum-version.ts'
import { newToken } from '../access/new-token.ts'
import { parseRecord, recordText } from '../../core/store/stored-record.ts'

/** The reserved name of the token that comes from the setting. */
const SETTING_TOKEN_NAME = 'AGW_ADMIN_TOKEN'
const TRIES_LIMIT = 5

export interface FirstThings {
  readonly settings: Pick<Settings, 'organizationId' | 'adminEmail' | 'killLease_ms'>
  /** Name of the deployment if the store has none yet. */
  readonly installation_id: string
  readonly admin_token: string
  /** Whether the token comes from AGW_ADMIN_TOKEN. A generated token is used only if the store has none. */
  readonly is_setting: boolean
}

/**
 * Puts into the store what everything else needs, as far as it is missing: the deployment's name, the default organization and
 * its first admin token. All of it is one script, so the name is there only with the rest. Returns what was created; nothing if
 * everything existed.
 */
export async function bootstrapStore(
  redis: RedisClient,
  wanted: FirstThings,
  now: Date,
): Promise<readonly string[]> {
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const { made, guards, writes } = await plan(redis, wanted, now)
    if (writes.length === 0) return []
    const targets = [
      { what: 'organization', organization_id: wanted.settings.organizationId },
    ] as const
    const committed = await commit(redis, { guards, writes, targets }, wanted.settings.killLease_ms)
    if (committed.kind === 'committed') return made
  }
  throw new Error('the store could not be set up because of repeated concurrent changes')
}

interface Steps {
  readonly made: string[]
  readonly guards: Guard[]
  readonly writes: Write[]
}

async function plan(redis: RedisClient, wanted: FirstThings, now: Date): Promise<Steps> {
  const { settings, installation_id, admin_token, is_setting } = wanted
  const org = settings.organizationId
  const steps: Steps = { made: [], guards: [], writes: [] }
  if ((await redis.exists(REDIS_KEYS.installation)) === 0) {
    steps.made.push('installation')
    steps.guards.push(
      ['EXISTS', REDIS_KEYS.installation, '', false],
      ['EXISTS', REDIS_KEYS.restoring, '', false],
    )
    steps.writes.push(
      ['SET', REDIS_KEYS.installation, installation_id],
      ['HSET', REDIS_KEYS.requirements, 'lineage', newLineage()],
    )
  }
  const created_at = now.toISOString()
  if ((await redis.hexists(REDIS_KEYS.organizations, org)) === 0) {
    const organization: Organization = { organization_id: org, name: 'default', created_at }
    steps.made.push('organization')
    steps.guards.push(['HGET', REDIS_KEYS.organizations, org, false])
    steps.writes.push(
      ['HSET', REDIS_KEYS.organizations, org, recordText(organization)],
      ['ZADD', REDIS_KEYS.organizationIndex, EPOCH, org],
    )
  }
  const hash = hashKey(admin_token)
  // Also for a token that an operator has deleted: a restart must not restore it.
  const isThere = is_setting
    ? redis.hexists(REDIS_KEYS.adminTokenHashes, hash)
    : redis.exists(REDIS_KEYS.adminTokens(org))
  if ((await isThere) === 0) {
    steps.made.push('admin_token')
    steps.guards.push(
      is_setting
        ? ['HGET', REDIS_KEYS.adminTokenHashes, hash, false]
        : ['EXISTS', REDIS_KEYS.adminTokens(org), '', false],
    )
    await replaceSettingToken(redis, org, steps)
    const token = { organization_id: org, email: settings.adminEmail, role: 'admin' } as const
    const rest = { name: SETTING_TOKEN_NAME, created_at, expires_at: null }
    steps.writes.push(...newToken({ ...token, ...rest }, admin_token).writes)
  }
  return steps
}

/** The setting holds one token: after a change, the previous one is no longer valid. */
async function replaceSettingToken(redis: RedisClient, org: string, steps: Steps): Promise<void> {
  const tokens = REDIS_KEYS.adminTokens(org)
  for (const text of await redis.hvals(tokens)) {
    const { token_id, name, hash } = parseRecord<AdminToken>(text)
    if (name !== SETTING_TOKEN_NAME) continue
    steps.guards.push(['HGET', tokens, token_id, text])
    steps.writes.push(
      ['HDEL', tokens, token_id],
      ['ZREM', REDIS_KEYS.adminTokenIndex(org), token_id],
      ['HDEL', REDIS_KEYS.adminTokenLastUsed(org), token_id],
      ['HDEL', REDIS_KEYS.adminTokenHashes, hash],
    )
  }
}

/** The deployment's id as the store has it, else a new one. */
export const readDeploymentId = async (redis: RedisClient): Promise<string> =>
  (await redis.get(REDIS_KEYS.installation)) ?? mintId('ins')
