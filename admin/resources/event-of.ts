import type { AdminCall } from '../http/define-route.ts'
import type { Plan } from '../http/outcome.ts'
import type { ResourceKind } from './resource.ts'

/** The event of a change as a member of its plan, if the resource has one. */
export const eventOf = <R>(
  { event }: Pick<ResourceKind<R>, 'event'>,
  call: AdminCall,
  record: R,
  change: 'created' | 'updated' | 'deleted',
): Pick<Plan, 'events'> => (event === undefined ? {} : { events: [event(call, record, change)] })
