type RedisType = 'string' | 'hash' | 'list' | 'set' | 'sorted set' | 'stream'

interface KeyRow {
  /** Comes first in the name of a key, so that no id can be mistaken for it. */
  readonly kind: string
  /** The parts that follow the kind, in this order. */
  readonly of: readonly string[]
  readonly type: RedisType
  /** Its content; for a hash `field → value`. */
  readonly holds: string
}

/**
 * Every Redis key of the product. No other file spells one. All share one hash tag, so that a script can use several of them on
 * a Redis Cluster as well. The reference page is generated from this table.
 */
export const REDIS_KEY_ROWS = {
  installation: {
    kind: 'installation',
    of: [],
    type: 'string',
    holds: 'The id of this deployment, random and set once; it is sent upstream in `Via`.',
  },
  storeClock: {
    kind: 'store-clock',
    of: [],
    type: 'string',
    holds:
      'The time of the store in ms as it was last looked at; a lower one means that its clock stepped back.',
  },
  requirements: {
    kind: 'requirements',
    of: [],
    type: 'hash',
    holds:
      '`minimum_version` → the oldest version that reads this store correctly, older processes do not start on it; `lineage` → a random id, another one for each store that does not know all changes of the one before',
  },
  restoring: {
    kind: 'restoring',
    of: [],
    type: 'string',
    holds:
      'The time of a restore that is not complete. Until then no process sets up the store or starts on it.',
  },
  restorePlan: {
    kind: 'restore-plan',
    of: [],
    type: 'string',
    holds: 'RestorePlan: what a restore applies after the backup, until it is complete',
  },
  restoreGap: {
    kind: 'restore-gap',
    of: [],
    type: 'string',
    holds:
      'RestoreGap: changes that a restore does not know, until an administrator acknowledges that',
  },
  restoringKills: {
    kind: 'restoring-kills',
    of: [],
    type: 'hash',
    holds:
      'organization/agent → LostState: kills and reactivations that the store had when a restore began, until it is complete.',
  },
  encryptionKeys: {
    kind: 'encryption-keys',
    of: [],
    type: 'hash',
    holds:
      'key id → StoredKey: the keys that this deployment encrypts with or has encrypted with. The keys themselves are not stored.',
  },
  forwardCa: {
    kind: 'forward-ca',
    of: [],
    type: 'hash',
    holds: 'ca → StoredAuthority: the CA of the forward proxy, its private key encrypted',
  },
  keyHolders: {
    kind: 'key-holders',
    of: [],
    type: 'hash',
    holds: 'admin process → KeyHolder: which encryption keys it has',
  },
  epoch: {
    kind: 'epoch',
    of: [],
    type: 'string',
    holds:
      'Number of the last control message. It starts at the wall clock in µs, so that it is higher than all earlier ones even if the store is wiped.',
  },
  organizations: {
    kind: 'organizations',
    of: [],
    type: 'hash',
    holds: 'organization_id → Organization',
  },
  organizationIndex: {
    kind: 'organization-index',
    of: [],
    type: 'sorted set',
    holds: 'organization_id by the epoch of its creation',
  },
  agents: { kind: 'agents', of: ['organization_id'], type: 'hash', holds: 'agent_id → Agent' },
  agentIndex: {
    kind: 'agent-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'agent_id by the epoch of its creation',
  },
  agentTombstones: {
    kind: 'agent-tombstones',
    of: ['organization_id'],
    type: 'hash',
    holds: 'agent_id → last kill revision, for deleted agents. An id is never reused.',
  },
  agentLastSeen: {
    kind: 'agent-last-seen',
    of: ['organization_id'],
    type: 'hash',
    holds: 'agent_id → ms of the last call; written in batches by edges.',
  },
  agentLastPath: {
    kind: 'agent-last-path',
    of: ['organization_id'],
    type: 'hash',
    holds:
      'agent_id → path of the last call, without the query; written together with agent-last-seen.',
  },
  agentScopes: {
    kind: 'agent-scopes',
    of: ['organization_id', 'agent_id'],
    type: 'hash',
    holds:
      'scope_id → Scope. One hash per agent, since an edge needs all scopes of an agent at once; that of `*` has the scopes that select their agents.',
  },
  scopeOwners: {
    kind: 'scope-owners',
    of: ['organization_id'],
    type: 'hash',
    holds: 'scope_id → agent_id, or `*`',
  },
  agentLabels: {
    kind: 'agent-labels',
    of: ['organization_id'],
    type: 'hash',
    holds: 'agent_id → labels, of agents that have any',
  },
  scopeIndex: {
    kind: 'scope-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'scope_id by the epoch of its creation',
  },
  integrations: {
    kind: 'integrations',
    of: ['organization_id'],
    type: 'hash',
    holds: 'integration_id → Integration',
  },
  integrationIndex: {
    kind: 'integration-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'integration_id by the epoch of its creation',
  },
  integrationScopes: {
    kind: 'integration-scopes',
    of: ['organization_id', 'integration_id'],
    type: 'hash',
    holds:
      'scope_id → agent_id, for the scopes that use one integration; checked before a deletion. That of `*` has the scopes that select their integrations.',
  },
  integrationBaseUrls: {
    kind: 'integration-base-urls',
    of: ['organization_id'],
    type: 'hash',
    holds:
      'canonical base_url → integration_id; `credential <origin>` → the integration that sends its credential to that further host.',
  },
  connections: {
    kind: 'connections',
    of: ['organization_id'],
    type: 'hash',
    holds: 'connection_id → Connection',
  },
  connectionIndex: {
    kind: 'connection-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'connection_id by the epoch of its creation',
  },
  integrationConnections: {
    kind: 'integration-connections',
    of: ['organization_id', 'integration_id'],
    type: 'hash',
    holds: 'connection_id → subject, for the connections of one integration',
  },
  connectionScopes: {
    kind: 'connection-scopes',
    of: ['organization_id', 'connection_id'],
    type: 'hash',
    holds: 'scope_id → agent_id, for the scopes that name a connection; checked before a deletion',
  },
  connectionLastUsed: {
    kind: 'connection-last-used',
    of: ['organization_id'],
    type: 'hash',
    holds: 'connection_id → ms of the last use; written in batches by edges.',
  },
  connectUsed: {
    kind: 'connect-used',
    of: ['nonce'],
    type: 'string',
    holds: 'Set once the `connect_url` with this nonce was used; expires when that has ended.',
  },
  spentStates: {
    kind: 'spent-states',
    of: ['organization_id', 'agent_id'],
    type: 'sorted set',
    holds:
      'nonce → end, in ms, of each `requestState` by which a client of the agent has said that an API was connected; expires with the last.',
  },
  apiKeys: { kind: 'api-keys', of: ['organization_id'], type: 'hash', holds: 'key_id → ApiKey' },
  apiKeyIndex: {
    kind: 'api-key-index',
    of: ['organization_id', 'owner'],
    type: 'sorted set',
    holds:
      'key_id by the epoch of its creation. The owner is an agent_id, or `-` for keys of the organization.',
  },
  apiKeyLastUsed: {
    kind: 'api-key-last-used',
    of: ['organization_id'],
    type: 'hash',
    holds: 'key_id → ms of the last use; written in batches by edges.',
  },
  apiKeyHashes: {
    kind: 'api-key-hashes',
    of: [],
    type: 'hash',
    holds: 'SHA-256 of a key → `<organization_id> <key_id>`',
  },
  adminTokens: {
    kind: 'admin-tokens',
    of: ['organization_id'],
    type: 'hash',
    holds: 'token_id → AdminToken',
  },
  adminTokenIndex: {
    kind: 'admin-token-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'token_id by the epoch of its creation',
  },
  adminTokenLastUsed: {
    kind: 'admin-token-last-used',
    of: ['organization_id'],
    type: 'hash',
    holds: 'token_id → ms of the last use',
  },
  adminTokenHashes: {
    kind: 'admin-token-hashes',
    of: [],
    type: 'hash',
    holds: 'SHA-256 of a token → `<organization_id> <token_id>`',
  },
  session: {
    kind: 'session',
    of: ['hash'],
    type: 'hash',
    holds:
      '`organization_id`, `token_id`, `page_hash`, `ends_ms`, `used_ms` of a console session, named by the SHA-256 of its secret; expires when idle.',
  },
  sessionIndex: {
    kind: 'session-index',
    of: ['organization_id', 'token_id'],
    type: 'sorted set',
    holds: 'Hashes of the sessions of a token by the ms of their start; expires.',
  },
  idempotency: {
    kind: 'idempotency',
    of: ['digest'],
    type: 'hash',
    holds: 'The sealed answer of a POST with an Idempotency-Key; expires after ten minutes.',
  },
  lockRepeats: {
    kind: 'lock-repeats',
    of: ['digest'],
    type: 'string',
    holds:
      'What a request with an Idempotency-Key has locked: epoch, ms and `lock_id`; expires after ten minutes.',
  },
  activity: {
    kind: 'activity',
    of: ['organization_id'],
    type: 'stream',
    holds:
      'Activity entries: field `e` one entry as JSON, or fields `b` `h` `i` `r` a block of entries, its head, indexes and request ids',
  },
  activityRestoring: {
    kind: 'activity-restoring',
    of: ['organization_id'],
    type: 'stream',
    holds: 'The log from a backup while it is restored; then renamed to `activity`.',
  },
  activityDigest: {
    kind: 'activity-digest',
    of: ['organization_id'],
    type: 'hash',
    holds:
      '`position` → id up to which the log is indexed, `form` → that of the indexes, `alerted` → id up to which a version with other indexes raised alerts, `alerts` → number of alerts so far, `count <index>` → entries indexed, `blocks`, `packed` → blocks and entries in them so far, `first_block` → id of the first',
  },
  activityIndex: {
    kind: 'activity-index',
    of: ['organization_id', 'name'],
    type: 'stream',
    holds:
      'Ids of the rows with entries of one value of an indexed member; for events and decisions with the number of entries before. Index `r` holds hashes of request ids. core/activity/activity-index.ts builds the name.',
  },
  activityIndexes: {
    kind: 'activity-indexes',
    of: ['organization_id'],
    type: 'set',
    holds: 'Names of the indexes of an organization',
  },
  activityCounts: {
    kind: 'activity-counts',
    of: ['organization_id', 'bucket'],
    type: 'hash',
    holds:
      'Bucket `<seconds>:<start in s since 1970>`: number of a combination → its entries in that time, `<number>+` → calls that they stand for in addition. Bucket `names:<day since 1970>`: `<agent_id> <integration_id> <event> <decision> <reason>` → its number on that day. `-` stands for none, `*` for those beyond the bound.',
  },
  activityCountBuckets: {
    kind: 'activity-count-buckets',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'Buckets of the counts, scored by their end in s since 1970',
  },
  activityBudget: {
    kind: 'activity-budget',
    of: [],
    type: 'string',
    holds: 'Maximum size in bytes of the log of one organization',
  },
  activityLeader: {
    kind: 'activity-leader',
    of: [],
    type: 'string',
    holds: 'The process that indexes the logs; expires.',
  },
  anomalyLeader: {
    kind: 'anomaly-leader',
    of: [],
    type: 'string',
    holds: 'The process that scores the traffic of all scopes; expires.',
  },
  anomalyState: {
    kind: 'anomaly-state',
    of: ['organization_id'],
    type: 'hash',
    holds:
      '`<agent_id> <scope_id>` → StoredScope, and `position` → StoredPosition: what the anomaly analyser has learned',
  },
  archiveWriter: {
    kind: 'archive-writer',
    of: ['archive_id'],
    type: 'string',
    holds: 'The process that writes to one archive; expires.',
  },
  archiveHeads: {
    kind: 'archive-heads',
    of: ['archive_id'],
    type: 'hash',
    holds: 'organization_id → `<number> <mac>` of the last line of an archive',
  },
  logExporter: {
    kind: 'log-exporter',
    of: [],
    type: 'string',
    holds: 'The admin process that exports the activity logs; expires.',
  },
  logExports: {
    kind: 'log-exports',
    of: [],
    type: 'hash',
    holds:
      'organization_id → `<place> <number>` of the last entry that the log receiver has accepted',
  },
  logExportProblem: {
    kind: 'log-export-problem',
    of: [],
    type: 'string',
    holds: 'Why the log receiver has not accepted entries for a while; expires.',
  },
  traceExportProblem: {
    kind: 'trace-export-problem',
    of: [],
    type: 'string',
    holds: 'Why the receiver of traces has not accepted spans for a while; expires.',
  },
  alert: { kind: 'alert', of: ['organization_id', 'alert_id'], type: 'hash', holds: 'One alert' },
  alertIndex: {
    kind: 'alert-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'alert_id in the order of creation',
  },
  alertsOpen: {
    kind: 'alerts-open',
    of: ['organization_id'],
    type: 'hash',
    holds: 'Subject of an open alert → alert_id',
  },
  alertNotices: {
    kind: 'alert-notices',
    of: [],
    type: 'sorted set',
    holds: '`<organization_id> <alert_id>` of new alerts without an e-mail yet, by their ms',
  },
  scopeEnds: {
    kind: 'scope-ends',
    of: [],
    type: 'sorted set',
    holds:
      '`<organization_id> <id>` of scopes, keys and tokens that end, by the ms at which their alert is due or over',
  },
  certificatesTold: {
    kind: 'certificates-told',
    of: [],
    type: 'hash',
    holds:
      '`<organization_id> <subject of an alert>` → when it was raised, of certificates that end soon',
  },
  grants: {
    kind: 'grants',
    of: ['organization_id'],
    type: 'hash',
    holds: 'connection_id → Grant: the tokens that a provider has issued for a connection, sealed',
  },
  grantLease: {
    kind: 'grant-lease',
    of: ['organization_id', 'connection_id'],
    type: 'string',
    holds: 'The process that refreshes the grant of a connection; expires.',
  },
  grantsDue: {
    kind: 'grants-due',
    of: [],
    type: 'sorted set',
    holds:
      '`<organization_id> <connection_id>` of grants by the ms at which they are refreshed or end',
  },
  mintedTokens: {
    kind: 'minted-tokens',
    of: ['organization_id', 'agent_id'],
    type: 'hash',
    holds:
      '`<ms at which it ends> <ms at which it was minted> <id>` → KeptToken: a token of this agent alone, sealed; expires after 25 hours.',
  },
  revocationsDue: {
    kind: 'revocations-due',
    of: [],
    type: 'sorted set',
    holds:
      '`<organization_id> <agent_id> <kill_id> <ms of the kill>` of killed agents whose tokens are revoked at their providers, by the ms at which that is due',
  },
  consent: {
    kind: 'consent',
    of: ['hash'],
    type: 'string',
    holds:
      'Consent: a request for consent in progress, named by the SHA-256 of its `state`; expires after 10 minutes.',
  },
  edgeMetrics: {
    kind: 'edge-metrics',
    of: [],
    type: 'hash',
    holds: 'process id → counters of the edge, with the ms at which they were read',
  },
  refusalCounts: {
    kind: 'refusal-counts',
    of: ['organization_id', 'minute'],
    type: 'hash',
    holds:
      '`<agent_id> <reason>` → refusals of one minute that were only counted, not recorded individually; expires after 30 days.',
  },
  refusalCountsTold: {
    kind: 'refusal-counts-told',
    of: ['organization_id', 'minute'],
    type: 'hash',
    holds: 'The same, for the refusals that the log has already reported; expires.',
  },
  refusalFloods: {
    kind: 'refusal-floods',
    of: [],
    type: 'sorted set',
    holds:
      '`<organization_id> <minute>` of the counts that the log has not reported yet, by the ms at which they are due',
  },
  probeKey: {
    kind: 'probe-key',
    of: [],
    type: 'string',
    holds: 'The key that signs the probes of the gateway itself.',
  },
  unknownCalls: {
    kind: 'unknown-calls',
    of: ['minute'],
    type: 'hash',
    holds:
      'Reason → refused calls of one minute without a known organization; expires after 30 days.',
  },
  outbox: {
    kind: 'outbox',
    of: [],
    type: 'stream',
    holds:
      'Events that webhooks subscribe to, until they are queued for delivery: fields `o` organization_id, `e` ActivityEntry',
  },
  outboxUsage: {
    kind: 'outbox-usage',
    of: [],
    type: 'hash',
    holds:
      '`<organization_id> bytes` → size of its entries in the outbox, `<organization_id> dropped` → events dropped because it was full',
  },
  rateFlood: {
    kind: 'rate-flood',
    of: ['name'],
    type: 'hash',
    holds:
      '`count`, `entry`, `first_was_sent` of the aggregated events of one agent and minute; expires.',
  },
  rateFloods: {
    kind: 'rate-floods',
    of: [],
    type: 'sorted set',
    holds:
      '`<organization_id> <agent_id> <minute>` of those floods, by the ms at which they are due',
  },
  webhooks: {
    kind: 'webhooks',
    of: ['organization_id'],
    type: 'hash',
    holds: 'webhook_id → Webhook',
  },
  webhookIndex: {
    kind: 'webhook-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'webhook_id by the epoch of its creation',
  },
  webhookSubscriptions: {
    kind: 'webhook-subscriptions',
    of: ['organization_id'],
    type: 'hash',
    holds: 'event → number of webhooks that subscribe to it',
  },
  webhookState: {
    kind: 'webhook-state',
    of: ['webhook_id'],
    type: 'hash',
    holds: 'Delivery state of a webhook: counts, status, last attempt',
  },
  webhooksDue: {
    kind: 'webhooks-due',
    of: [],
    type: 'sorted set',
    holds: '`<organization_id> <webhook_id>` by the ms of the next due work of the webhook',
  },
  webhookQueue: {
    kind: 'webhook-queue',
    of: ['webhook_id'],
    type: 'sorted set',
    holds: 'delivery_id of waiting deliveries by due ms',
  },
  webhookInFlight: {
    kind: 'webhook-in-flight',
    of: ['webhook_id'],
    type: 'sorted set',
    holds: 'delivery_id of attempts in progress by the ms at which their lease ends',
  },
  webhookDeliveries: {
    kind: 'webhook-deliveries',
    of: ['webhook_id'],
    type: 'sorted set',
    holds: 'delivery_id in the order of creation',
  },
  webhookDelivery: {
    kind: 'webhook-delivery',
    of: ['delivery_id'],
    type: 'hash',
    holds: 'One delivery with its attempts; a test delivery also with its envelope (`body`)',
  },
  webhookSettled: {
    kind: 'webhook-settled',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'delivery_id of finished deliveries by the ms of their end',
  },
  webhookEvent: {
    kind: 'webhook-event',
    of: ['name'],
    type: 'hash',
    holds:
      'One event (body, and how many deliveries still need it), named `<organization_id>:<event_id>`',
  },
  webhookEventTimes: {
    kind: 'webhook-event-times',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'event_id of all stored events by time',
  },
  webhookIdleEvents: {
    kind: 'webhook-idle-events',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'event_id of the events that no delivery needs, by time',
  },
  webhookUsage: {
    kind: 'webhook-usage',
    of: ['organization_id'],
    type: 'hash',
    holds: '`event_bytes`, `pending`, `dropped`, `sequence` of an organization',
  },
  webhooksDeleted: {
    kind: 'webhooks-deleted',
    of: [],
    type: 'set',
    holds:
      '`<organization_id> <webhook_id>` of deleted webhooks whose deliveries are still to be removed; `<organization_id> *` for a deleted organization',
  },
  webhookNotices: {
    kind: 'webhook-notices',
    of: [],
    type: 'sorted set',
    holds:
      '`<organization_id> <webhook_id> <ms>` of webhooks that began to fail, by the ms at which an e-mail is due; with `refused` instead of ms, of those that accepted nothing lately, by the ms at which their alert is due',
  },
  killMails: {
    kind: 'kill-mails',
    of: [],
    type: 'sorted set',
    holds: 'agent_killed entries with a pending e-mail, by the ms at which it is due',
  },
  beaconLeader: {
    kind: 'beacon-leader',
    of: [],
    type: 'string',
    holds: 'The process that sends the beacon; expires.',
  },
  edges: { kind: 'edges', of: [], type: 'hash', holds: 'process id → EdgeRecord' },
  edgeBeats: {
    kind: 'edge-beats',
    of: [],
    type: 'sorted set',
    holds:
      'process id by the Redis time of its last heartbeat, in ms; moved with the clock where that steps',
  },
  lostEdges: {
    kind: 'lost-edges',
    of: [],
    type: 'hash',
    holds:
      '`AGW_EDGE_ID` → ms of the last heartbeat, of edges that were removed without shutting down, until their alert is raised. The field with an empty name counts what is beyond 100.',
  },
  beatClock: {
    kind: 'beat-clock',
    of: [],
    type: 'string',
    holds: '`<ms> <run id of the store>` when the heartbeats were last looked at',
  },
  kills: {
    kind: 'kills',
    of: [],
    type: 'hash',
    holds:
      'epoch → KillRecord, from the kill until its event is written and every live edge has acknowledged',
  },
  killReceipts: {
    kind: 'kill-receipts',
    of: ['organization_id'],
    type: 'hash',
    holds: 'kill_id → StoredReceipt, of the newest 1,000 kills',
  },
  killRevocations: {
    kind: 'kill-revocations',
    of: ['organization_id'],
    type: 'hash',
    holds: 'kill_id → Revocations: what became of the tokens of the agent at their providers',
  },
  killReceiptIndex: {
    kind: 'kill-receipt-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'kill_id by the epoch of the kill',
  },
  locks: {
    kind: 'locks',
    of: ['organization_id'],
    type: 'hash',
    holds: 'lock_id → Lock. That of `*` has the locks of everything.',
  },
  lockReceipts: {
    kind: 'lock-receipts',
    of: ['organization_id'],
    type: 'hash',
    holds: 'lock_id → LockReceipt: what each edge did when the lock was created',
  },
  lockTombstones: {
    kind: 'lock-tombstones',
    of: ['organization_id'],
    type: 'sorted set',
    holds:
      'lock_id of the newest 10,000 lifted locks by the ms at which they were lifted. A lock that is neither here nor in `locks` was lost.',
  },
  lockPlaces: {
    kind: 'lock-places',
    of: [],
    type: 'hash',
    holds: 'lock_id → organization_id in the name of the key that has the lock',
  },
  lockEnds: {
    kind: 'lock-ends',
    of: [],
    type: 'sorted set',
    holds: 'lock_id of those that have an end, by its ms',
  },
  lockings: {
    kind: 'lockings',
    of: [],
    type: 'hash',
    holds:
      'epoch → LockRecord, from the creation of a lock until its event is written and every live edge has acknowledged',
  },
  accessRequest: {
    kind: 'access-request',
    of: ['organization_id', 'request_id'],
    type: 'hash',
    holds:
      'One access request: AccessRequestFields. The excerpt of its call is sealed. Expires an hour after its end.',
  },
  accessRequestsOpen: {
    kind: 'access-requests-open',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'request_id of the requests that can be decided or used, by the ms at which they expire',
  },
  accessRequestsOf: {
    kind: 'access-requests-of',
    of: ['organization_id', 'agent_id'],
    type: 'sorted set',
    holds: 'The same of one agent',
  },
  accessRequestsEnded: {
    kind: 'access-requests-ended',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'request_id of the requests that have ended, by the ms of their end',
  },
  accessRequestIndex: {
    kind: 'access-request-index',
    of: ['organization_id'],
    type: 'sorted set',
    holds: 'request_id of all requests that are kept, by the ms of their creation',
  },
  accessDigest: {
    kind: 'access-digest',
    of: ['organization_id', 'digest'],
    type: 'string',
    holds: 'request_id of the latest request for the call with this digest; expires.',
  },
  heldCalls: {
    kind: 'held-calls',
    of: ['organization_id', 'agent_id'],
    type: 'sorted set',
    holds:
      'Ids of the calls of an agent that wait for a decision, by the ms at which they end; expires.',
  },
  agentOrganizationKeys: {
    kind: 'agent-organization-keys',
    of: ['organization_id', 'agent_id'],
    type: 'hash',
    holds: 'key_id → ms of the last call that an agent made with a key of the organization',
  },
  agentCalls: {
    kind: 'agent-calls',
    of: ['organization_id', 'agent_id'],
    type: 'hash',
    holds: 'minute → number of calls of an agent; covers slightly more than the last hour',
  },
  rateLog: {
    kind: 'rate-log',
    of: ['organization_id', 'agent_id', 'scope_id'],
    type: 'list',
    holds:
      'Times, in ms, of the calls that the rate limit of a scope allowed in the last minute, newest first',
  },
  rateViolations: {
    kind: 'rate-refusals',
    of: ['organization_id', 'agent_id'],
    type: 'hash',
    holds:
      'scope_id → `<first refusal, ms> <latest refusal, ms> <clock minute> <refusals in it> <refusals in the previous minute>`',
  },
  logWriter: {
    kind: 'log-writer',
    of: ['writer'],
    type: 'hash',
    holds:
      '`generation` of a process that writes the activity log, below which its writes are ignored; log → number of its last batch; expires.',
  },
  decidedCalls: {
    kind: 'decided-calls',
    of: ['organization_id', 'slot'],
    type: 'hash',
    holds:
      'end of the request id of a call that has an entry → how it was decided; two slots take turns by the minute, `minute` names it; `has_cut`: one of them was cut; expires.',
  },
  acknowledgements: {
    kind: 'acknowledgements',
    of: ['epoch'],
    type: 'hash',
    holds: 'process id → Acknowledgement of one control message; expires.',
  },
} as const satisfies Record<string, KeyRow>

/** All keys begin with it. */
export const KEY_TAG = '{agw}:'

/** Parts that are numbers; all others are ids or names. */
type ValueOf<Part> = Part extends 'minute' | 'epoch' ? number : string

type KeyOf<Parts extends readonly string[]> = Parts['length'] extends 0
  ? string
  : (...values: { readonly [Place in keyof Parts]: ValueOf<Parts[Place]> }) => string

type RedisKeys = {
  readonly [Name in keyof typeof REDIS_KEY_ROWS]: KeyOf<(typeof REDIS_KEY_ROWS)[Name]['of']>
}

/** The names of the keys: a text, or a function of the parts in the row. */
export const REDIS_KEYS = Object.fromEntries(
  Object.entries(REDIS_KEY_ROWS).map(([name, { kind, of }]) => [
    name,
    of.length === 0
      ? KEY_TAG + kind
      : (...values: readonly (string | number)[]) => `${KEY_TAG}${kind}:${values.join(':')}`,
  ]),
) as RedisKeys

export const CHANNELS = {
  /** Control messages and beacons, in one channel, so that a beacon never overtakes a message. */
  control: `${KEY_TAG}control`,
  acknowledgements: `${KEY_TAG}acknowledged`,
} as const
