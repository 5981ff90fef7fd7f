import type { CompiledInjectionSettings } from './compile-settings.ts'
import { decideInjection } from './decide-injection.ts'
import { addFinding, type Finding, holdsOnlyWorst } from './finding.ts'
import { inflateBody } from './format/inflate-body.ts'
import { takeApart } from './format/take-apart.ts'
import { INFLATED_LIMIT_BYTES, type ScanResult } from './scan-request.ts'
import { scanSource } from './scan-source.ts'
import { joinedLines } from './stream/joined-lines.ts'
import { SearchBudget } from './text/search-budget.ts'

const LOCATION = 'response.body'

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
  for (const source of takeApart(inflated.bytes, input.content_type, LOCATION, limit_bytes)) {
    scanSource(source, settings, findings, budget)
    if (holdsOnlyWorst(findings) || budget.isUndecided) break
  }
  addJoined(inflated.bytes, settings, findings, budget)
  return { kind: 'scanned', findings, decision: decideInjection(findings, settings) }
}

/** Findings in texts that grow over lines, unless a single line has shown the same. */
function addJoined(
  body: Buffer,
  settings: CompiledInjectionSettings,
  findings: Finding[],
  budget: SearchBudget,
): void {
  const nameOf = ({ pattern_name, severity }: Finding): string => `${pattern_name} ${severity}`
  const known = new Set(findings.map(nameOf))
  for (const source of joinedLines(body)) {
    if (holdsOnlyWorst(findings) || budget.isUndecided) return
    const found: Finding[] = []
    scanSource(source, settings, found, budget)
    for (const one of found) if (!known.has(nameOf(one))) addFinding(findings, one)
  }
}
