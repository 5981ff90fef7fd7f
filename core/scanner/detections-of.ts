import type { InjectionMode } from '../model.ts'
import type { Finding } from './finding.ts'

/** Findings as `agw scan` and `POST /admin/scan` show them. */
export const detectionsOf = (findings: readonly Finding[], mode: InjectionMode) =>
  findings.map(
    ({
      pattern_name,
      category,
      severity,
      speaker,
      counts,
      matched_text,
      location,
      start,
      end,
    }) => ({
      pattern_name,
      category,
      severity,
      speaker,
      action: counts ? mode : ('log' as const),
      matched_text,
      location,
      start,
      end,
    }),
  )
