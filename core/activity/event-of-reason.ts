import type { RefusalEvent } from '../events.ts'
import { isReason, REASONS } from '../reasons.ts'

/** The event that records a refusal; `reason` may be from another version of the product. */
export const eventOfReason = (reason: string): RefusalEvent =>
  isReason(reason) ? REASONS[reason].event : 'request_rejected'
