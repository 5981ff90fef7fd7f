import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import {
  type CompiledInjectionSettings,
  compileInjectionSettings,
} from '../../core/scanner/compile-settings.ts'
import type { InjectionDecision } from '../../core/scanner/decide-injection.ts'
import { type Call, deny } from './call.ts'
import type { Answer } from './call-stream.ts'
import type { AllowedScope, AskedCall } from './check-scope.ts'

/** Settings are merged once for each set of scopes, so their compiled form is kept with them. */
const compiled = new WeakMap<EffectiveSettings, CompiledInjectionSettings>()

/** @throws when stored patterns do not compile, which admin refuses to store: the call is then not decided */
export function compiledInjection(settings: EffectiveSettings): CompiledInjectionSettings {
  const known = compiled.get(settings)
  if (known !== undefined) return known
  const made = compileInjectionSettings(settings.injection)
  if (!made.ok)
    throw new Error(`injection patterns of a scope do not compile: ${made.faults[0]?.reason}`)
  compiled.set(settings, made.compiled)
  return made.compiled
}

/** What of a finding goes into the event and the activity log (contract §7). */
export function findingData(
  { reported, other_findings }: InjectionDecision,
  mode: string,
): Record<string, unknown> {
  if (reported === null) return {}
  const { pattern_name, severity, matched_text, location, category, whitelisted, pattern } =
    reported
  return {
    pattern_name,
    severity,
    matched_text,
    location,
    category,
    mode,
    whitelisted,
    pattern,
    other_findings,
  }
}

/** The injection scan; null lets the call go on. It looks over what the caller can fill with text, in the body, the query, the path and odd headers. */
export async function scanCall(
  call: Call,
  { integration, target, identity }: AskedCall,
  { settings }: AllowedScope,
  body: Buffer | null,
): Promise<Answer | null> {
  const { head, headers, record, parts } = call
  if (!settings.injection.enabled) return null
  const scanning = parts.pool.scanRequest(
    {
      body,
      content_type: head.content_type === '' ? null : head.content_type,
      content_encoding: head.content_encoding,
      path: pathBelowBase(target.raw_path, integration.base.segments.length),
      query: target.raw_query ?? '',
      headers: headers.map(({ name, value }) => [name, value] as const),
    },
    compiledInjection(settings),
    parts.settings.max_body_bytes,
  )
  const result = scanning instanceof Promise ? await scanning : scanning
  switch (result.kind) {
    case 'busy':
      return deny(record, 'scan', 'gateway_unavailable')
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

/** As it was sent, from the first slash below the base URL on. */
function pathBelowBase(raw_path: string, base_segments: number): string {
  let at = 0
  for (let i = 0; i < base_segments && at >= 0; i++) at = raw_path.indexOf('/', at + 1)
  return at < 0 ? '' : raw_path.slice(at)
}
