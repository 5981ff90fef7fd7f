import type { Connection } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { listRecords, readRecord } from '../resources/records.ts'
import type { Params, Store } from '../resources/resource.ts'

/** The connections of the integration that the path names. */
export const connectionStore: Store<Connection> = {
  hashOf: ({ organization_id }) => REDIS_KEYS.connections(organization_id),
  indexOf: ({ organization_id }) => REDIS_KEYS.connectionIndex(organization_id),
  indexFor: ({ actor }) => REDIS_KEYS.connectionIndex(actor.organization_id),
  find: async (call: AdminCall<Params>, id) => {
    const { context, actor, params } = call
    const hash = REDIS_KEYS.connections(actor.organization_id)
    const stored = await readRecord<Connection>(context.redis, hash, id)
    return stored?.record.integration_id === params['integration_id'] ? stored : null
  },
  read: (redis, organization_id, ids) =>
    listRecords<Connection>(redis, REDIS_KEYS.connections(organization_id), ids),
}
