/** The result of one check of `agw doctor`. */
export interface CheckResult {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly says: string
  /** What to do about it; absent when the check passed. */
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
