import type { AdminCall } from '../http/define-route.ts'
import type { Outcome } from '../http/outcome.ts'
import { planMade } from './plan-made.ts'
import type { AnyResource, Params } from './resource.ts'

/** Creates the record that `make` returns. */
export async function planCreate<R>(
  resource: AnyResource<R>,
  call: AdminCall<Params>,
): Promise<Outcome> {
  const made = await resource.create.make(call)
  if (made.kind === 'refusal') return made
  const excess = await resource.create.check?.(call, [made.record])
  return excess ?? (await planMade(resource, call, made))
}
