import { hashKey } from '../../core/keys/api-key.ts'
import type { AdminToken } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Removed } from '../resources/resource.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict } from '../http/outcome.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** The token gives no access from here on; the last one of role admin stays, or no further token could be created. */
export async function removeToken(
  { context: { redis, settings }, actor }: AdminCall,
  { token_id, hash, role }: AdminToken,
): Promise<Removed<AdminToken> | Refusal> {
  const org = actor.organization_id
  const tokens = REDIS_KEYS.adminTokens(org)
  const all = (await redis.hvals(tokens)).map((text) => readableRecord<AdminToken>(text))
  // This process does not accept one of a newer version.
  const lasting = all.filter(
    (token) => token !== null && token.role === 'admin' && token.expires_at === null,
  )
  if (role === 'admin' && lasting.every((token) => token?.token_id === token_id))
    return conflict(
      'last_admin_token',
      'This is the last admin token that does not expire. Create another one first.',
    )
  // The setting would make its token again at the next start, were its hash not kept.
  const isOfSetting = settings.adminToken !== null && hashKey(settings.adminToken) === hash
  return {
    kind: 'removed',
    guards: [['HLEN', tokens, '', String(all.length)]],
    writes: [
      ['HDEL', REDIS_KEYS.adminTokenLastUsed(org), token_id],
      ...(isOfSetting ? [] : [['HDEL', REDIS_KEYS.adminTokenHashes, hash] as const]),
    ],
  }
}
