import type { AdminCall } from '../http/define-route.ts'
import type { ResourceKind, View } from './resource.ts'

export async function showOne<R>(
  { show }: Pick<ResourceKind<R>, 'show'>,
  call: AdminCall,
  record: R,
): Promise<View> {
  const [view] = await show(call, [record])
  if (view === undefined) throw new Error('a record has no view')
  return view
}
