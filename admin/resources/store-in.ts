import { listRecords, readRecord } from './records.ts'
import type { Store } from './resource.ts'

/** Records of an organization in one hash, with one index. */
export const storeIn = <R extends { readonly organization_id: string }>(
  hash: (organization_id: string) => string,
  index: (organization_id: string) => string,
): Store<R> => ({
  hashOf: ({ organization_id }) => hash(organization_id),
  indexOf: ({ organization_id }) => index(organization_id),
  indexFor: ({ actor }) => index(actor.organization_id),
  find: ({ context, actor }, id) => readRecord<R>(context.redis, hash(actor.organization_id), id),
  read: (redis, organization_id, ids) => listRecords<R>(redis, hash(organization_id), ids),
})
