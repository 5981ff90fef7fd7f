import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { isEmpty, joinOverrides, type Overrides } from '../../core/policy/overrides.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import { type AllowedScope, type AskedCall, checkScope } from './check-scope.ts'

/** A method or path that the body names must be allowed as well, and under the settings that already hold for the call. */
export function checkBodyOverrides(
  call: Call,
  asked: AskedCall,
  { settings }: AllowedScope,
  inHead: Overrides,
  facts: BodyFacts | null,
): Step<null> {
  if (facts === null) return given(null)
  const { record } = call
  const { unread, overrides } = facts
  if (unread?.kind === 'unsupported_encoding')
    return refuse(record, 'body', 'unsupported_content_encoding', {
      content_encoding: unread.content_encoding,
    })
  if (unread?.kind === 'too_large')
    return refuse(record, 'body', 'request_too_large', { limit_bytes: unread.limit_bytes })
  if (isEmpty(overrides)) return given(null)
  const again = checkScope(call, asked, joinOverrides(inHead, overrides))
  if (!again.ok) return again
  // Rate and size were judged by the settings before the body was known; stricter ones come too late.
  return again.value.settings.scope_ids.length === settings.scope_ids.length
    ? given(null)
    : refuse(record, 'scope', 'ambiguous_request', { reason: '_method' })
}
