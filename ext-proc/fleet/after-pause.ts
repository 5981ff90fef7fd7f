import type { LivenessLease } from './liveness-lease.ts'
import type { StallWatch } from './stall-watch.ts'

interface PauseParts {
  readonly stall: Pick<StallWatch, 'caughtUp'>
  readonly lease: Pick<LivenessLease, 'regained'>
}

/**
 * Null, or, after this process was paused, resolves when the messages received in the meantime have been read and the lease is held
 * again, or was waited for long enough.
 */
export function afterPause({ stall, lease }: PauseParts): Promise<void> | null {
  const catchingUp = stall.caughtUp()
  return catchingUp === null ? lease.regained : catchingUp.then(() => lease.regained ?? undefined)
}
