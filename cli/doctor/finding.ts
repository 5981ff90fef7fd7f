/** What `agw doctor` says of one point. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly says: string
  /** What to do about it; not there where all is well. */
  readonly advice?: string
}

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says })
export const warning = (check: string, says: string, advice: string): Finding => ({
  check,
  state: 'warning',
  says,
  advice,
})
export const failed = (check: string, says: string, advice: string): Finding => ({
  check,
  state: 'failed',
  says,
  advice,
})
