/** What an alert can be about. */
export const ALERT_KINDS = [
  'injection',
  'anomaly',
  'agent_killed',
  'webhook_failing',
  'activity_lost',
  'archive_stopped',
  'archive_trimmed',
  'state_lost',
  'edge_name_clash',
  'encryption_key',
  'streams_not_kept',
  'store_lost',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

export const ALERT_SEVERITIES = ['critical', 'high', 'medium'] as const
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number]

/** Something that a person should look at; while an alert about the same thing is open, it is counted there. */
export interface AlertCause {
  /** Names the thing: causes with the same text are one alert. At most 500 characters count. */
  readonly about: string
  readonly kind: AlertKind
  readonly severity: AlertSeverity
  /** One sentence for people, without a secret. */
  readonly title: string
  /** What this occurrence was; the last one is shown. Small, and without a secret. */
  readonly occurrence: Readonly<Record<string, unknown>>
  /** Whether the caller sends the e-mail itself; otherwise a new alert is included in the next e-mail. */
  readonly is_mailed?: boolean
}
