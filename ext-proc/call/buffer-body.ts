import type { CallFacts } from '../record/passed-call.ts'
import type { BodyReader, CallIo } from './call-io.ts'

/** A body as it is sent to the API. All checks read this body, and nothing changes it afterwards. */
export interface SentBody {
  readonly bytes: Buffer
  /** `agent_id` was removed, so these bytes replace the caller's. */
  readonly is_stripped: boolean
}

/** The whole body, unless its declared or actual size exceeds the limit, or its owner has too much held already. */
export async function bufferBody(
  io: CallIo,
  facts: Pick<CallFacts, 'bytes_in'>,
  content_length: number | null,
  limit_bytes: number,
  held_by: BodyReader,
  owner: { readonly organization_id: string; readonly agent_id: string },
): Promise<Buffer | 'too_large' | 'busy'> {
  if (content_length !== null && content_length > limit_bytes) return 'too_large'
  if (!io.reserve(owner.organization_id, owner.agent_id, content_length ?? limit_bytes))
    return 'busy'
  const body = await io.body(held_by)
  // A buffer that was transferred to a worker is empty and would be treated as no body.
  if (facts.bytes_in !== null) throw new Error('a body was asked for twice')
  facts.bytes_in = body.length
  return body.length > limit_bytes ? 'too_large' : body
}
