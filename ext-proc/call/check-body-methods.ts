import { findBodyMethods } from '../../core/policy/find-body-methods.ts'
import type { Overrides } from '../../core/policy/find-overrides.ts'
import { inflateBody } from '../../core/scanner/format/inflate-body.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import { type AllowedScope, type AskedCall, checkScope } from './check-scope.ts'

/** A method that the body names must be allowed as well, and under the settings that the call is held to already. */
export function checkBodyMethods(
  call: Call,
  asked: AskedCall,
  { settings }: AllowedScope,
  overrides: Overrides,
  body: Buffer | null,
): Step<null> {
  if (body === null || body.length === 0) return given(null)
  const { head, record, parts } = call
  const limit_bytes = parts.settings.max_body_bytes
  const inflated = inflateBody(body, head.content_encoding, limit_bytes)
  if (inflated.kind === 'unsupported')
    return refuse(record, 'body', 'unsupported_content_encoding', {
      content_encoding: inflated.content_encoding,
    })
  if (inflated.kind === 'too_large')
    return refuse(record, 'body', 'request_too_large', { limit_bytes })
  const methods = findBodyMethods(inflated.bytes, head.content_type)
  if (methods.length === 0) return given(null)
  const again = checkScope(call, asked, {
    ...overrides,
    methods: [...overrides.methods, ...methods],
  })
  if (!again.ok) return again
  // Rate and size were judged by the settings before the body was known; stricter ones come too late.
  return again.value.settings.scope_ids.length === settings.scope_ids.length
    ? given(null)
    : refuse(record, 'scope', 'ambiguous_request', { reason: '_method' })
}
