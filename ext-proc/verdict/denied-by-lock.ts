import type { Lock } from '../../core/catalogue/model.ts'
import { endOfLock, lockDetails } from '../../core/decision/locks.ts'
import type { Denial } from './denial.ts'
import { retryAfter } from './retry-after.ts'

/** @param more members of the denial, such as the status of a call in flight */
export function deniedByLock(lock: Lock, at_ms: number, more: Partial<Denial> = {}): Denial {
  const left_ms = endOfLock(lock) - at_ms
  return {
    reason: 'locked',
    details: lockDetails(lock),
    ...(Number.isFinite(left_ms) ? { headers: retryAfter(left_ms) } : {}),
    ...more,
  }
}
