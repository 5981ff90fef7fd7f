import { isDeepStrictEqual } from 'node:util'
import type { RecordChange } from '../../core/activity/words-of-action.ts'
import type { AdminCall } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { type Plan, answer } from '../http/outcome.ts'
import { eventOf } from './event-of.ts'
import type { Stored } from './records.ts'
import type { Edited, ResourceKind } from './resource.ts'
import { warningsOf } from './warnings-of.ts'
import { recordText } from '../../core/store/stored-record.ts'

/** Plans the replacement of a record: guards, edge notification, audit entry and response. */
export async function planChange<R>(
  resource: ResourceKind<R>,
  call: AdminCall,
  { record, text }: Stored<R>,
  edited: Edited<R>,
  verb: RecordChange,
): Promise<Plan> {
  const { name, id, store, show, audited = (view) => view, about, targets, needs } = resource
  const member = String(record[id])
  const hash = store.hashOf(record)
  const updated = recordText(edited.record)
  // Both views use one read of self-changing members, so that the log shows no false difference.
  const [before = {}, after = {}] = await show(call, [record, edited.record])
  return {
    kind: 'plan',
    guards: [['HGET', hash, member, text], ...(edited.guards ?? [])],
    writes: [['HSET', hash, member, updated], ...(edited.writes ?? [])],
    targets: [...targets(edited.record), ...(edited.targets ?? [])],
    ...(isDeepStrictEqual(edited.record, record)
      ? {}
      : eventOf(resource, call, edited.record, 'updated')),
    needs: needs?.(edited.record) ?? [],
    audits: [
      {
        action: `${name}.${verb}`,
        target: member,
        before: audited(before),
        after: { ...audited(after), ...edited.effects, ...edited.note },
        ...about?.(edited.record),
      },
    ],
    answer: answer(
      200,
      { ...after, ...edited.effects, ...warningsOf(edited) },
      { etag: entityTag(updated) },
    ),
  }
}
