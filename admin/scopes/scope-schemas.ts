import { PERMISSION_LEVELS } from '../../core/credential/narrowest.ts'
import { type TObject, type TProperties, Type } from 'typebox'
import {
  APPROVAL_DEFAULTS,
  APPROVAL_REUSE,
  APPROVER_ROLES,
  RATE_PER,
  RULE_UPGRADES,
  SCOPE_DEFAULTS,
  SPEAKERS,
} from '../../core/catalogue/model.ts'
import { TRUSTED_TEXT } from '../../core/scanner/trusted-text.ts'
import { NO_CONTROLS, UNCLEAN } from '../../core/credential/text-forms.ts'
import { Id, Name, Nullable, Strict, TimeText, Timestamp, User } from '../http/common-schemas.ts'
import { SelectorSchema, SelectorView } from '../labels/label-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'

/** Its name and path, for its routes and for `agw apply`. */
export const SCOPE_RESOURCE = { name: 'scope', path: '/admin/scopes', id: 'scope_id' } as const
export const BULK_SCOPES = { path: '/admin/bulk/scopes', prefix: 'scp' } as const

/** An edge holds all scopes of an agent that calls, compiled. */
export const AGENT_SCOPES_LIMIT = 1_000
/** It looks through those of the integration at each call. */
export const INTEGRATION_SCOPES_LIMIT = 200
export const RULES_LIMIT = 100
export const RULE_PATHS_LIMIT = 100
/** Lists within lists: the paths of all rules of a scope, and of all scopes of an agent. */
export const SCOPE_PATHS_LIMIT = 1_000
export const AGENT_PATHS_LIMIT = 5_000
/** An edge needs up to 300 bytes for each, three times if upstreams may read them in other ways. */
export const AGENT_SEGMENTS_LIMIT = 50_000
/** A path with more of them can be written as several. */
export const PATH_DEEP_LIMIT = 4
export const RULE_METHODS_LIMIT = 20
export const PATH_LENGTH_LIMIT = 2048
export const TOOLS_LIMIT = 500
/** Each kind of patterns of a scope. */
export const PATTERNS_LIMIT = 100
export const PATTERN_LENGTH_LIMIT = 1000
/** All scopes of an agent at once are what an edge reads when it has forgotten the agent. */
export const SCOPE_LIMIT_BYTES = 262_144
export const AGENT_SCOPES_LIMIT_BYTES = 2_097_152

const DEFAULTS = SCOPE_DEFAULTS

const Method = Type.String({
  pattern: "^(\\*|[A-Za-z0-9!#$%&'+.^_`|~-]{1,32})$",
  [PATTERN_MESSAGE]: 'must be "*" or an HTTP method of at most 32 characters',
})

/** A day. */
const APPROVAL_VALID_LIMIT_S = 86_400
const APPROVAL_WAIT_LIMIT_S = 3_600

const Approval = Strict({
  wait_seconds: Type.Integer({
    minimum: 0,
    maximum: APPROVAL_WAIT_LIMIT_S,
    default: APPROVAL_DEFAULTS.wait_seconds,
    description: 'How long a call waits for the decision before it is refused',
  }),
  valid_seconds: Type.Integer({
    minimum: 10,
    maximum: APPROVAL_VALID_LIMIT_S,
    default: APPROVAL_DEFAULTS.valid_seconds,
    description: 'How long a request can be decided, and then how long an approval can be used',
  }),
  approvers: Type.Enum([...APPROVER_ROLES], {
    default: APPROVAL_DEFAULTS.approvers,
    description: 'The lowest role that decides',
  }),
  needed: Type.Integer({
    minimum: 1,
    maximum: 2,
    default: APPROVAL_DEFAULTS.needed,
    description: 'How many different people have to approve',
  }),
  reuse: Type.Enum([...APPROVAL_REUSE], {
    default: APPROVAL_DEFAULTS.reuse,
    description:
      'What an approval may allow: the call once, or (`rule`) also all calls of the agent by this rule until a time',
  }),
})

const Rule = Strict({
  methods: Type.Array(Method, {
    minItems: 1,
    maxItems: RULE_METHODS_LIMIT,
    description: 'Upper case; `*` allows all. GET does not imply HEAD.',
  }),
  paths: Type.Array(Type.String({ minLength: 1, maxLength: PATH_LENGTH_LIMIT }), {
    minItems: 1,
    maxItems: RULE_PATHS_LIMIT,
    description: 'Below the base URL: literal segments, `*` for one segment, `**` for any number.',
  }),
  upgrade: Type.Optional(
    Type.Array(Type.Enum([...RULE_UPGRADES]), {
      maxItems: RULE_UPGRADES.length,
      description:
        'Protocols that a GET may change to: `websocket`. Messages are scanned as bodies are; the rules do not apply to them.',
    }),
  ),
  approval: Type.Optional(
    Type.Partial(Approval, {
      additionalProperties: false,
      description: 'A person has to allow each call (docs/guides/approvals.md)',
    }),
  ),
})

