import { EPOCH } from '../../core/change/commit.ts'
import type { AdminCall } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { type Plan, answer } from '../http/outcome.ts'
import type { AnyResource, Made } from './resource.ts'
import { eventOf } from './event-of.ts'
import { isDryRun } from './dry-run.ts'
import { showOne } from './show-one.ts'
import { warningsOf } from './warnings-of.ts'
import { recordText } from '../../core/store/stored-record.ts'

/** Plans the creation of a record that `make` has returned. */
export async function planMade<R>(
  resource: AnyResource<R>,
  call: AdminCall,
  made: Made<R>,
): Promise<Plan> {
  const { record } = made
  const id = String(record[resource.id])
  const hash = resource.store.hashOf(record)
  const text = recordText(record)
  const view = await showOne(resource, call, record)
  const { audited = (shown) => shown, about } = resource
  return {
    kind: 'plan',
    guards: [['HGET', hash, id, false], ...(made.guards ?? [])],
    writes: [
      ['HSET', hash, id, text],
      ['ZADD', resource.store.indexOf(record), EPOCH, id],
      ...(made.writes ?? []),
    ],
    targets: [...resource.targets(record), ...(made.targets ?? [])],
    ...eventOf(resource, call, record, 'created'),
    needs: resource.needs?.(record) ?? [],
    audits: [
      {
        action: `${resource.name}.create`,
        target: id,
        before: null,
        after: { ...audited(view), ...made.effects, ...made.note },
        ...about?.(record),
        ...made.about,
      },
    ],
    answer: isDryRun(call)
      ? answer(200, { ...view, ...made.effects, ...warningsOf(made) })
      : answer(
          201,
          { ...view, ...made.shown_once, ...made.effects, ...warningsOf(made) },
          { etag: entityTag(text) },
        ),
  }
}
