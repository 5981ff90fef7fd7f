import type { TargetProblem } from './parse-target.ts'

/** `details` of `invalid_target_url`. */
export const targetProblemDetails = (reason: TargetProblem): Readonly<Record<string, unknown>> =>
  reason in HINTS ? { reason, hint: HINTS[reason] } : { reason }

const OTHER_READINGS =
  'Servers read such a path in different ways, so it is refused in every encoding, also as a part of the key of an object. Use another name.'

const HINTS: Readonly<Partial<Record<TargetProblem, string>>> = {
  percent_encoded:
    'The target URL is percent-encoded. Append it to the gateway address unencoded: /https://host/path',
  dot_segment: OTHER_READINGS,
  backslash: OTHER_READINGS,
}
