import type { TargetProblem } from './parse-target.ts'

/** `details` of `invalid_target_url`. */
export const targetProblemDetails = (reason: TargetProblem): Readonly<Record<string, unknown>> =>
  reason === 'percent_encoded' ? { reason, hint: ENCODED_HINT } : { reason }

const ENCODED_HINT =
  'The target URL is percent-encoded. Append it to the gateway address unencoded: /https://host/path'
