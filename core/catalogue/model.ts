/**
 * The resources as they are stored (snake_case, times ISO 8601 UTC).
 * What a reader of the API sees is derived from these by admin; what the hot path uses is compiled from them.
 */

import type { ErrorFormat } from './error-formats.ts'
import type { SealedAuth } from '../credential/catalogue.ts'
import type { TokenNarrowing } from '../credential/token-client.ts'

/** In the syntax of Kubernetes. */
export type Labels = Readonly<Record<string, string>>

export const SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const

export interface SelectorTerm {
  readonly key: string
  readonly operator: (typeof SELECTOR_OPERATORS)[number]
  /** At least one for `In` and `NotIn`, none for the others. */
  readonly values: readonly string[]
}

/** Selects what has all of these labels and meets all of these terms. */
export interface Selector {
  readonly match_labels: Labels
  readonly match_expressions: readonly SelectorTerm[]
}

/** Stands for the id in a scope that selects its agents or its integrations. */
export const SELECTED = '*'

/** The id that a scope names; null if it selects. */
export const namedId = (id: string): string | null => (id === SELECTED ? null : id)

export type AgentStatus = 'active' | 'killed'

export interface Agent {
  readonly agent_id: string
  readonly agent_name: string
  readonly organization_id: string
  readonly status: AgentStatus
  /** Increases with every kill and reactivation and never decreases (invariant 4). */
  readonly revision: number
  readonly created_at: string
  /** E-mail of the operator; absent in agents of older versions. */
  readonly created_by?: string
  readonly killed_at: string | null
  readonly kill_reason: string | null
  /** Whether the last reactivation replaced the keys that the kill had revoked by a new one. */
  readonly keys_replaced?: boolean
  /**
   * Changes after this time are unknown since a restore, such as a kill: calls are refused until an administrator acknowledges that.
   * Absent otherwise.
   */
  readonly restore_gap?: string
  /** Absent if there are none, as in those of an integration. */
  readonly labels?: Labels
  readonly metadata: Readonly<Record<string, unknown>>
  /** Whether it may call hosts that are in no integration. Null or absent: as its organization says. */
  readonly unlisted_hosts?: UnlistedHosts | null
}

/** What happens to a call through the forward proxy to a host that nothing of the organization names. */
export const UNLISTED_HOSTS = ['refuse', 'allow'] as const
export type UnlistedHosts = (typeof UNLISTED_HOSTS)[number]

export type KeyUse = 'proxy' | 'webhooks'

