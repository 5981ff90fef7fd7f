import type { AdmissionStep } from '../../core/decision/admission.ts'
import type { Reason } from '../../core/reasons.ts'
import type { Denial } from './denial.ts'

/**
 * The steps of a decision, in the order in which they are taken (`decideCall`); those of admission are numbered at
 * `ADMISSION_STEPS`. The lease is checked first and once more at the end, where the kill flag (step `agent`) is too.
 */
export type StepName = 'lease' | AdmissionStep | 'rate' | 'body' | 'tools' | 'scan' | 'credential'

/** The result of a step: what later steps need, or the refusal of the call. */
export type Step<T> = Pass<T> | Deny

export interface Pass<T> {
  readonly kind: 'pass'
  readonly value: T
}

export interface Deny {
  readonly kind: 'deny'
  readonly step: StepName
  readonly denial: Denial
}

export const pass = <T>(value: T): Pass<T> => ({ kind: 'pass', value })

export const deny = (
  step: StepName,
  reason: Reason,
  details: Denial['details'] = {},
  more: Omit<Denial, 'reason' | 'details'> = {},
): Deny => ({ kind: 'deny', step, denial: { reason, details, ...more } })
