import { EPOCH } from '../../core/change/commit.ts'
import type { AdminCall } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { type Outcome, answer } from '../http/outcome.ts'
import type { AnyResource, Params } from './resource.ts'
import { showOne } from './show-one.ts'
import { warningsOf } from './warnings-of.ts'

/** Creates the record that `make` returns. */
export async function planCreate<R>(
  resource: AnyResource<R>,
  call: AdminCall<Params>,
): Promise<Outcome> {
  const made = await resource.create.make(call)
  if (made.kind === 'refusal') return made
  const { record } = made
  const id = String(record[resource.id])
  const hash = resource.store.hashOf(record)
  const text = JSON.stringify(record)
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
    audit: {
      action: `${resource.name}.create`,
      target: id,
      before: null,
      after: { ...audited(view), ...made.note },
      ...about?.(record),
      ...made.about,
    },
    answer: answer(
      201,
      { ...view, ...made.shown_once, ...warningsOf(made) },
      { etag: entityTag(text) },
    ),
  }
}
