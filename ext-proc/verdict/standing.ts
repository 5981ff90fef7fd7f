import type { LockSubject } from '../../core/decision/locks.ts'
import type { Denial } from './denial.ts'

export interface StandingSubject extends LockSubject {
  readonly is_reading: boolean
}

/** By what an allowed call that is still running is decided again when something it depends on has changed. */
export interface Standing {
  /** SHA-256 of its key. */
  readonly key_hash: string
  /** What a lock may name of it, and whether it does nothing but read. */
  readonly subject: StandingSubject
  /** When it has to be decided again in any case: its scope ends then, and running calls with it. Each review may change it. */
  readonly ends_ms?: number | null
  /** Admission alone, by the state of now: null if it would still be admitted. Otherwise, time alone changes nothing. */
  readonly review: () => Promise<Denial | null>
}
