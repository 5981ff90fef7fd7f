import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanNames } from '../../core/redis/scan-store.ts'
import { type KeptToken, resealMinted } from '../../core/token/minted-token.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

/** Tokens of one agent alone, which a kill of the agent revokes. */
export const sealedMinted: SealedStore = {
  names: ['token of an agent', 'tokens of agents'],
  is_short_lived: true,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  for (const organization_id of await redis.hkeys(REDIS_KEYS.organizations)) {
    const prefix = REDIS_KEYS.mintedTokens(organization_id, '')
    for await (const key of scanNames(redis, prefix)) {
      const agent_id = key.slice(prefix.length)
      for (const [field, text] of Object.entries(await redis.hgetall(key))) {
        const minted = JSON.parse(text) as KeptToken
        yield {
          organization_id,
          id: agent_id,
          sealed: minted.revocation === null ? [] : [minted.revocation.token],
          has_clear: false,
          reseal: (ring) => {
            const again = resealMinted(ring, { organization_id, agent_id }, minted)
            return again === null
              ? null
              : {
                  guards: [['HGET', key, field, text]],
                  // The time to live stays.
                  writes: [['HSET', key, field, again]],
                  targets: [],
                }
          },
        }
      }
    }
  }
}
