import type { CallFacts } from '../record/passed-call.ts'
import type { CallIo } from './call-io.ts'

/** A body as it goes to the API. What is asked of a body is asked of this one, and nothing changes it afterwards. */
export interface SentBody {
  readonly bytes: Buffer
  /** The `agent_id` was cut out, so these bytes replace the caller's. */
  readonly is_cut: boolean
}

/** The whole body, unless it is over the limit by its own word or in fact. */
export async function holdBody(
  io: CallIo,
  facts: Pick<CallFacts, 'bytes_in'>,
  content_length: number | null,
  limit_bytes: number,
): Promise<Buffer | 'too_large'> {
  if (content_length !== null && content_length > limit_bytes) return 'too_large'
  const body = await io.body()
  // A buffer whose memory went to a thread is empty, and would be judged as no body.
  if (facts.bytes_in !== null) throw new Error('a body was asked for twice')
  facts.bytes_in = body.length
  return body.length > limit_bytes ? 'too_large' : body
}
