import { AGENT_RESOURCE } from '../../admin/agents/agent-schemas.ts'
import { INTEGRATION_RESOURCE } from '../../admin/integrations/integration-schemas.ts'
import { SCOPE_RESOURCE } from '../../admin/scopes/scope-schemas.ts'
import { WEBHOOK_RESOURCE } from '../../admin/webhooks/webhook-schemas.ts'

/** The resources that have a command with `list` and `show`. */
export const RESOURCE_NAMES = [
  'agents',
  'integrations',
  'connections',
  'scopes',
  'keys',
  'webhooks',
  'alerts',
  'kills',
  'locks',
  'requests',
  'edges',
  'tokens',
] as const
export type ResourceName = (typeof RESOURCE_NAMES)[number]

/** How the admin API lists and returns one kind of resource, and what a table shows of it. */
export interface ListedKind {
  /** One of them, in messages. */
  readonly name: string
  readonly path: `/${string}`
  /** The member that holds its id. */
  readonly id: string
  /** The members that people know it by. */
  readonly named_by: readonly string[]
  readonly has_pages: boolean
  /** Whether the list can be searched by name (`?q=`). */
  readonly has_search: boolean
  /** Whether one is returned by its id. Others are looked up in the list. */
  readonly has_read: boolean
  /** The columns of the table: heading and member, `auth.type` for a member of a member. */
  readonly columns: readonly (readonly [heading: string, member: string])[]
  readonly filters: readonly FilterName[]
}

/** Filters of a list. `agent` and `integration` take a name or an id, `expiring` a duration from now or a time. */
export const FILTERS = {
  query: {
    parameter: 'q',
    flags: '--query <text>',
    description: 'only those with this text in their name',
  },
  status: {
    parameter: 'status',
    flags: '--status <status>',
    description:
      'only those with this status (agents: active, killed; alerts: open, acknowledged, resolved; requests: pending, approved, denied, expired, cancelled, failed)',
  },
  severity: {
    parameter: 'severity',
    flags: '--severity <severity>',
    description: 'only those with this severity: critical, high, medium',
  },
  agent: {
    parameter: 'agent_id',
    flags: '--agent <agent>',
    description: 'only those of this agent (id or name)',
  },
  integration: {
    parameter: 'integration_id',
    flags: '--integration <integration>',
    description: 'only those for this integration (id or name)',
  },
  expiring: {
    parameter: 'expires_before',
    flags: '--expiring <time>',
    description: 'only those that end within this time, such as 24h, or by a time (ISO 8601)',
  },
} as const
export type FilterName = keyof typeof FILTERS

