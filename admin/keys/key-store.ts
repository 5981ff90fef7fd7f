import type { ApiKey } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { listRecords, readRecord } from '../resources/records.ts'
import type { Params, Store } from '../resources/resource.ts'
import { ORGANIZATION_OWNER } from './new-key.ts'

/** The keys of one owner: of the agent that the path names, or, where it names none, of the organization. */
export const keyStore: Store<ApiKey> = {
  hashOf: ({ organization_id }) => REDIS_KEYS.apiKeys(organization_id),
  indexOf: ({ organization_id, agent_id }) =>
    REDIS_KEYS.apiKeyIndex(organization_id, agent_id ?? ORGANIZATION_OWNER),
  indexFor: (call) =>
    REDIS_KEYS.apiKeyIndex(call.actor.organization_id, ownerOf(call) ?? ORGANIZATION_OWNER),
  find: async (call, key_id) => {
    const keys = REDIS_KEYS.apiKeys(call.actor.organization_id)
    const stored = await readRecord<ApiKey>(call.context.redis, keys, key_id)
    return stored?.record.agent_id === ownerOf(call) ? stored : null
  },
  read: (redis, organization_id, ids) =>
    listRecords<ApiKey>(redis, REDIS_KEYS.apiKeys(organization_id), ids),
}

const ownerOf = ({ params }: AdminCall<Params>): string | null => params['agent_id'] ?? null
