import { type Actions, actionOn } from './decide-injection.ts'
import type { Finding } from './finding.ts'

/** Findings as `agw scan` and `POST /admin/scan` show them. */
export const detectionsOf = (findings: readonly Finding[], actions: Actions) =>
  findings.map((finding) => {
    const { pattern_name, category, severity, speaker, whitelisted, matched_text } = finding
    const { location, start, end, text_hash } = finding
    const action = whitelisted ? 'log' : actionOn(finding, actions)
    const found = { pattern_name, category, severity, speaker, action, matched_text, location }
    return { ...found, start, end, text_hash }
  })
