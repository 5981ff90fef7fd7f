import type { InjectionDecision } from '../../core/scanner/decide-injection.ts'
import type { Denial } from '../verdict/denial.ts'
import { findingData } from './finding-data.ts'

type Reported = NonNullable<InjectionDecision['reported']>

/** What a finding leads to: a refusal, or data for the log. */
export type JudgedFinding =
  | { readonly kind: 'deny'; readonly found: Reported; readonly denial: Denial }
  | { readonly kind: 'note'; readonly data: Readonly<Record<string, unknown>> }

/** Null if nothing was found. @param text_hash keyed, of the text that it was found in; null where none is logged */
export function judgeDecision(
  decision: InjectionDecision,
  text_hash: string | null,
): JudgedFinding | null {
  const { reported } = decision
  if (reported === null) return null
  const data = findingData(decision, text_hash)
  if (decision.outcome !== 'blocked') return { kind: 'note', data }
  const { pattern_name, severity, matched_text, location } = reported
  const details = { pattern_name, severity, matched_text, location }
  return { kind: 'deny', found: reported, denial: { reason: 'security_block', details, data } }
}
