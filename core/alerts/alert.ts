/** What an alert can be about. */
export const ALERT_KINDS = [
  'injection',
  'anomaly',
  'agent_killed',
  'locked',
  'webhook_failing',
  'activity_lost',
  'archive_stopped',
  'archive_trimmed',
  'log_export_failing',
  'trace_export_failing',
  'state_lost',
  'changes_lost',
  'proxy_unanswered',
  'edge_name_clash',
  'edge_lost',
  'clock_skew',
  'encryption_key',
  'streams_not_kept',
  'patterns_unusable',
  'store_lost',
  'restore_gap',
  'unlisted_hosts',
  'store_memory',
  'store_disk',
  'scope_expiring',
  'key_expiring',
  'token_expiring',
  'certificate_expiring',
  'credential_echoed',
  'credential_expiring',
  'secret_unavailable',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

export const ALERT_SEVERITIES = ['critical', 'high', 'medium'] as const
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number]

/**
 * What an alert is about: the state of the gateway itself, what an agent did and the gateway let pass or an operator has to follow up,
 * or what the gateway has refused. In the order in which an operator needs them.
 */
export const ALERT_CONCERNS = ['gateway', 'agents', 'handled'] as const
export type AlertConcern = (typeof ALERT_CONCERNS)[number]

/** Agents can cause these. */
const OF_AGENTS: ReadonlySet<AlertKind> = new Set([
  'injection',
  'anomaly',
  'agent_killed',
  'credential_echoed',
])

export const concernOf = (kind: AlertKind, is_handled: boolean): AlertConcern =>
  !OF_AGENTS.has(kind) ? 'gateway' : is_handled ? 'handled' : 'agents'

/** A condition that an operator should look at. While an alert about the same thing is open, repeats are counted there. */
export interface AlertCause {
  /** Identifies the thing: causes with the same text are one alert. Only the first 500 characters count. */
  readonly about: string
  readonly kind: AlertKind
  readonly severity: AlertSeverity
  /** One sentence for operators, without secrets. */
  readonly title: string
  /** Details of this occurrence; those of the latest are shown. Small, without secrets. */
  readonly occurrence: Readonly<Record<string, unknown>>
  /** Occurrences that this stands for: 1 unless set. */
  readonly count?: number
  /** The gateway has refused what it is about. */
  readonly is_handled?: boolean
  /** Whether the caller sends the e-mail itself; otherwise a new alert is included in the next e-mail. */
  readonly is_mailed?: boolean
}
