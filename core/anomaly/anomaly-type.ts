/** The kinds of anomalies in a scope's traffic. */
export const ANOMALY_TYPES = [
  'frequency',
  'new_endpoint',
  'error_rate',
  'denied_rate',
  'payload_size',
  'new_source_ip',
  'off_hours',
] as const
export type AnomalyType = (typeof ANOMALY_TYPES)[number]

/** The state of a scope at one time, from 0 (normal) to 1. */
export interface ScopeScore {
  readonly agent_id: string
  readonly scope_id: string
  readonly at_ms: number
  readonly learning: boolean
  readonly score: number
  /** The signals that the score results from, strongest first. */
  readonly types: readonly AnomalyType[]
  readonly normal_rpm: number
  readonly current_rpm: number
}
