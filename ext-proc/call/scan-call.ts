import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import {
  type CompiledInjectionSettings,
  compileInjectionSettings,
} from '../../core/scanner/compile-settings.ts'
import type { InjectionDecision } from '../../core/scanner/decide-injection.ts'
import { scanRequest } from '../../core/scanner/scan-request.ts'
import { type Call, given, refuse, type Step } from './call.ts'
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

/** The injection scan: over what the caller can fill with text, in the body, the query, the path and odd headers. */
export async function scanCall(
  call: Call,
  { integration, target, identity }: AskedCall,
  { settings }: AllowedScope,
  body: Buffer | null,
): Promise<Step<'request_allowed' | 'injection_detected'>> {
  const { head, headers, record, parts } = call
  if (!settings.injection.enabled) return given('request_allowed')
  const result = await parts.scan(
    {
      body,
      content_type: head.content_type === '' ? null : head.content_type,
      content_encoding: head.content_encoding,
      path: pathBelowBase(target.raw_path, integration.base.segments.length),
      query: target.raw_query ?? '',
      headers: headers.map(({ name, value }) => [name, value] as const),
    },
    settings,
  )
  switch (result.kind) {
    case 'busy':
      return refuse(record, 'scan', 'gateway_unavailable')
    case 'unsupported_encoding':
      return refuse(record, 'scan', 'unsupported_content_encoding', {
        content_encoding: result.content_encoding,
      })
    case 'too_large':
      return refuse(record, 'scan', 'request_too_large', { limit_bytes: result.limit_bytes })
    case 'scanned':
      break
  }
  const { decision } = result
  const { reported } = decision
  if (reported === null) {
    record.mark('scan', 'pass')
    return given('request_allowed')
  }
  const data = findingData(decision, settings.injection.mode)
  if (decision.outcome !== 'blocked') {
    Object.assign(record.facts.data, data)
    record.mark('scan', 'pass')
    return given('injection_detected')
  }
  record.mark('scan', 'deny')
  if (decision.may_kill && settings.injection.auto_kill_on_critical) {
    call.io.letGo()
    parts.autoKill(identity.agent, {
      kill_method: 'auto_injection',
      reason: `critical injection: ${reported.pattern_name} in ${reported.location}`,
    })
  }
  const { pattern_name, severity, matched_text, location } = reported
  const details = { pattern_name, severity, matched_text, location }
  return {
    ok: false,
    answer: { kind: 'deny', denial: { reason: 'security_block', details, data } },
  }
}

/** As it was sent, from the first slash below the base URL on. */
function pathBelowBase(raw_path: string, base_segments: number): string {
  let at = 0
  for (let i = 0; i < base_segments && at >= 0; i++) at = raw_path.indexOf('/', at + 1)
  return at < 0 ? '' : raw_path.slice(at)
}

/** The scan on this thread; what a pool of threads does for large bodies has the same shape. */
export const scanHere = (
  input: Parameters<typeof scanRequest>[0],
  settings: EffectiveSettings,
  limit_bytes: number,
): ReturnType<typeof scanRequest> => scanRequest(input, compiledInjection(settings), limit_bytes)
