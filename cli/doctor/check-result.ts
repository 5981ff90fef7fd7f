/** What `agw doctor` says of one point. */
export interface CheckResult {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly says: string
  /** What to do about it; not there where all is well. */
  readonly advice?: string
}

export const ok = (check: string, says: string): CheckResult => ({ check, state: 'ok', says })
export const warning = (check: string, says: string, advice: string): CheckResult => ({
  check,
  state: 'warning',
  says,
  advice,
})
export const failed = (check: string, says: string, advice: string): CheckResult => ({
  check,
  state: 'failed',
  says,
  advice,
})
