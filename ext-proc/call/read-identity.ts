import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { SaidIdentity } from '../../core/request/read-body-identity.ts'
import type { CallRecord } from '../record/call-record.ts'
import { deny, pass, type Step } from '../verdict/step.ts'
import type { CallIo } from './call-io.ts'
import { bufferBody, type SentBody } from './buffer-body.ts'
import { busy } from './busy.ts'
import type { RequestHead } from './read-head.ts'

export interface IdentityServices {
  readonly pool: Pick<ScanPool, 'readBody'>
  readonly settings: { readonly max_body_bytes: number }
}

/**
 * The agent named in the body, if nothing else names it. `agent_id` is already removed here.
 * @param head as the upstream will read it
 */
export async function readIdentity(
  { pool, settings }: IdentityServices,
  { io, record }: { readonly io: CallIo; readonly record: CallRecord },
  head: RequestHead,
  strips: boolean,
): Promise<Step<{ readonly said: SaidIdentity; readonly body: SentBody | null }>> {
  const { content_type, content_encoding, content_length } = head
  const { max_body_bytes: limit_bytes } = settings
  const organization_id = record.facts.organization_id ?? ''
  const anyone = { organization_id, agent_id: '' }
  const held = await bufferBody(io, record.facts, content_length, limit_bytes, 'agent_id', anyone)
  if (held === 'busy') return busy('agent', { by: 'owner' })
  if (held === 'too_large')
    return deny('agent', 'request_too_large', { limit_bytes, held_by: 'agent_id' })
  if (content_encoding !== null && held.length > 0)
    return deny('agent', 'unsupported_content_encoding', { content_encoding })
  const questions = {
    content_type,
    content_encoding: null,
    limit_bytes,
    identity: { strips, agent_id: null },
    asks_overrides: false,
    keeps_body: true,
    json_rpc: null,
    scan: null,
  }
  const owner = { ...anyone, isGone: () => io.is_over }
  const reading = pool.readBody(held, questions, null, owner)
  const read = reading instanceof Promise ? await reading : reading
  if (read.kind === 'busy') return busy('agent', read)
  const { facts, sent, is_stripped } = read
  const body = sent === null ? null : { bytes: sent, is_stripped }
  return pass({ said: facts.identity ?? { kind: 'none' }, body })
}
