import type { Denial } from './denial.ts'

/** By what an allowed call that is still running is decided again when something it depends on has changed. */
export interface Standing {
  /** SHA-256 of its key. */
  readonly key_hash: string
  /** Admission alone, by the state of now: null if it would still be admitted. Time alone changes nothing. */
  readonly review: () => Promise<Denial | null>
}
