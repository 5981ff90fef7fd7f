/**
 * Every Redis key and channel of the product, spelled once.
 * All share one hash tag, so that a script may touch several of them on a Redis Cluster as well.
 */
const TAG = '{agw}:'
const key = (...parts: readonly string[]): string => TAG + parts.join(':')

export const REDIS_KEYS = {
  /** String: a random name of this installation, set once; it goes upstream in `Via`. */
  installation: key('installation'),
  /** Counter: number of the last control message; starts at the wall clock in µs, so that a wiped store is ahead too. */
  epoch: key('epoch'),
  /** Hash organization_id → Organization. */
  organizations: key('organizations'),
  /** Sorted set organization_id by epoch of creation. */
  organizationIndex: key('organization-index'),
  /** Hash agent_id → Agent. */
  agents: (org: string) => key('agents', org),
  agentIndex: (org: string) => key('agent-index', org),
  /** Hash agent_id → last kill revision, of deleted agents: an id is never given again. */
  agentTombstones: (org: string) => key('agent-tombstones', org),
  /** Hash agent_id → ms of the last call; written in batches by edges. */
  agentLastSeen: (org: string) => key('agent-last-seen', org),
  /** Hash agent_id → path of the last call, without its query; written with the time of it. */
  agentLastPath: (org: string) => key('agent-last-path', org),
  /** Hash scope_id → Scope, one hash for each agent, since an edge needs all of an agent's scopes at once. */
  agentScopes: (org: string, agent_id: string) => key('agent-scopes', org, agent_id),
  /** Hash scope_id → agent_id. */
  scopeOwners: (org: string) => key('scope-owners', org),
  scopeIndex: (org: string) => key('scope-index', org),
  /** Hash integration_id → Integration. */
  integrations: (org: string) => key('integrations', org),
  integrationIndex: (org: string) => key('integration-index', org),
  /** Hash scope_id → agent_id, of the scopes that use one integration; admin asks it before a deletion. */
  integrationScopes: (org: string, integration_id: string) =>
    key('integration-scopes', org, integration_id),
  /** Hash canonical base_url → integration_id. */
  integrationBaseUrls: (org: string) => key('integration-base-urls', org),
  /** Hash key_id → ApiKey. */
  apiKeys: (org: string) => key('api-keys', org),
  /** Sorted set key_id by epoch of creation; owner is an agent_id, or `-` for the organization's own keys. */
  apiKeyIndex: (org: string, owner: string) => key('api-key-index', org, owner),
  /** Hash key_id → ms of the last use; written in batches by edges. */
  apiKeyLastUsed: (org: string) => key('api-key-last-used', org),
  /** Hash SHA-256 of a key → `<organization_id> <key_id>`. */
  apiKeyHashes: key('api-key-hashes'),
  /** Hash token_id → AdminToken. */
  adminTokens: (org: string) => key('admin-tokens', org),
  adminTokenIndex: (org: string) => key('admin-token-index', org),
  /** Hash token_id → ms of the last use. */
  adminTokenLastUsed: (org: string) => key('admin-token-last-used', org),
  /** Hash SHA-256 of a token → `<organization_id> <token_id>`. */
  adminTokenHashes: key('admin-token-hashes'),
  /** Hash `organization_id`, `token_id`, `page_hash`, `ends_ms` of a session of the dashboard, named by the SHA-256 of its secret; and a sorted set of the sessions of one token by the ms of their start. */
  session: (hash: string) => key('session', hash),
  sessionIndex: (org: string, token_id: string) => key('session-index', org, token_id),
  /** String: a kept answer of a POST with an Idempotency-Key. */
  idempotency: (digest: string) => key('idempotency', digest),
  /** Stream of activity entries, field `e`. */
  activity: (org: string) => key('activity', org),
  /** Hash `position` → id up to which the log is digested, `alerts` → number of alerts so far. */
  activityDigest: (org: string) => key('activity-digest', org),
  /** Stream with the ids of the log's entries that have one value, and nothing else; its name is made by core/activity/activity-index.ts. */
  activityIndex: (org: string, name: string) => key('activity-index', org, name),
  /** Set of the names of an organization's indexes. */
  activityIndexes: (org: string) => key('activity-indexes', org),
  /** String: bytes that the log of one organization may take. */
  activityBudget: key('activity-budget'),
  /** String with a time to live: the process that digests the logs. */
  activityLeader: key('activity-leader'),
  /** String with a time to live: the process that scores the traffic of all scopes. */
  anomalyLeader: key('anomaly-leader'),
  /** Hash `<agent_id> <scope_id>` → StoredScope, and `position` → StoredPosition: what the anomaly analyser has learned. */
  anomalyState: (org: string) => key('anomaly-state', org),
  /** String with a time to live: the process that writes to one archive. */
  archiveWriter: (archive_id: string) => key('archive-writer', archive_id),
  /** Hash organization_id → `<number> <mac>` of the last line of an archive. */
  archiveHeads: (archive_id: string) => key('archive-heads', archive_id),
  /** Hash of one alert; sorted set of alert_id in the order of their creation; hash what an open alert is about → alert_id. */
  alert: (org: string, alert_id: string) => key('alert', org, alert_id),
  alertIndex: (org: string) => key('alert-index', org),
  alertsOpen: (org: string) => key('alerts-open', org),
  /** Sorted set `<organization_id> <alert_id>` of new alerts that no e-mail has told of, by their ms. */
  alertNotices: key('alert-notices'),
  /** Hash edge_id → counters of its process, with the ms at which they were read. */
  edgeMetrics: key('edge-metrics'),
  /** Hash `<agent_id> <reason>` → refusals of one minute that were counted instead of recorded one by one. */
  refusalCounts: (org: string, minute: number) => key('refusal-counts', org, String(minute)),
  /** The same hash with what the log has told of them; and a sorted set `<organization_id> <minute>` of those it has not, by the ms at which they are due. */
  refusalCountsTold: (org: string, minute: number) =>
    key('refusal-counts-told', org, String(minute)),
  refusalFloods: key('refusal-floods'),
  /** Hash reason → refused calls of one minute whose organization is not known. */
  unknownCalls: (minute: number) => key('unknown-calls', String(minute)),
  /** Stream of events that webhooks subscribe to, until they are handed to the queues: fields `o` organization_id, `e` ActivityEntry. */
  outbox: key('outbox'),
  /** Hash `<organization_id> bytes` → size of its entries in the outbox, `<organization_id> dropped` → events that found it full. */
  outboxUsage: key('outbox-usage'),
  /** Hash `count`, `entry`, `first_was_sent` of the rate_limit_exceeded of one agent and minute; and a sorted set of their names `<organization_id> <agent_id> <minute>` by the time they are due. */
  rateFlood: (name: string) => key('rate-flood', name),
  rateFloods: key('rate-floods'),
  /** Hash webhook_id → Webhook; sorted set webhook_id by epoch of creation; hash event → number of webhooks that want it. */
  webhooks: (org: string) => key('webhooks', org),
  webhookIndex: (org: string) => key('webhook-index', org),
  webhookSubscriptions: (org: string) => key('webhook-subscriptions', org),
  /** Hash of what deliveries have made of a webhook: counts, status, last attempt. */
  webhookState: (webhook_id: string) => key('webhook-state', webhook_id),
  /** Sorted set `<organization_id> <webhook_id>` by the ms at which the webhook next has something to do. */
  webhooksDue: key('webhooks-due'),
  /** Sorted sets of delivery_id: waiting by due ms, being attempted by the ms at which the lease ends, all in the order of their creation. */
  webhookQueue: (webhook_id: string) => key('webhook-queue', webhook_id),
  webhookInFlight: (webhook_id: string) => key('webhook-in-flight', webhook_id),
  webhookDeliveries: (webhook_id: string) => key('webhook-deliveries', webhook_id),
  /** Hash of one delivery with its attempts. */
  webhookDelivery: (delivery_id: string) => key('webhook-delivery', delivery_id),
  /** Sorted set delivery_id of the organization's ended deliveries by the ms of their end. */
  webhookSettled: (org: string) => key('webhook-settled', org),
  /** Hash of one event (body, and how many deliveries still need it), named `<organization_id>:<event_id>`; sorted sets of event_id by time: all, and those that no delivery needs. */
  webhookEvent: (name: string) => key('webhook-event', name),
  webhookEventTimes: (org: string) => key('webhook-event-times', org),
  webhookIdleEvents: (org: string) => key('webhook-idle-events', org),
  /** Hash `event_bytes`, `pending`, `dropped`, `sequence` of an organization. */
  webhookUsage: (org: string) => key('webhook-usage', org),
  /** Set `<organization_id> <webhook_id>` of deleted webhooks whose deliveries are still to be removed; of a deleted organization `<organization_id> *`. */
  webhooksDeleted: key('webhooks-deleted'),
  /** Sorted set `<organization_id> <webhook_id> <ms>` of webhooks that began to fail, by the ms at which an e-mail is due. */
  webhookNotices: key('webhook-notices'),
  /** Sorted set of agent_killed entries that an e-mail is to tell of, by the ms at which it is due. */
  killMails: key('kill-mails'),
  /** String with a time to live: the process that sends the beacon. */
  beaconLeader: key('beacon-leader'),
  /** Hash edge_id → EdgeRecord, and a sorted set edge_id by Redis time in ms of the last beat. */
  edges: key('edges'),
  edgeBeats: key('edge-beats'),
  /** Hash epoch → KillRecord, from the kill until its event is written and no live edge is silent. */
  kills: key('kills'),
  /** Hash key_id → ms of the last call that an agent made with a key of the organization. */
  agentOrganizationKeys: (org: string, agent_id: string) =>
    key('agent-organization-keys', org, agent_id),
  /** Hash minute → calls of an agent, the last hour and a little more. */
  agentCalls: (org: string, agent_id: string) => key('agent-calls', org, agent_id),
  /** List of the times, in ms, of the calls that a scope's rate limit has let through in the last minute, newest first. */
  rateLog: (org: string, agent_id: string, scope_id: string) =>
    key('rate-log', org, agent_id, scope_id),
  /** Hash scope_id → `<first refusal, ms> <latest, ms> <clock minute> <refusals of it> <of the one before>`. */
  rateViolations: (org: string, agent_id: string) => key('rate-refusals', org, agent_id),
  /** Hash edge_id → Acknowledgement, for one control message. */
  acknowledgements: (epoch: number) => key('acknowledgements', String(epoch)),
} as const

export const CHANNELS = {
  /** Control messages and beacons, in one channel, so that a beacon never overtakes a message. */
  control: key('control'),
  acknowledgements: key('acknowledged'),
} as const
