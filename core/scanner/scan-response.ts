import type { CompiledInjectionSettings } from './compile-settings.ts'
import { decideInjection } from './decide-injection.ts'
import { type Finding, FINDING_LIMIT } from './finding.ts'
import { inflateBody } from './format/inflate-body.ts'
import { takeApart } from './format/take-apart.ts'
import { INFLATED_LIMIT_BYTES, type ScanResult } from './scan-request.ts'
import { scanSource } from './scan-source.ts'
import { SearchBudget } from './text/search-budget.ts'

export type ResponseInput = {
  readonly body: Buffer
  readonly content_type: string | null
  readonly content_encoding: string | null
}

/**
 * Scans a whole response (JSON or text) within a budget that says whether the result counts. A response that cannot be inflated
 * must be blocked by the caller.
 */
export const scanResponseBody = (
  input: ResponseInput,
  settings: CompiledInjectionSettings,
  limit_bytes: number = INFLATED_LIMIT_BYTES,
  budget: SearchBudget = new SearchBudget(),
): ScanResult => {
  const inflated = inflateBody(input.body, input.content_encoding, limit_bytes, 'response')
  if (inflated.kind === 'unsupported')
    return { kind: 'unsupported_encoding', content_encoding: inflated.content_encoding }
  if (inflated.kind === 'too_large') return inflated
  const findings: Finding[] = []
  for (const source of takeApart(
    inflated.bytes,
    input.content_type,
    'response.body',
    limit_bytes,
  )) {
    scanSource(source, settings, findings, budget)
    if (findings.length >= FINDING_LIMIT || budget.isUndecided) break
  }
  return { kind: 'scanned', findings, decision: decideInjection(findings, settings.mode) }
}
