import type { InjectionMode } from '../model.ts'
import { bySeverity, type Finding } from './finding.ts'

export type InjectionDecision = {
  /** `whitelisted`: recorded without alert. `logged`: an activity entry and no event. */
  readonly outcome: 'clean' | 'whitelisted' | 'logged' | 'detected' | 'blocked'
  /** Whether `auto_kill_on_critical` may act: a critical built-in finding, refused, not whitelisted. */
  readonly may_kill: boolean
  /** What was done about it: the mode, and `log` for what is no finding in the words of its speaker. */
  readonly mode: InjectionMode
  /** Of those that decided, the most severe finding, then the first in the text. */
  readonly reported: Finding | null
  readonly other_findings: number
}

const CLEAN: InjectionDecision = {
  outcome: 'clean',
  may_kill: false,
  mode: 'log',
  reported: null,
  other_findings: 0,
}

/** The decision table: mode × severity × whitelist × speaker. `findings` contains only what the sensitivity checks. */
export const decideInjection = (
  findings: readonly Finding[],
  mode: InjectionMode,
): InjectionDecision => {
  if (findings.length === 0) return CLEAN
  const standing = bySeverity(findings.filter((finding) => !finding.whitelisted))
  const counted = standing.filter(({ counts }) => counts)
  const reported = counted[0] ?? standing[0]
  const other_findings = findings.length - 1
  if (reported === undefined) {
    return {
      ...CLEAN,
      mode,
      outcome: 'whitelisted',
      reported: bySeverity(findings)[0] ?? null,
      other_findings,
    }
  }
  if (mode === 'log' || !reported.counts)
    return { ...CLEAN, outcome: 'logged', reported, other_findings }
  const isRefused = mode === 'block' && reported.severity !== 'medium'
  return {
    outcome: isRefused ? 'blocked' : 'detected',
    may_kill: isRefused && reported.severity === 'critical' && reported.category !== 'custom',
    mode,
    reported,
    other_findings,
  }
}