const Tools = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: `^[^${UNCLEAN}]+$`,
    [PATTERN_MESSAGE]: NO_CONTROLS,
  }),
  { maxItems: TOOLS_LIMIT },
)
const McpTools = Strict({ allow: Tools, deny: Tools })
const ReadTools = {
  ...Tools,
  description:
    'MCP tools that only read: a lock of the mode read_only lets them pass. POST must be allowed for the MCP endpoint alone.',
  default: [...DEFAULTS.read_tools],
}

/** As many as GitHub takes. */
const REPOSITORIES_LIMIT = 500
const PERMISSIONS_LIMIT = 100
const Narrowing = Type.Object(
  {
    repositories: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[A-Za-z0-9._-]{1,100}$',
          [PATTERN_MESSAGE]:
            'must be a name without the owner: 1 to 100 letters, digits, dots, dashes and underscores',
        }),
        {
          minItems: 1,
          maxItems: REPOSITORIES_LIMIT,
          description: 'Names without the owner',
        },
      ),
    ),
    permissions: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z_]{1,64}$' }), Type.Enum([...PERMISSION_LEVELS]), {
        minProperties: 1,
        maxProperties: PERMISSIONS_LIMIT,
        additionalProperties: false,
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'What an installation token of a GitHub App may do at most. Calls with any other credential are then refused.',
  },
)

const Patterns = Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_LENGTH_LIMIT }), {
  maxItems: PATTERNS_LIMIT,
  description: 'RE2 expressions, case-insensitive',
})

const RoleMode = Nullable(Type.Enum(['block', 'alert', 'log']))
/** Omitted speakers have the mode of the scope. */
const Roles = Strict({
  operator: RoleMode,
  model: RoleMode,
  tool_description: RoleMode,
  user: RoleMode,
  tool_result: RoleMode,
  document: RoleMode,
})
/** An edge looks for a user in the list. */
const USERS_LIMIT = 1000
const TRUSTED_TEXTS_LIMIT = 100
const STRICT = { additionalProperties: false }

const InjectionDetection = Strict({
  enabled: Type.Boolean(),
  mode: Type.Enum(['block', 'alert', 'log']),
  sensitivity: Type.Enum(['low', 'medium', 'high']),
  custom_patterns: Patterns,
  whitelist_patterns: Patterns,
  whitelist_scope: Type.Enum(['text', 'request']),
  disabled_patterns: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 500 }),
  roles: Roles,
  trusted_texts: Type.Array(
    Type.String({
      pattern: TRUSTED_TEXT,
      maxLength: 100,
      [PATTERN_MESSAGE]:
        'must be sha256: and 64 lower-case hex digits, and may name a speaker after a slash',
    }),
    { maxItems: TRUSTED_TEXTS_LIMIT },
  ),
  auto_kill_on_critical: Type.Boolean(),
  scan_responses: Type.Boolean(),
})

const AnomalyDetection = Strict({
  enabled: Type.Boolean(),
  alert_threshold: Type.Number({ minimum: 0, maximum: 1 }),
  auto_kill_threshold: Type.Number({ minimum: 0, maximum: 1 }),
})

const RateLimiting = Strict({
  requests_per_minute: Nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
  per: Type.Enum([...RATE_PER], {
    description: 'Whose calls count together: those of each agent, or of all agents of the scope',
  }),
  auto_kill_on_sustained_violation: Type.Boolean(),
  violation_window_minutes: Type.Integer({ minimum: 1, maximum: 1440 }),
})

/** Everything that a scope has but its identity and its owner; what is left out has the default of its schema. */
export const EditableScope = Strict({
  name: Name,
  agent_selector: Nullable(SelectorSchema),
  integration_selector: Nullable(SelectorSchema),
  priority: Type.Integer({ minimum: 0, maximum: 1_000_000, default: DEFAULTS.priority }),
  max_body_bytes: Nullable(Type.Integer({ minimum: 0 })),
  max_response_bytes: Nullable(Type.Integer({ minimum: 1 })),
  over_limit: Type.Enum(['refuse', 'pass_unscanned'], {
    description:
      'What happens to a response over the limit in a scope that scans responses. A request that is too large is always refused.',
  }),
  allow_batches: Type.Boolean({
    description:
      'Allows batches of calls that cannot be read. The calls that can be read must be allowed by the rules in any case.',
    default: DEFAULTS.allow_batches,
  }),
  not_before: Nullable(TimeText('The scope is in force from this time on')),
  expires_at: Nullable(TimeText('The scope ends at this time')),
  end_streams: Type.Boolean({
    description:
      'Calls that are still running at `expires_at` end too. Otherwise, a call that was allowed before may run on.',
    default: DEFAULTS.end_streams,
  }),
  connection_id: Nullable(
    Type.String({
      maxLength: 128,
      description:
        'The connection that the calls get: a shared one of the integration, or one of the agent',
    }),
  ),
  users: Type.Array(User, {
    maxItems: USERS_LIMIT,
    description: 'Users whose connections calls may get that name them in X-Agw-User',
    default: [...DEFAULTS.users],
  }),
  rules: Type.Array(Rule, { maxItems: RULES_LIMIT }),
  mcp_tools: McpTools,
  read_tools: ReadTools,
  token_narrowing: Nullable(Narrowing),
  injection_detection: InjectionDetection,
  anomaly_detection: AnomalyDetection,
  rate_limiting: RateLimiting,
})

