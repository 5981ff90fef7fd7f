import type { AdmissionStep } from '../../core/decision/admission.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { shortText } from '../../core/system/short-text.ts'
import type { Denial } from './denial.ts'

/**
 * The steps of a decision, in the order in which they are taken (`decideCall`); those of admission are numbered at
 * `ADMISSION_STEPS`. The lease is checked first and once more at the end, where the kill flag (step `agent`) is too.
 */
export type StepName =
  | 'lease'
  | AdmissionStep
  | 'rate'
  | 'body'
  | 'tools'
  | 'scan'
  | 'approval'
  | 'credential'

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

/** The longest texts of a refusal are a method and a path (core/request/describe-call.ts); others are as long as a caller likes. */
const TEXT_LENGTH_MAX = 2_304

export const deny = (
  step: StepName,
  reason: Reason,
  details: Denial['details'] = {},
  more: Omit<Denial, 'reason' | 'details'> = {},
): Deny => ({
  kind: 'deny',
  step,
  denial: { reason, ...more, details: withShortTexts(details), ...dataOf(more) },
})

const dataOf = ({ data }: Pick<Denial, 'data'>): Pick<Denial, 'data'> =>
  data === undefined ? {} : { data: withShortTexts(data) }

const withShortTexts = (members: Denial['details']): Denial['details'] =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === 'string' ? shortText(value, TEXT_LENGTH_MAX) : value,
    ]),
  )
