/** Every metric; docs/reference/metrics.md is generated from it. Labels never name an organization or an agent. */
interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Which process counts: each ext-proc process, under the label `edge`, or the admin process that is scraped. */
  readonly source: 'edge' | 'admin'
}

export const METRICS = {
  agw_calls_total: {
    type: 'counter',
    help: 'Calls by verdict and by reason of refusal. A call that is cut after it was allowed counts as both.',
    labels: ['edge', 'verdict', 'reason'],
    source: 'edge',
  },
  agw_step_duration_seconds: {
    type: 'histogram',
    help: 'Duration of one step of the decision, including waiting time.',
    labels: ['edge', 'step'],
    source: 'edge',
  },
  agw_calls_in_flight: {
    type: 'gauge',
    help: 'Calls in flight on the edge.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_tunnels_open: {
    type: 'gauge',
    help: 'Tunnels of the forward proxy that are open on the edge. They are also counted as calls in flight.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_certificates_issued_total: {
    type: 'counter',
    help: 'Certificates that the edge has issued for the forward proxy.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_certificates_held: {
    type: 'gauge',
    help: 'Certificates of the forward proxy that Envoy holds from the edge; the oldest is withdrawn beyond 1,000.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_calls_unwatched_total: {
    type: 'counter',
    help: 'Allowed calls whose ext_proc stream Envoy closed while the response may still have been running. A kill could not have cut them.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_lease_held: {
    type: 'gauge',
    help: '1 while the edge holds its liveness lease and may serve; 0 while it cannot prove that it receives kills.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_activity_waiting_entries: {
    type: 'gauge',
    help: 'Activity log entries waiting to be written.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_activity_lost_total: {
    type: 'counter',
    help: 'Entries of calls, and counted refusals, that were dropped because they could not be written to the store.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_refusals_counted_total: {
    type: 'counter',
    help: 'Refusals that were only counted, not recorded individually.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_trace_spans_exported_total: {
    type: 'counter',
    help: 'Spans that the receiver of traces has accepted.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_trace_spans_dropped_total: {
    type: 'counter',
    help: 'Spans that were dropped: the receiver was unavailable or too slow, rejected them, or more calls were sampled than the process traces (100 a second; each further one counts as one span).',
    labels: ['edge'],
    source: 'edge',
  },
  agw_answers_total: {
    type: 'counter',
    help: 'Allowed calls that have ended, by integration and by how the API answered: the class of its status, or unreachable, timeout, reset, caller_left, cut, not_sent. At most 500 integrations per process, then `other`.',
    labels: ['edge', 'integration', 'class'],
    source: 'edge',
  },
  agw_envoy_refusals_total: {
    type: 'counter',
    help: 'Calls that Envoy refused itself, before or without a decision, by reason. gateway_unavailable: no edge answered.',
    labels: ['edge', 'reason'],
    source: 'edge',
  },
  agw_event_loop_lag_seconds: {
    type: 'gauge',
    help: 'Longest delay of the event loop of the process in the last five seconds, to within 50 ms.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process. That of the admin process is agw_admin_process_resident_memory_bytes.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_token_fetches_total: {
    type: 'counter',
    help: 'Access token requests to the token endpoints of integrations.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_token_fetch_failures_total: {
    type: 'counter',
    help: 'Access token requests that failed; the log of the edge says why.',
    labels: ['edge'],
    source: 'edge',
  },
  agw_edges: {
    type: 'gauge',
    help: 'Edges that may hold a lease.',
    labels: [],
    source: 'admin',
  },
  agw_kills_total: {
    type: 'counter',
    help: 'Kills by method, counted by the process that indexes the activity log.',
    labels: ['method'],
    source: 'admin',
  },
  agw_kill_propagation_seconds: {
    type: 'histogram',
    help: 'Time from publishing a kill to its last acknowledgement.',
    labels: [],
    source: 'admin',
  },
  agw_webhook_attempts_total: {
    type: 'counter',
    help: 'Webhook delivery attempts by outcome: success, or the error class.',
    labels: ['outcome'],
    source: 'admin',
  },
  agw_store_up: {
    type: 'gauge',
    help: '1 while the store is available to this process. While it is 0, metrics that are read from the store are omitted.',
    labels: [],
    source: 'admin',
  },
  agw_store_used_bytes: {
    type: 'gauge',
    help: 'Memory that the store uses; of a cluster, one of its nodes.',
    labels: [],
    source: 'admin',
  },
  agw_store_max_bytes: {
    type: 'gauge',
    help: 'maxmemory of the store; 0 if it has no limit. At the limit the store refuses every write except kills.',
    labels: [],
    source: 'admin',
  },
  agw_archive_bytes: {
    type: 'gauge',
    help: 'Size of the activity archive, once a minute; only of the process that writes it.',
    labels: [],
    source: 'admin',
  },
  agw_archive_lag_seconds: {
    type: 'gauge',
    help: 'Age of the oldest activity entry that is not archived yet; only of the process that writes the archive.',
    labels: [],
    source: 'admin',
  },
  agw_log_export_entries_total: {
    type: 'counter',
    help: 'Activity entries that were exported: `accepted` or `rejected` by the log receiver, or `missing`, since the store had removed them before.',
    labels: ['outcome'],
    source: 'admin',
  },
  agw_log_export_lag_seconds: {
    type: 'gauge',
    help: 'Age of the oldest activity entry that is not exported yet; only of the process that exports.',
    labels: [],
    source: 'admin',
  },
  agw_archive_free_bytes: {
    type: 'gauge',
    help: 'Free space on the disk of the archive; only of the process that writes it. Below AGW_ARCHIVE_MIN_FREE_BYTES archiving stops.',
    labels: [],
    source: 'admin',
  },
  agw_outbox_events: {
    type: 'gauge',
    help: 'Events in the outbox, waiting to be queued for webhooks.',
    labels: [],
    source: 'admin',
  },
  agw_outbox_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest event in the outbox.',
    labels: [],
    source: 'admin',
  },
  agw_deliveries_overdue_seconds: {
    type: 'gauge',
    help: 'How long the most overdue webhook delivery is overdue.',
    labels: [],
    source: 'admin',
  },
  agw_activity_undigested_seconds: {
    type: 'gauge',
    help: 'Age of the oldest activity entry that is not indexed yet, across all organizations.',
    labels: [],
    source: 'admin',
  },
  agw_alerts_open: {
    type: 'gauge',
    help: 'Alerts that have not been acknowledged.',
    labels: [],
    source: 'admin',
  },
  agw_streams_open: {
    type: 'gauge',
    help: 'Clients streaming the activity log from this process.',
    labels: [],
    source: 'admin',
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS

/** The metrics whose row matches a pattern, so that the compiler can require a process to count all of them. */
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

/** Upper bounds in seconds. A step that does not wait takes microseconds. */
export const STEP_BUCKETS_S = [
  0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1,
] as const
export const PROPAGATION_BUCKETS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
] as const
