import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanNames } from '../../core/redis/scan-store.ts'
import { resealAnswer } from '../changes/kept-answers.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

export const sealedAnswers: SealedStore = {
  names: ['stored response', 'stored responses'],
  is_short_lived: true,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  const prefix = REDIS_KEYS.idempotency('')
  for await (const key of scanNames(redis, prefix)) {
    const kept = await redis.hgetall(key)
    const { answer, organization_id, token_id } = kept
    // Expired meanwhile, or written by an older version; that one expires within ten minutes.
    if (answer === undefined || organization_id === undefined || token_id === undefined) continue
    const digest = key.slice(prefix.length)
    yield {
      organization_id,
      id: digest,
      sealed: [answer],
      has_clear: false,
      reseal: (ring) => {
        const resealed = resealAnswer(ring, answer, { digest, organization_id, token_id })
        return resealed === null
          ? null
          : {
              guards: [['HGET', key, 'answer', answer]],
              // The time to live stays.
              writes: [['HSET', key, 'answer', resealed]],
              targets: [],
            }
      },
    }
  }
}