/** Every member is optional and has a default. */
const partial = <P extends TProperties>(schema: TObject<P>, defaults: object) =>
  Type.Optional(
    Type.Partial(schema, { additionalProperties: false, default: structuredClone(defaults) }),
  )

/** How many a selector with negative terms alone selects, as the refusal without it says. */
export const ConfirmAffected = Type.Optional(Type.Integer({ minimum: 0 }))

export const NewScope = Strict({
  name: Name,
  agent_id: Type.Optional(Id('The agent that the scope applies to; or agent_selector')),
  integration_id: Type.Optional(
    Id('The integration that the scope allows access to; or integration_selector'),
  ),
  agent_selector: Type.Optional(EditableScope.properties.agent_selector),
  integration_selector: Type.Optional(EditableScope.properties.integration_selector),
  confirm_affected: ConfirmAffected,
  rules: EditableScope.properties.rules,
  priority: Type.Optional(EditableScope.properties.priority),
  max_body_bytes: Type.Optional(EditableScope.properties.max_body_bytes),
  max_response_bytes: Type.Optional(EditableScope.properties.max_response_bytes),
  over_limit: Type.Optional(EditableScope.properties.over_limit),
  allow_batches: Type.Optional(EditableScope.properties.allow_batches),
  not_before: Type.Optional(EditableScope.properties.not_before),
  expires_at: Type.Optional(EditableScope.properties.expires_at),
  end_streams: Type.Optional(EditableScope.properties.end_streams),
  connection_id: Type.Optional(EditableScope.properties.connection_id),
  users: Type.Optional(EditableScope.properties.users),
  mcp_tools: partial(McpTools, DEFAULTS.mcp_tools),
  read_tools: Type.Optional(EditableScope.properties.read_tools),
  token_narrowing: Type.Optional(EditableScope.properties.token_narrowing),
  injection_detection: partial(
    Strict({ ...InjectionDetection.properties, roles: Type.Partial(Roles, STRICT) }),
    DEFAULTS.injection_detection,
  ),
  anomaly_detection: partial(AnomalyDetection, DEFAULTS.anomaly_detection),
  rate_limiting: partial(RateLimiting, DEFAULTS.rate_limiting),
})

export const ScopeView = Strict({
  scope_id: Type.String(),
  origin: Nullable(
    Type.String({ description: 'The access request whose approval has made the scope' }),
  ),
  name: Type.String(),
  agent_id: Nullable(Type.String()),
  integration_id: Nullable(Type.String()),
  agent_selector: Nullable(SelectorView),
  integration_selector: Nullable(SelectorView),
  affected_agents: Type.Optional(
    Type.Integer({
      description: 'Only in the answer of a change: how many agents the selector selects now',
    }),
  ),
  priority: Type.Number(),
  max_body_bytes: Nullable(Type.Number()),
  max_response_bytes: Nullable(Type.Number()),
  over_limit: EditableScope.properties.over_limit,
  allow_batches: Type.Boolean(),
  not_before: Nullable(Timestamp),
  expires_at: Nullable(Timestamp),
  end_streams: Type.Boolean(),
  connection_id: Nullable(Type.String()),
  users: Type.Array(Type.String()),
  rules: Type.Array(
    Strict({
      methods: Type.Array(Type.String()),
      paths: Type.Array(Type.String()),
      upgrade: Type.Optional(Type.Array(Type.Enum([...RULE_UPGRADES]))),
      approval: Type.Optional(Approval),
    }),
  ),
  mcp_tools: Type.Object({
    allow: Type.Array(Type.String()),
    deny: Type.Array(Type.String()),
  }),
  read_tools: Type.Array(Type.String()),
  token_narrowing: EditableScope.properties.token_narrowing,
  injection_detection: Type.Object({
    ...InjectionDetection.properties,
    custom_patterns: Type.Array(Type.String()),
    whitelist_patterns: Type.Array(Type.String()),
    disabled_patterns: Type.Array(Type.String()),
    roles: Type.Optional(Roles),
    trusted_texts: Type.Optional(Type.Array(Type.String())),
  }),
  anomaly_detection: Type.Object({
    enabled: Type.Boolean(),
    alert_threshold: Type.Number(),
    auto_kill_threshold: Type.Number(),
  }),
  rate_limiting: Type.Object({
    requests_per_minute: Nullable(Type.Number()),
    per: Type.Enum([...RATE_PER]),
    auto_kill_on_sustained_violation: Type.Boolean(),
    violation_window_minutes: Type.Number(),
  }),
  created_at: Timestamp,
})

/** Replaced whole by a merge patch. */
export const SCOPE_WHOLE = ['rules', 'agent_selector', 'integration_selector', 'token_narrowing']
/** Members in which null is a value. */
export const SCOPE_NULLABLE = [
  'token_narrowing',
  'max_body_bytes',
  'max_response_bytes',
  'requests_per_minute',
  'not_before',
  'expires_at',
  'connection_id',
  'agent_selector',
  'integration_selector',
  ...SPEAKERS,
]
