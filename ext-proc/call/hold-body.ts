import { type Call, given, refuse, type Step } from './call.ts'

/** A body as it goes to the API. What is asked of a body is asked of this one, and nothing changes it afterwards. */
export interface SentBody {
  readonly bytes: Buffer
  /** The `agent_id` was cut out, so these bytes replace the caller's. */
  readonly is_cut: boolean
}

/** The whole body, unless it is over the limit by its own word or in fact. */
export async function holdBody(
  { head, io, record }: Call,
  limit_bytes: number,
  step: string,
): Promise<Step<Buffer>> {
  if (head.content_length !== null && head.content_length > limit_bytes)
    return refuse(record, step, 'request_too_large', { limit_bytes })
  const body = await io.body()
  // A buffer whose memory went to a thread is empty, and would be judged as no body.
  if (record.facts.bytes_in !== null) throw new Error('a body was asked for twice')
  record.facts.bytes_in = body.length
  return body.length > limit_bytes
    ? refuse(record, step, 'request_too_large', { limit_bytes })
    : given(body)
}
