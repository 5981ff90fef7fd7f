import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import { asText } from './as-text.ts'

/** The reason is for people; a longer one is truncated, since a kill never fails because of its form. */
export const REASON_LENGTH_LIMIT = 2000

/**
 * The reason of a kill or a reactivation as it is stored, sent and shown to every role. A leaked key is a usual reason, and may
 * be quoted in it.
 */
export function readReason(value: unknown): string {
  const text = asText(value, REASON_LENGTH_LIMIT)
  try {
    return maskSecrets(text)
  } catch {
    // The expressions ran out of memory. A kill does not fail because of its reason.
    return '***'
  }
}
