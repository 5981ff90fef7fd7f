import { hashKey } from '../../core/api-key.ts'
import type { AdminToken } from '../../core/model.ts'
import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readRecord } from '../lists/records.ts'
import type { Call } from '../http/define-route.ts'
import { NO_CONTENT, type Outcome, conflict, notFound } from '../http/outcome.ts'
import { tokenView } from './token-view.ts'

/** The token opens nothing from here on; the last one of role admin stays, or nobody could make another. */
export async function deleteToken(call: Call<{ token_id: string }>): Promise<Outcome> {
  const { context, actor, params } = call
  const { redis, settings } = context
  const org = actor.organization_id
  const tokens = REDIS_KEYS.adminTokens(org)
  const stored = await readRecord<AdminToken>(redis, tokens, params.token_id)
  if (stored === null) return notFound()
  const { token_id, hash, role } = stored.record
  const all = (await redis.hvals(tokens)).map((text) => JSON.parse(text) as AdminToken)
  const lasting = all.filter((token) => token.role === 'admin' && token.expires_at === null)
  if (role === 'admin' && lasting.every((token) => token.token_id === token_id))
    return conflict(
      'last_admin_token',
      'This is the last admin token that does not expire. Make another one first.',
    )
  // The setting would make its token again at the next start, were its hash not kept.
  const isOfSetting = settings.adminToken !== null && hashKey(settings.adminToken) === hash
  const forget: Write[] = isOfSetting ? [] : [['HDEL', REDIS_KEYS.adminTokenHashes, hash]]
  return {
    kind: 'plan',
    guards: [
      ['HGET', tokens, token_id, stored.text],
      ['HLEN', tokens, '', String(all.length)],
    ],
    writes: [
      ['HDEL', tokens, token_id],
      ['ZREM', REDIS_KEYS.adminTokenIndex(org), token_id],
      ['HDEL', REDIS_KEYS.adminTokenLastUsed(org), token_id],
      ...forget,
    ],
    targets: [],
    audit: {
      action: 'token.delete',
      target: token_id,
      before: tokenView(stored.record, null),
      after: null,
    },
    answer: NO_CONTENT,
  }
}
