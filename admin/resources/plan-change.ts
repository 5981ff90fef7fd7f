import type { AdminCall } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { type Plan, answer } from '../http/outcome.ts'
import type { Stored } from './records.ts'
import type { Edited, ResourceKind } from './resource.ts'
import { warningsOf } from './warnings-of.ts'

/** The plan that replaces a record: guarded by what was read, told to the edges, audited, answered with its view. */
export async function planChange<R>(
  { name, id, store, show, audited = (view) => view, about, targets }: ResourceKind<R>,
  call: AdminCall,
  { record, text }: Stored<R>,
  edited: Edited<R>,
  verb: string,
): Promise<Plan> {
  const member = String(record[id])
  const hash = store.hashOf(record)
  const updated = JSON.stringify(edited.record)
  // One reading of what changes by itself serves both, so that the log shows no difference that nobody made.
  const [before = {}, after = {}] = await show(call, [record, edited.record])
  return {
    kind: 'plan',
    guards: [['HGET', hash, member, text], ...(edited.guards ?? [])],
    writes: [['HSET', hash, member, updated], ...(edited.writes ?? [])],
    targets: [...targets(edited.record), ...(edited.targets ?? [])],
    audit: {
      action: `${name}.${verb}`,
      target: member,
      before: audited(before),
      after: { ...audited(after), ...edited.note },
      ...about?.(edited.record),
    },
    answer: answer(200, { ...after, ...warningsOf(edited) }, { etag: entityTag(updated) }),
  }
}
