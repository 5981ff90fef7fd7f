import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { resolveWhere } from '../../core/alerts/resolve-where.ts'
import {
  clockSkews,
  SKEW_ADVICE,
  skewSentence,
  wrongClocks,
} from '../../core/control/clock-skews.ts'
import type { EdgeWatch } from './edge-watch.ts'

const ABOUT = 'clock_skew '

/**
 * Compares the clocks of all hosts with the clock of the store: one alert for each host whose clock is wrong in two looks in a row,
 * since a heartbeat may be late. It is closed when the clock is right again or the host is gone.
 */
export function makeClockWatch({
  redis,
  organization_id,
  lease_ms,
  now,
}: EdgeWatch): () => Promise<void> {
  let before: ReadonlySet<string> = new Set()
  let raised: ReadonlySet<string> = new Set()
  return async () => {
    const wrong = wrongClocks(await clockSkews(redis, lease_ms, () => now().getTime()))
    const told = new Set<string>()
    for (const [host, skew_ms] of wrong) {
      if (!before.has(host)) continue
      told.add(host)
      if (raised.has(host)) continue
      const cause = {
        about: `${ABOUT}${host}`,
        kind: 'clock_skew',
        severity: 'high',
        title: `${skewSentence(host, skew_ms)} Times in the log and expiry times differ by as much. ${SKEW_ADVICE}`,
        occurrence: { host, skew_ms },
      } as const
      await raiseAlert(redis, organization_id, cause, now())
    }
    before = new Set(wrong.keys())
    raised = told
    await resolveWhere(redis, organization_id, ABOUT, {
      isOver: (host) => !wrong.has(host),
      resolution: 'The clock is right again, or the host is gone.',
      at: now(),
    })
  }
}
