/** An incident is over when the score stayed below this share of its threshold… */
const CALM_SHARE = 0.6
/** …for this long. Until then it is the same incident and is reported once. */
export const COOL_DOWN_MS = 30 * 60_000

/** What was reported about the current incident of a scope. */
export interface Incident {
  readonly opened_ms: number
  readonly high_ms: number
  readonly killed: boolean
}

export interface Thresholds {
  readonly alert_threshold: number
  /** 1 is never. */
  readonly auto_kill_threshold: number
}

export interface IncidentStep {
  readonly incident: Incident | null
  readonly action: 'alert' | 'kill' | null
}

/** The consequence of a score for a scope: one alert per incident, and one kill if the score is high enough. */
export function stepIncident(
  before: Incident | null,
  score: number,
  at_ms: number,
  { alert_threshold, auto_kill_threshold }: Thresholds,
): IncidentStep {
  const kills = auto_kill_threshold < 1 && score >= auto_kill_threshold
  const alerts = kills || score >= alert_threshold
  const runs = before !== null && at_ms - before.high_ms <= COOL_DOWN_MS
  if (!runs) {
    if (!alerts) return { incident: null, action: null }
    const incident = { opened_ms: at_ms, high_ms: at_ms, killed: kills }
    return { incident, action: kills ? 'kill' : 'alert' }
  }
  const is_high = score >= CALM_SHARE * Math.min(alert_threshold, auto_kill_threshold)
  const incident = {
    opened_ms: before.opened_ms,
    high_ms: is_high ? at_ms : before.high_ms,
    killed: before.killed || kills,
  }
  return { incident, action: kills && !before.killed ? 'kill' : null }
}
