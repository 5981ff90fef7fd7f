import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'

/** The writes that remove the webhooks of an organization when it is deleted. */
export const deleteWebhooksOf = (
  organization_id: string,
  webhook_ids: readonly string[],
): Write[] => [
  ['UNLINK', REDIS_KEYS.webhooks(organization_id)],
  ['UNLINK', REDIS_KEYS.webhookIndex(organization_id)],
  ['UNLINK', REDIS_KEYS.webhookSubscriptions(organization_id)],
  ...[...webhook_ids, '*'].map(
    (webhook_id): Write => ['SADD', REDIS_KEYS.webhooksDeleted, `${organization_id} ${webhook_id}`],
  ),
]
