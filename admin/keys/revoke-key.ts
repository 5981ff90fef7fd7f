import type { ApiKey } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readRecord } from '../lists/records.ts'
import type { Call } from '../http/define-route.ts'
import { NO_CONTENT, type Outcome, notFound } from '../http/outcome.ts'
import { keyView } from './key-view.ts'

/**
 * Revokes a key; it stays readable. One that a kill revoked is from now on revoked by itself, so that a reactivation
 * does not give it back. `agent_id` is the owner that the path names, null for the organization.
 */
export async function revokeKey(
  { context, actor, params }: Call<{ key_id: string }>,
  agent_id: string | null,
): Promise<Outcome> {
  const { redis, now } = context
  const keys = REDIS_KEYS.apiKeys(actor.organization_id)
  const stored = await readRecord<ApiKey>(redis, keys, params.key_id)
  if (stored === null || stored.record.agent_id !== agent_id) return notFound()
  const { record: key } = stored
  if (key.revoked_by === 'operator') return NO_CONTENT
  const revoked: ApiKey = {
    ...key,
    revoked_at: key.revoked_at ?? now().toISOString(),
    revoked_by: 'operator',
  }
  return {
    kind: 'plan',
    guards: [['HGET', keys, key.key_id, stored.text]],
    writes: [['HSET', keys, key.key_id, JSON.stringify(revoked)]],
    targets: [{ what: 'key', hash: key.hash }],
    audit: {
      action: 'key.revoke',
      target: key.key_id,
      before: keyView(key, null),
      after: keyView(revoked, null),
      agent_id,
      key_id: key.key_id,
    },
    answer: NO_CONTENT,
  }
}
