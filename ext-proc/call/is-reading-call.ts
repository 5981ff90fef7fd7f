import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { onlyReads } from '../../core/mcp/only-reads.ts'
import { namesOtherCharset } from '../../core/request/names-other-charset.ts'
import { leavesSafe, mayOnlyRead } from '../../core/decision/is-reading.ts'
import type { AdmittedCall } from './admit-call.ts'
import type { CallIo } from './call-io.ts'

type Call = Pick<AdmittedCall, 'method' | 'is_socket' | 'overrides' | 'target'> & {
  readonly settings: Pick<AdmittedCall['settings'], 'read_tools'>
  readonly head: Pick<AdmittedCall['head'], 'content_type'>
}

/**
 * Whether a call does nothing but read, so that a lock of the mode `read_only` lets it run: a safe method, or an MCP message whose tool
 * a scope calls reading. A body that was not read may say otherwise.
 * @param facts of the body; null if it was not read
 */
export function isReading(
  call: Call,
  facts: BodyFacts | null,
  { has_body }: Pick<CallIo, 'has_body'>,
): boolean {
  const { method, settings, head } = call
  if (!mayOnlyRead(call, settings.read_tools) || (has_body && facts === null)) return false
  if (facts !== null && !leavesSafe(facts.overrides)) return false
  if (method !== 'POST') return true
  const read = facts?.json_rpc ?? null
  const isPlain = !namesOtherCharset(head.content_type)
  return isPlain && read !== null && onlyReads(read, settings.read_tools)
}
