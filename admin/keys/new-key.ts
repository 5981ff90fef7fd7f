import { hashKey, lastFour, mintId, mintKey } from '../../core/keys/api-key.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import { EPOCH, type Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { recordText } from '../../core/store/stored-record.ts'

export interface NewKey {
  /** Shown once and stored nowhere. */
  readonly key: string
  readonly record: ApiKey
  readonly writes: readonly Write[]
  /** The write that makes the key valid; the others store its record. */
  readonly link: Write
  /** An edge may have cached that this hash is unknown. */
  readonly target: ControlTarget
}

/** The owner of organization keys in the index of keys. */
export const ORGANIZATION_OWNER = '-'

/** A new key of an agent, or of the organization when `agent_id` is null. */
export function newKey(
  wanted: Pick<ApiKey, 'organization_id' | 'agent_id' | 'name' | 'created_at'> &
    Partial<Pick<ApiKey, 'agent_ids' | 'uses' | 'expires_at'>>,
): NewKey {
  const key = mintKey('live')
  const hash = hashKey(key)
  const record: ApiKey = {
    key_id: mintId('key'),
    organization_id: wanted.organization_id,
    agent_id: wanted.agent_id,
    hash,
    last4: lastFour(key),
    name: wanted.name,
    agent_ids: wanted.agent_ids ?? null,
    uses: wanted.uses ?? ['proxy'],
    created_at: wanted.created_at,
    expires_at: wanted.expires_at ?? null,
    revoked_at: null,
    revoked_by: null,
  }
  const { organization_id: org, key_id } = record
  const link: Write = ['HSET', REDIS_KEYS.apiKeyHashes, hash, `${org} ${key_id}`]
  const writes: Write[] = [
    ['HSET', REDIS_KEYS.apiKeys(org), key_id, recordText(record)],
    ['ZADD', REDIS_KEYS.apiKeyIndex(org, record.agent_id ?? ORGANIZATION_OWNER), EPOCH, key_id],
    link,
  ]
  return { key, record, writes, link, target: { what: 'key', hash } }
}
