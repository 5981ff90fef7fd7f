import type { Finding } from './finding.ts'

/** Findings as `agw scan` and `POST /admin/scan` show them. */
export const detectionsOf = (findings: readonly Finding[]) =>
  findings.map(({ pattern_name, category, severity, matched_text, location, start, end }) => ({
    pattern_name,
    category,
    severity,
    matched_text,
    location,
    start,
    end,
  }))
