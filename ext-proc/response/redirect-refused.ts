import type { Denial } from '../verdict/denial.ts'

/** How much of a refused reference the activity log shows. */
const SHOWN_LENGTH_LIMIT = 200

/** @param header where the reference is: the name of a header, or of an event */
export function redirectRefused(
  header: string,
  reference: string,
  reason: string,
  base_url: string,
): Denial {
  const details = { base_url, header, reason }
  // What follows a question mark is often a secret.
  const leads_to = (reference.split(/[?#]/, 1)[0] ?? '').slice(0, SHOWN_LENGTH_LIMIT)
  return { reason: 'redirect_refused', details, data: { ...details, leads_to } }
}
