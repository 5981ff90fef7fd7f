/** Lifetimes are in whole seconds, so a token may end up to a second earlier. */
const ROUNDING_MS = 1_000
const MARGIN_LIMIT_MS = 30_000
const AHEAD_LIMIT_MS = 600_000

/** A token is not used so long before its end, since it might expire in transit. */
export const marginOf = (life_ms: number): number =>
  Math.min(life_ms / 10 + ROUNDING_MS, life_ms / 3, MARGIN_LIMIT_MS)

/** It is renewed so long before its end, while the old one still serves. */
export const aheadOf = (life_ms: number): number =>
  Math.min(life_ms / 3 + ROUNDING_MS, life_ms / 2, AHEAD_LIMIT_MS)
