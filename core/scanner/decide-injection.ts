import type { InjectionMode, RoleModes } from '../catalogue/model.ts'
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

/** What is done about findings: by the mode, or by that of the speaker. */
export type Actions = { readonly mode: InjectionMode; readonly roles?: RoleModes }

/** What is done about a finding. Where it is none in the words of its speaker, it is only recorded. */
export const actionOn = (
  { counts, speaker }: Pick<Finding, 'counts' | 'speaker'>,
  { mode, roles }: Actions,
): InjectionMode => (counts ? (roles?.[speaker] ?? mode) : 'log')

const STRENGTH: Readonly<Record<InjectionMode, number>> = { block: 0, alert: 1, log: 2 }

/** The decision table: mode × severity × whitelist × speaker. `findings` contains only what the sensitivity checks. */
export const decideInjection = (
  findings: readonly Finding[],
  actions: Actions,
): InjectionDecision => {
  if (findings.length === 0) return CLEAN
  const other_findings = findings.length - 1
  const standing = bySeverity(findings.filter((finding) => !finding.whitelisted))
    .map((finding) => {
      const mode = actionOn(finding, actions)
      const isRefused = mode === 'block' && finding.severity !== 'medium'
      return { finding, mode, isRefused, strength: isRefused ? -1 : STRENGTH[mode] }
    })
    .sort((a, b) => a.strength - b.strength)
  const [first] = standing
  if (first === undefined) {
    return {
      ...CLEAN,
      mode: actions.mode,
      outcome: 'whitelisted',
      reported: bySeverity(findings)[0] ?? null,
      other_findings,
    }
  }
  const { finding: reported, mode, isRefused } = first
  if (mode === 'log') return { ...CLEAN, outcome: 'logged', reported, other_findings }
  return {
    outcome: isRefused ? 'blocked' : 'detected',
    may_kill: isRefused && reported.severity === 'critical' && reported.category !== 'custom',
    mode,
    reported,
    other_findings,
  }
}
