import type { RefusalEvent } from '../catalogue/events.ts'
import { isReason, REASONS } from '../catalogue/reasons.ts'

/** The event that records a refusal; `reason` may be from another version of the product. */
export const eventOfReason = (reason: string): RefusalEvent =>
  isReason(reason) ? REASONS[reason].event : 'request_rejected'