/** A key of an agent, or of an organization when `agent_id` is null. The key itself is never stored, only its hash. */
export interface ApiKey {
  readonly key_id: string
  readonly organization_id: string
  readonly agent_id: string | null
  /** SHA-256 of the key, lower-case hex. */
  readonly hash: string
  readonly last4: string
  readonly name: string
  /** The agents that an organization key is limited to; null for no limit. */
  readonly agent_ids: readonly string[] | null
  readonly uses: readonly KeyUse[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  /** `kill` marks a key that a reactivation restores. */
  readonly revoked_by: 'operator' | 'kill' | null
}

/** How Envoy connects to the API of an integration. Null: as for all others. */
export interface UpstreamSettings {
  readonly connect_timeout_ms: number | null
  /** From the end of the request to the headers of the response. */
  readonly response_timeout_ms: number | null
  /** Repetitions of a call that the API cannot have processed, or that is idempotent and got no response. */
  readonly retries: number | null
  /** Unused connections are closed after this time. */
  readonly pool_idle_timeout_ms: number | null
  /** PEM. Only these CAs are trusted, instead of those that all other APIs are checked with. */
  readonly ca_certificates: string | null
  /** PEM, the chain that is presented to the API. */
  readonly client_certificate: string | null
  /** Sealed; stored if there is a client certificate. */
  readonly client_key?: string
}

export const UPSTREAM_DEFAULTS = {
  connect_timeout_ms: null,
  response_timeout_ms: null,
  retries: null,
  pool_idle_timeout_ms: null,
  ca_certificates: null,
  client_certificate: null,
} as const satisfies UpstreamSettings

/** A further host that belongs to an API, such as its download host. */
export interface AlsoHost {
  /** In canonical form; may have one leading wildcard label (`*.example.com`), or a port other than 443. */
  readonly host: string
  readonly methods: readonly string[]
  readonly paths: readonly string[]
  /** Whether calls there get the credential of the integration; only an exact host does. */
  readonly credential: boolean
}

/** `headers`: what response headers and trailers say of the attached credential is redacted; `full`: bodies are withheld too. */
export const ECHO_GUARDS = ['off', 'headers', 'full'] as const
export type EchoGuard = (typeof ECHO_GUARDS)[number]

export interface Integration {
  readonly integration_id: string
  readonly organization_id: string
  readonly name: string
  /** Canonical: lower-case scheme and host, no default port, no trailing slash. */
  readonly base_url: string
  readonly strip_agent_id: boolean
  readonly allow_empty_segments: boolean
  /**
   * Whether the API treats an encoded slash as part of a name, as GitLab does; so also `&` and an encoded `?` or `#`. Absent in
   * integrations stored by older versions.
   */
  readonly allow_encoded_slashes?: boolean
  /** Absent in integrations stored by older versions, as the next three. */
  readonly also_hosts?: readonly AlsoHost[]
  /** Further response headers that hold the URL of a next call; in lower case. */
  readonly rewrite_headers?: readonly string[]
  /** Whether the credential is redacted in response headers. Absent in integrations stored by older versions, as the next. */
  readonly echo_guard?: EchoGuard
  /** The shape of refusals once the caller is known. */
  readonly error_format?: ErrorFormat
  readonly upstream?: UpstreamSettings
  readonly labels?: Labels
  readonly auth: SealedAuth
  readonly created_at: string
}

/** `active` alone is used: a call that would get any other is refused. */
export const CONNECTION_STATUSES = ['active', 'expired', 'revoked', 'needs_consent'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]

/** Whose a connection is: of all, by a scope that names it, of one agent, or of a user that a scope lists. */
export type ConnectionSubject = 'shared' | `agent:${string}` | `user:${string}`

/** One of several credentials for the API of an integration. */
export interface Connection {
  readonly connection_id: string
  readonly organization_id: string
  readonly integration_id: string
  readonly name: string
  readonly subject: ConnectionSubject
  /** Sealed for the integration and its origins, as the credential of the integration itself. */
  readonly auth: SealedAuth
  readonly status: ConnectionStatus
  /** Who has given the credential: e-mail of the operator, or the user. */
  readonly granted_by: string | null
  readonly refreshed_at: string | null
  /** Why its tokens are gone (core/token/credential-cause.ts); absent if they are not. */
  readonly ended_by?: string | null
  readonly created_at: string
}

export interface ScopeRule {
  /** Upper case; `*` allows all. */
  readonly methods: readonly string[]
  readonly paths: readonly string[]
  /** Protocols that a GET may change to. Absent if there are none. */
  readonly upgrade?: readonly RuleUpgrade[]
  /** A person has to allow each call. Absent if no one has to. */
  readonly approval?: RuleApproval
}

export const APPROVER_ROLES = ['operator', 'admin'] as const
export const APPROVAL_REUSE = ['once', 'rule'] as const

export interface RuleApproval {
  /** How long a call waits for the decision before it is refused. */
  readonly wait_seconds: number
  /** How long a request can be decided, and how long an approval can be used. */
  readonly valid_seconds: number
  /** The lowest role that decides. */
  readonly approvers: (typeof APPROVER_ROLES)[number]
  /** How many different people have to approve. */
  readonly needed: number
  /** What an approval may allow: the call once, or also all calls of the agent by this rule for a time. */
  readonly reuse: (typeof APPROVAL_REUSE)[number]
}

export const APPROVAL_DEFAULTS: RuleApproval = {
  wait_seconds: 0,
  valid_seconds: 600,
  approvers: 'operator',
  needed: 1,
  reuse: 'once',
}

export const RULE_UPGRADES = ['websocket'] as const
export type RuleUpgrade = (typeof RULE_UPGRADES)[number]

export type Sensitivity = 'low' | 'medium' | 'high'
export type InjectionMode = 'block' | 'alert' | 'log'

/** Whose words a text of a request is; the speakers whose words count for less stand last. */
export const SPEAKERS = [
  'operator',
  'model',
  'tool_description',
  'user',
  'tool_result',
  'document',
] as const
export type Speaker = (typeof SPEAKERS)[number]

export type RoleModes = Partial<Readonly<Record<Speaker, InjectionMode | null>>>

export interface InjectionSettings {
  readonly enabled: boolean
  readonly mode: InjectionMode
  readonly sensitivity: Sensitivity
  readonly custom_patterns: readonly string[]
  readonly whitelist_patterns: readonly string[]
  readonly whitelist_scope: 'text' | 'request'
  readonly disabled_patterns: readonly string[]
  /** What is done about findings in the words of each speaker; null is the mode of the scope. Absent in scopes of versions before 0.3. */
  readonly roles?: RoleModes
  /** Hashes of texts whose findings are only recorded (core/scanner/trusted-text.ts). Absent as well. */
  readonly trusted_texts?: readonly string[]
  readonly auto_kill_on_critical: boolean
  readonly scan_responses: boolean
}

export interface AnomalySettings {
  readonly enabled: boolean
  readonly alert_threshold: number
  readonly auto_kill_threshold: number
}

export const RATE_PER = ['agent', 'scope'] as const
export type RatePer = (typeof RATE_PER)[number]

export interface RateSettings {
  /** null is unlimited. */
  readonly requests_per_minute: number | null
  /** Whose calls count together: those of each agent, or all of the scope. Absent in records of older versions: each agent's. */
  readonly per?: RatePer
  readonly auto_kill_on_sustained_violation: boolean
  readonly violation_window_minutes: number
}

export interface McpTools {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** What an approval allows for a time, as the scope that it has made. */
export interface AccessGrant {
  /**
   * `call`: the calls of a rule need no further approval; its scope allows nothing by itself. `access`: what no other scope
   * allows.
   */
  readonly kind: 'call' | 'access'
  /** `grantDigest` or `accessGrantDigest`: a call by the grant has it too. */
  readonly digest: string
  /** Of the agent: a kill ends the grant. */
  readonly agent_revision: number
}

export type OverLimit = 'refuse' | 'pass_unscanned'

export interface Scope {
  readonly scope_id: string
  readonly organization_id: string
  readonly name: string
  /** `SELECTED` if there is an `agent_selector`. */
  readonly agent_id: string
  readonly agent_selector?: Selector | null
  /** `SELECTED` if there is an `integration_selector`. */
  readonly integration_id: string
  readonly integration_selector?: Selector | null
  readonly priority: number
  readonly max_body_bytes: number | null
  /** Of a response that is scanned; null: the limit of the gateway. Absent in records of versions before 0.3, as the next. */
  readonly max_response_bytes?: number | null
  /** What happens to a response over that limit. */
  readonly over_limit?: OverLimit
  /** Whether batches that cannot be read are allowed; absent in scopes of older versions, as the next three. */
  readonly allow_batches?: boolean
  /** The scope is in force from `not_before` on and ends before `expires_at`; null: without a limit on that side. */
  readonly not_before?: string | null
  readonly expires_at?: string | null
  /** Whether calls that are still running at `expires_at` end then. */
  readonly end_streams?: boolean
  /** The connection that its calls get; null: as the order of credentials says. Absent in records of older versions, as the next. */
  readonly connection_id?: string | null
  /** Users, as `X-Agw-User` names them, whose connections its calls may get. */
  readonly users?: readonly string[]
  readonly rules: readonly ScopeRule[]
  readonly mcp_tools: McpTools
  /** Tools that only read, which a lock of the mode `read_only` lets pass. Absent if there are none. */
  readonly read_tools?: readonly string[]
  /** What an installation token of a GitHub App may do at most. Absent or null if the scope says nothing. */
  readonly token_narrowing?: TokenNarrowing | null
  readonly injection_detection: InjectionSettings
  readonly anomaly_detection: AnomalySettings
  readonly rate_limiting: RateSettings
  readonly created_at: string
  /** The access request whose approval has made the scope; absent in all others, as the next. Such a scope never changes. */
  readonly origin?: string
  readonly grant?: AccessGrant
}

/** Default values for members that are omitted when a scope is created. */
export const SCOPE_DEFAULTS = {
  agent_selector: null,
  integration_selector: null,
  priority: 100,
  max_body_bytes: null,
  max_response_bytes: null,
  over_limit: 'refuse',
  allow_batches: false,
  not_before: null,
  expires_at: null,
  end_streams: false,
  connection_id: null,
  users: [],
  mcp_tools: { allow: ['*'], deny: [] },
  read_tools: [],
  token_narrowing: null,
  injection_detection: {
    enabled: true,
    mode: 'block',
    sensitivity: 'medium',
    custom_patterns: [],
    whitelist_patterns: [],
    whitelist_scope: 'text',
    disabled_patterns: [],
    roles: {
      operator: null,
      model: null,
      tool_description: null,
      user: null,
      tool_result: null,
      document: null,
    },
    trusted_texts: [],
    auto_kill_on_critical: false,
    scan_responses: false,
  },
  anomaly_detection: { enabled: false, alert_threshold: 0.7, auto_kill_threshold: 1 },
  rate_limiting: {
    requests_per_minute: 600,
    per: 'agent',
    auto_kill_on_sustained_violation: false,
    violation_window_minutes: 5,
  },
} as const satisfies Partial<Scope>

export interface Organization {
  readonly organization_id: string
  readonly name: string
  readonly created_at: string
  /** Of agents that do not say otherwise. Absent: `refuse`. */
  readonly unlisted_hosts?: UnlistedHosts
}

export const LOCK_MODES = ['deny', 'read_only'] as const
export type LockMode = (typeof LOCK_MODES)[number]

/** What a lock names. */
export type LockTarget =
  | { readonly agent_id: string }
  | { readonly agent_selector: Selector }
  | { readonly key_id: string }
  | { readonly scope_id: string }
  | { readonly integration_id: string }
  | { readonly organization_id: string }
  | { readonly everything: true }

export const LOCK_TARGETS = [
  'agent_id',
  'agent_selector',
  'key_id',
  'scope_id',
  'integration_id',
  'organization_id',
  'everything',
] as const

/** Stands for the organization of a lock of everything. */
export const EVERYWHERE = '*'

/** Refuses calls until an administrator lifts it, or it ends. Unlike a kill it revokes nothing. */
export interface Lock {
  readonly lock_id: string
  /** Whose calls it concerns, or `EVERYWHERE`. */
  readonly organization_id: string
  readonly target: LockTarget
  /** `read_only` lets pass what only reads: safe methods, and MCP tools in `read_tools` of a scope. */
  readonly mode: LockMode
  /** Shown to callers. */
  readonly message: string | null
  /** For operators, such as the number of a ticket. */
  readonly reference: string | null
  readonly created_at: string
  /** E-mail of the operator, and the organization of that operator. */
  readonly created_by: string
  readonly created_in: string
  readonly expires_at: string | null
}

export type AdminRole = 'viewer' | 'operator' | 'admin'

export interface AdminToken {
  readonly token_id: string
  readonly organization_id: string
  readonly email: string
  readonly role: AdminRole
  readonly name: string
  readonly hash: string
  readonly last4: string
  readonly created_at: string
  readonly expires_at: string | null
}
