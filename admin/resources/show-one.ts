import type { Call } from '../http/define-route.ts'
import type { Kind, View } from './resource.ts'

export async function showOne<R>(
  { show }: Pick<Kind<R>, 'show'>,
  call: Call,
  record: R,
): Promise<View> {
  const [view] = await show(call, [record])
  if (view === undefined) throw new Error('a record has no view')
  return view
}
