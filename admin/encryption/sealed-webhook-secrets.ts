import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { isSealed } from '../../core/keys/seal.ts'
import { scanHash } from '../../core/redis/scan-store.ts'
import { resealSecrets } from '../webhooks/webhook-secret.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'
import { parseRecord, recordText } from '../../core/store/stored-record.ts'

export const sealedWebhookSecrets: SealedStore = {
  names: ['webhook URL or secret', 'webhook URLs and secrets'],
  is_short_lived: false,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations)) {
    const key = REDIS_KEYS.webhooks(organization_id)
    for await (const [id, text] of scanHash(redis, key)) {
      const webhook = parseRecord<Webhook>(text)
      const { url, secret, previous_secret } = webhook
      yield {
        organization_id,
        id,
        sealed: [url, secret, previous_secret?.sealed]
          .filter((one) => one != null)
          .filter(isSealed),
        has_clear: !isSealed(url),
        reseal: (ring) => {
          const resealed = resealSecrets(ring, webhook)
          return resealed === null
            ? null
            : {
                guards: [['HGET', key, id, text]],
                writes: [['HSET', key, id, recordText(resealed)]],
                targets: [],
              }
        },
      }
    }
  }
}
