import type { AdminCall } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { NO_CONTENT, type Outcome, notFound } from '../http/outcome.ts'
import { eventOf } from './event-of.ts'
import type { AnyResource, Params, Removed } from './resource.ts'
import { showOne } from './show-one.ts'
import { recordText } from '../../core/store/stored-record.ts'

/** Deletes a record, or marks it if it has to remain. */
export async function planRemove<R>(
  resource: AnyResource<R>,
  call: AdminCall<Params>,
): Promise<Outcome> {
  const { remove, store, audited = (view) => view, about } = resource
  const id = call.params[resource.id] ?? ''
  const stored = await store.find(call, id)
  if (stored === null) return notFound()
  const { record, text } = stored
  const stale = checkPrecondition(call.headers, text)
  if (stale !== null) return stale
  const removed: Removed<R> = { kind: 'removed' }
  const planned = (await remove.plan?.(call as never, record)) ?? removed
  if (planned.kind === 'refusal') return planned
  const { remains, afterwards } = planned
  if (remains === null) return NO_CONTENT
  const hash = store.hashOf(record)
  const after = remains === undefined ? null : audited(await showOne(resource, call, remains))
  return {
    kind: 'plan',
    guards: [['HGET', hash, id, text], ...(planned.guards ?? [])],
    writes: [
      ...(remains === undefined
        ? ([
            ['HDEL', hash, id],
            ['ZREM', store.indexOf(record), id],
          ] as const)
        : ([['HSET', hash, id, recordText(remains)]] as const)),
      ...(planned.writes ?? []),
    ],
    ...eventOf(resource, call, record, 'deleted'),
    targets: [...resource.targets(record), ...(planned.targets ?? [])],
    audits: [
      {
        action: `${resource.name}.${remove.verb ?? 'delete'}`,
        target: id,
        before: { ...audited(await showOne(resource, call, record)), ...planned.note },
        after,
        ...about?.(record),
      },
    ],
    answer: NO_CONTENT,
    ...(afterwards ? { afterwards } : {}),
  }
}
