import type { RequestHead } from './read-head.ts'

/** The body is interpreted as the upstream will interpret it, even if a header of the caller is not forwarded. */
export function headAsSent(head: RequestHead, removed: readonly string[]): RequestHead {
  const hasType = !removed.includes('content-type')
  const hasEncoding = !removed.includes('content-encoding')
  if (hasType && hasEncoding) return head
  return {
    ...head,
    content_type: hasType ? head.content_type : '',
    content_encoding: hasEncoding ? head.content_encoding : null,
  }
}
