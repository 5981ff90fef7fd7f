import type { InjectionDecision } from '../../core/scanner/decide-injection.ts'

/** What of a finding goes into the event and the activity log. */
export function findingData(
  { reported, other_findings, mode }: InjectionDecision,
  text_hash: string | null,
): Record<string, unknown> {
  if (reported === null) return {}
  const {
    pattern_name,
    severity,
    matched_text,
    location,
    category,
    whitelisted,
    pattern,
    speaker,
  } = reported
  return {
    pattern_name,
    severity,
    matched_text,
    location,
    speaker,
    category,
    mode,
    whitelisted,
    pattern,
    other_findings,
    ...(text_hash === null ? {} : { text_hash }),
  }
}
