import { renameSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { hashKey } from '../../core/keys/api-key.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { storeAccess } from '../../core/redis/store-access.ts'
import { type Boot, mayShareStore } from './child-specs.ts'

/** The gateway is ready, so its store answers. */
const ANSWER_LIMIT_MS = 3_000

/** Which admin token an operator of this start uses. */
export type OwnToken =
  /** Shown only by the start that has generated it. */
  | { readonly kind: 'new'; readonly token: string }
  | { readonly kind: 'known' }
  /** The store does not have the token of the data directory: it already had others. */
  | { readonly kind: 'not_used'; readonly was_kept: boolean }

/**
 * Looks in the store, which the admin service has set up, for the token of the data directory. To sign in with it would leave a failed
 * sign-in in the activity log.
 * @param file of that token. A token of this start that is of no use is moved to `FILE-unused`: the admin service uses it if it is the
 * first to set up a store that was emptied
 */
export async function findOwnToken(boot: Boot, file: string): Promise<OwnToken> {
  const { adminToken: token, isNewToken } = boot.secrets
  if (mayShareStore(boot) && !(await isInStore(boot, token))) {
    if (isNewToken) renameSync(file, `${file}-unused`)
    return { kind: 'not_used', was_kept: !isNewToken }
  }
  return isNewToken ? { kind: 'new', token } : { kind: 'known' }
}

/** True also if the store does not answer. */
async function isInStore(boot: Boot, token: string): Promise<boolean> {
  const redis = connectRedis(storeAccess(boot.settings, boot.redisUrl), {
    name: 'agw-start',
    role: 'queue',
  })
  const keys = [REDIS_KEYS.adminTokenHashes] as const
  const found = runScript(redis, 'find-key', keys, [hashKey(token), REDIS_KEYS.adminTokens('')])
  try {
    const noAnswer = wait(ANSWER_LIMIT_MS, 'no answer', { ref: false })
    return (await Promise.race([found, noAnswer])) !== null
  } catch {
    return true
  } finally {
    redis.disconnect()
  }
}