export const RESOURCE_KINDS: Readonly<Record<ResourceName, ListedKind>> = {
  agents: {
    ...AGENT_RESOURCE,
    named_by: ['agent_name'],
    has_pages: true,
    has_search: true,
    has_read: true,
    columns: [
      ['ID', 'agent_id'],
      ['NAME', 'agent_name'],
      ['STATUS', 'status'],
      ['LAST SEEN', 'last_seen_at'],
      ['SCOPES', 'scope_count'],
      ['KEYS', 'key_count'],
      ['KILL REASON', 'kill_reason'],
    ],
    filters: ['query', 'status'],
  },
  integrations: {
    ...INTEGRATION_RESOURCE,
    named_by: ['name'],
    has_pages: true,
    has_search: true,
    has_read: true,
    columns: [
      ['ID', 'integration_id'],
      ['NAME', 'name'],
      ['BASE URL', 'base_url'],
      ['CREDENTIAL', 'auth.type'],
    ],
    filters: ['query'],
  },
  connections: {
    name: 'connection',
    path: '/admin/connections',
    id: 'connection_id',
    named_by: ['name'],
    has_pages: true,
    has_search: true,
    has_read: false,
    columns: [
      ['ID', 'connection_id'],
      ['NAME', 'name'],
      ['INTEGRATION', 'integration_id'],
      ['SUBJECT', 'subject'],
      ['STATUS', 'status'],
      ['CREDENTIAL', 'auth.type'],
      ['LAST USED', 'last_used_at'],
    ],
    filters: ['query'],
  },
  scopes: {
    ...SCOPE_RESOURCE,
    named_by: ['name'],
    has_pages: true,
    has_search: true,
    has_read: true,
    columns: [
      ['ID', 'scope_id'],
      ['NAME', 'name'],
      ['AGENT', 'agent_id'],
      ['INTEGRATION', 'integration_id'],
      ['PRIORITY', 'priority'],
      ['LIMIT/MIN', 'rate_limiting.requests_per_minute'],
      ['EXPIRES', 'expires_at'],
    ],
    filters: ['query', 'agent', 'integration', 'expiring'],
  },
  keys: {
    name: 'API key',
    path: '/admin/keys',
    id: 'key_id',
    named_by: ['name'],
    has_pages: true,
    has_search: false,
    has_read: true,
    columns: [
      ['ID', 'key_id'],
      ['NAME', 'name'],
      ['AGENT', 'agent_id'],
      ['ENDS IN', 'last4'],
      ['LAST USED', 'last_used_at'],
      ['EXPIRES', 'expires_at'],
      ['REVOKED', 'revoked_at'],
    ],
    filters: ['agent'],
  },
  webhooks: {
    ...WEBHOOK_RESOURCE,
    named_by: ['name'],
    has_pages: true,
    has_search: false,
    has_read: true,
    columns: [
      ['ID', 'webhook_id'],
      ['NAME', 'name'],
      ['STATUS', 'status'],
      ['DELIVERED', 'success_count'],
      ['FAILED', 'failure_count'],
      ['PENDING', 'pending_count'],
      ['LAST TRIGGERED', 'last_triggered_at'],
      ['URL', 'url'],
    ],
    filters: [],
  },
  alerts: {
    name: 'alert',
    path: '/admin/alerts',
    id: 'alert_id',
    named_by: [],
    has_pages: true,
    has_search: false,
    has_read: false,
    columns: [
      ['ID', 'alert_id'],
      ['STATUS', 'status'],
      ['SEVERITY', 'severity'],
      ['COUNT', 'count'],
      ['LAST', 'last_at'],
      ['TITLE', 'title'],
    ],
    filters: ['status', 'severity'],
  },
  locks: {
    name: 'lock',
    path: '/admin/locks',
    id: 'lock_id',
    named_by: [],
    has_pages: false,
    has_search: false,
    has_read: true,
    columns: [
      ['ID', 'lock_id'],
      ['TARGET', 'target'],
      ['MODE', 'mode'],
      ['BY', 'created_by'],
      ['CREATED', 'created_at'],
      ['ENDS', 'expires_at'],
      ['COMPLETE', 'complete'],
      ['MESSAGE', 'message'],
    ],
    filters: [],
  },
  requests: {
    name: 'request',
    path: '/admin/access-requests',
    id: 'request_id',
    named_by: [],
    has_pages: true,
    has_search: false,
    has_read: true,
    columns: [
      ['ID', 'request_id'],
      ['STATUS', 'status'],
      ['AGENT', 'agent_id'],
      ['ACTION', 'call.action'],
      ['METHOD', 'call.method'],
      ['URL', 'call.url'],
      ['EXPIRES', 'expires_at'],
      ['DECIDED BY', 'decided_by'],
    ],
    filters: ['status', 'agent'],
  },
  kills: {
    name: 'kill',
    path: '/admin/kills',
    id: 'kill_id',
    named_by: [],
    has_pages: true,
    has_search: false,
    has_read: true,
    columns: [
      ['ID', 'kill_id'],
      ['AGENT', 'agent_id'],
      ['KILLED', 'killed_at'],
      ['BY', 'triggered_by'],
      ['COMPLETE', 'complete'],
      ['ENDED', 'in_flight_requests_terminated'],
      ['TUNNELS', 'tunnels_terminated'],
      ['MS', 'propagation_ms'],
      ['REASON', 'reason'],
    ],
    filters: ['agent'],
  },
  edges: {
    name: 'edge',
    path: '/admin/edges',
    id: 'edge_id',
    named_by: [],
    has_pages: false,
    has_search: false,
    has_read: false,
    columns: [
      ['ID', 'edge_id'],
      ['REGION', 'region'],
      ['ROLE', 'role'],
      ['IN FLIGHT', 'in_flight'],
      ['TUNNELS', 'tunnels'],
      ['DRAINING', 'draining'],
      ['HEARTBEAT (MS AGO)', 'beat_age_ms'],
      ['VERSION', 'version'],
      ['STARTED', 'started_at'],
    ],
    filters: [],
  },
  tokens: {
    name: 'admin token',
    path: '/admin/tokens',
    id: 'token_id',
    named_by: ['name', 'email'],
    has_pages: true,
    has_search: false,
    has_read: true,
    columns: [
      ['ID', 'token_id'],
      ['NAME', 'name'],
      ['E-MAIL', 'email'],
      ['ROLE', 'role'],
      ['ENDS IN', 'last4'],
      ['LAST USED', 'last_used_at'],
      ['EXPIRES', 'expires_at'],
    ],
    filters: [],
  },
}

/** Members that hold the id of another resource; a table shows its name. */
export const REFERENCES: ReadonlyMap<string, ResourceName> = new Map([
  ['agent_id', 'agents'],
  ['integration_id', 'integrations'],
])

/** What one of a kind is named by on the command line, such as `id or name`. */
export const namingOf = ({ named_by }: ListedKind): string =>
  ['id', ...named_by.map((member) => (member === 'email' ? 'e-mail' : 'name'))]
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ')
