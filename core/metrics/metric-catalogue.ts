/** Every metric of the product; docs/reference/metrics.md is made from it. Labels never name an organization or an agent. */
interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Who counts: each ext-proc process, under the label `edge`, or the admin process that is asked. */
  readonly source: 'edge' | 'admin'
}

export const METRICS = {
  agw_calls_total: {
    type: 'counter',
    help: 'Calls by verdict and by the reason of the refusal; a call that is cut after its pass counts as both.',
    labels: ['edge', 'verdict', 'reason'],
    source: 'edge',
  },
  agw_step_duration_seconds: {
    type: 'histogram',
    help: 'Time that one step of the decision took, waiting included.',
    labels: ['edge', 'step'],
    source: 'edge',
  },
  agw_calls_in_flight: {
    type: 'gauge',
    help: 'Calls that the edge holds.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_lease_held: {
    type: 'gauge',
    help: 'Whether the edge may serve: 1, or 0 while it cannot prove that it hears kills.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_activity_waiting_entries: {
    type: 'gauge',
    help: 'Entries of the activity log that wait to be written.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_activity_lost_total: {
    type: 'counter',
    help: 'Entries of allowed calls that were dropped because the store did not take them.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_refusals_counted_total: {
    type: 'counter',
    help: 'Refusals that were counted instead of recorded one by one.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_token_fetches_total: {
    type: 'counter',
    help: 'Access tokens that were asked for at the token endpoints of integrations.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_token_fetch_failures_total: {
    type: 'counter',
    help: 'Those of them that did not come; the log of the edge says why.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_edges: {
    type: 'gauge',
    help: 'Edges whose lease may run.',
    labels: [],
    source: 'admin',
  },
  agw_kills_total: {
    type: 'counter',
    help: 'Kills by method, seen in the log by the process that digests it.',
    labels: ['method'],
    source: 'admin',
  },
  agw_kill_propagation_seconds: {
    type: 'histogram',
    help: 'From the publish of a kill to the last acknowledgement.',
    labels: [],
    source: 'admin',
  },
  agw_webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts to deliver an event, by outcome: success, or the class of the error.',
    labels: ['outcome'],
    source: 'admin',
  },
  agw_store_up: {
    type: 'gauge',
    help: '1 while the store answers this process. While it is 0, what is read from the store is left out.',
    labels: [],
    source: 'admin',
  },
  agw_outbox_events: {
    type: 'gauge',
    help: 'Events that wait to be handed to the webhooks that subscribe to them.',
    labels: [],
    source: 'admin',
  },
  agw_outbox_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest of them.',
    labels: [],
    source: 'admin',
  },
  agw_deliveries_overdue_seconds: {
    type: 'gauge',
    help: 'How long the webhook that waits longest is overdue.',
    labels: [],
    source: 'admin',
  },
  agw_activity_undigested_seconds: {
    type: 'gauge',
    help: 'Age of the oldest entry that is in no index yet, of all organizations.',
    labels: [],
    source: 'admin',
  },
  agw_alerts_open: {
    type: 'gauge',
    help: 'Alerts that nobody has acknowledged.',
    labels: [],
    source: 'admin',
  },
  agw_streams_open: {
    type: 'gauge',
    help: 'Clients that follow the activity log at this process.',
    labels: [],
    source: 'admin',
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS

/** The metrics whose row fits a pattern, so that who counts them can be made to count them all. */
export type MetricsWhere<Row> = {
  [Name in MetricName]: (typeof METRICS)[Name] extends Row ? Name : never
}[MetricName]

/** What an edge reports as one number. */
export type EdgeNumber = MetricsWhere<{ source: 'edge'; labels: readonly ['edge'] }>
/** What an edge counts by further labels. */
export type EdgeCounter = Exclude<
  MetricsWhere<{ source: 'edge'; type: 'counter' | 'gauge' }>,
  EdgeNumber
>
export type EdgeHistogram = MetricsWhere<{ source: 'edge'; type: 'histogram' }>
export type AdminGauge = MetricsWhere<{ source: 'admin'; type: 'gauge' }>
export type AdminCounter = MetricsWhere<{ source: 'admin'; type: 'counter' }>
export type AdminHistogram = MetricsWhere<{ source: 'admin'; type: 'histogram' }>

/** Upper bounds in seconds. A step takes microseconds where it waits for nothing. */
export const STEP_BUCKETS_S = [
  0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1,
] as const
export const PROPAGATION_BUCKETS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
] as const
