import type { Lock } from '../catalogue/model.ts'
import type { LockReceipt } from './lock-record.ts'

/** Of a lock that no edge has acknowledged yet, or that an edge has restored. */
export const emptyReceipt = ({ lock_id }: Pick<Lock, 'lock_id'>): LockReceipt => ({
  lock_id,
  counted_at: null,
  complete: false,
  in_flight_requests_terminated: 0,
  tunnels_terminated: 0,
  propagation_ms: 0,
  edges: [],
})
