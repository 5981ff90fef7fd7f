import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { findingData } from '../record/finding-data.ts'
import { type Call, deny } from './call.ts'
import type { Answer } from './call-stream.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'

/** The injection scan, which was made with the other questions to the body; null lets the call go on. */
export async function scanCall(
  call: Call,
  { identity }: AskedCall,
  { settings }: AllowedScope,
  facts: BodyFacts | null,
): Promise<Answer | null> {
  const { record, parts } = call
  if (!settings.injection.enabled) return null
  const result = facts?.scan ?? null
  if (result === null) throw new Error('a call that must be scanned was not')
  record.setAside(-(facts?.scan_ms ?? 0))
  switch (result.kind) {
    case 'unsupported_encoding':
      return deny(record, 'scan', 'unsupported_content_encoding', {
        content_encoding: result.content_encoding,
      })
    case 'too_large':
      return deny(record, 'scan', 'request_too_large', { limit_bytes: result.limit_bytes })
    case 'scanned':
      break
  }
  const { decision } = result
  const { reported } = decision
  if (reported === null) {
    record.mark('scan', 'pass')
    return null
  }
  const data = findingData(decision, settings.injection.mode)
  if (decision.outcome !== 'blocked') {
    record.found(data)
    record.mark('scan', 'pass')
    return null
  }
  record.mark('scan', 'deny')
  if (decision.may_kill && settings.injection.auto_kill_on_critical) {
    call.io.letGo()
    await parts.autoKill(identity.agent, {
      kill_method: 'auto_injection',
      reason: `critical injection: ${reported.pattern_name} in ${reported.location}`,
    })
  }
  const { pattern_name, severity, matched_text, location } = reported
  const details = { pattern_name, severity, matched_text, location }
  return { kind: 'deny', denial: { reason: 'security_block', details, data } }
}
