/** What the admin API answers (/openapi.json), as far as the pages use it. */

export type Role = 'viewer' | 'operator' | 'admin'

export interface Who {
  readonly email: string
  readonly role: Role
  readonly token_id: string
  readonly organization_id: string
}

export interface Page<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

export interface Agent {
  readonly agent_id: string
  readonly agent_name: string
  readonly status: 'active' | 'killed'
  readonly created_at: string
  readonly killed_at: string | null
  readonly kill_reason: string | null
  readonly last_seen_at: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface Receipt {
  readonly killed_at: string
  readonly credentials_revoked: number
  readonly in_flight_requests_terminated: number
  readonly propagation_ms: number
  readonly complete: boolean
  readonly edges: readonly {
    readonly edge_id: string
    readonly region: string
    readonly acknowledged_ms: number | null
    readonly terminated: number
    readonly unconfirmed: number
  }[]
  readonly still_usable_keys: readonly string[]
  readonly notify_unavailable: readonly string[]
}

export interface Key {
  readonly key_id: string
  readonly agent_id: string | null
  readonly last4: string
  readonly name: string
  readonly agent_ids: readonly string[] | null
  readonly uses: readonly string[]
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly revoked_by: string | null
}

export interface CredentialType {
  readonly type: string
  readonly label: string
  readonly members: readonly {
    readonly name: string
    readonly is_secret: boolean
    readonly is_required: boolean
    readonly may_be_empty: boolean
  }[]
}

export interface Integration {
  readonly integration_id: string
  readonly name: string
  readonly base_url: string
  readonly strip_agent_id: boolean
  readonly allow_empty_segments: boolean
  readonly allow_encoded_slashes: boolean
  readonly auth: Readonly<Record<string, string>> & { readonly type: string }
  readonly created_at: string
}

export interface Injection {
  readonly enabled: boolean
  readonly mode: 'block' | 'alert' | 'log'
  readonly sensitivity: 'low' | 'medium' | 'high'
  readonly custom_patterns: readonly string[]
  readonly whitelist_patterns: readonly string[]
  readonly whitelist_scope: 'text' | 'request'
  readonly disabled_patterns: readonly string[]
  readonly auto_kill_on_critical: boolean
  readonly scan_responses: boolean
}

export interface Rule {
  readonly methods: readonly string[]
  readonly paths: readonly string[]
}

/** What of a scope may be changed. */
export interface ScopeSettings {
  readonly name: string
  readonly priority: number
  readonly max_body_bytes: number | null
  readonly rules: readonly Rule[]
  readonly mcp_tools: { readonly allow: readonly string[]; readonly deny: readonly string[] }
  readonly injection_detection: Injection
  readonly anomaly_detection: {
    readonly enabled: boolean
    readonly alert_threshold: number
    readonly auto_kill_threshold: number
  }
  readonly rate_limiting: {
    readonly requests_per_minute: number | null
    readonly auto_kill_on_sustained_violation: boolean
    readonly violation_window_minutes: number
  }
}

export interface Scope extends ScopeSettings {
  readonly scope_id: string
  readonly agent_id: string
  readonly integration_id: string
  readonly created_at: string
}

export interface Entry {
  readonly id: string
  readonly timestamp: string
  readonly event: string
  readonly agent_id: string | null
  readonly agent_name: string | null
  readonly key_id: string | null
  readonly integration_id: string | null
  readonly scope_id: string | null
  readonly rule: number | null
  readonly method: string | null
  readonly endpoint: string | null
  readonly status: number | null
  readonly decision: string | null
  readonly reason: string | null
  readonly source_ip: string | null
  readonly request_id: string | null
  readonly edge_id: string | null
  readonly steps: readonly {
    readonly step: string
    readonly outcome: string
    readonly took_us: number
  }[]
  readonly duration_ms: number | null
  readonly bytes_in: number | null
  readonly bytes_out: number | null
  readonly data: Readonly<Record<string, unknown>>
}

export interface Alert {
  readonly alert_id: string
  readonly status: 'open' | 'acknowledged'
  readonly kind: string
  readonly severity: string
  readonly title: string
  readonly count: number
  readonly first_at: string
  readonly last_at: string
  readonly last: Readonly<Record<string, unknown>>
  readonly acknowledged_at: string | null
  readonly acknowledged_by: string | null
}

export interface Baseline {
  readonly learning: boolean
  readonly scopes: readonly {
    readonly scope_id: string
    readonly name: string
    readonly enabled: boolean
    readonly learning: boolean
    readonly learned_hours: number
    readonly learned_calls: number
    readonly needed_hours: number
    readonly needed_calls: number
    readonly score: number
    readonly anomaly_types: readonly string[]
    readonly normal_rpm: number
    readonly current_rpm: number
    readonly failed_share: number
    readonly denied_share: number
    readonly endpoints: readonly string[]
    readonly source_ips: readonly string[]
  }[]
}

export interface Edge {
  readonly edge_id: string
  readonly region: string
  readonly started_at: string
  readonly in_flight: number
  readonly draining: boolean
  readonly beat_age_ms: number
}

export interface Stats {
  readonly agents: { readonly active: number; readonly killed: number }
  readonly integrations: number
  readonly scopes: number
  readonly webhooks: { readonly active: number; readonly failing: number }
  readonly alerts: { readonly open: number }
  readonly edges: { readonly live: number; readonly in_flight: number }
  readonly activity: {
    readonly entries: number
    readonly by_event: Readonly<Record<string, number>>
  }
}

export interface Readiness {
  readonly ready: boolean
  readonly parts: Readonly<Record<string, string>>
}

export interface Webhook {
  readonly webhook_id: string
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
  readonly has_secret: boolean
  readonly previous_secret_until: string | null
  readonly status: 'active' | 'failing'
  readonly failing_since: string | null
  readonly success_count: number
  readonly failure_count: number
  readonly pending_count: number
  readonly last_triggered_at: string | null
  readonly created_at: string
}

export interface Delivery {
  readonly delivery_id: string
  readonly event_id: string
  readonly event: string
  readonly status: 'pending' | 'delivered' | 'failed'
  readonly is_test: boolean
  readonly is_replay: boolean
  readonly created_at: string
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly attempts: readonly {
    readonly number: number
    readonly started_at: string
    readonly is_success: boolean
    readonly status: number | null
    readonly error: string | null
    readonly duration_ms: number
    readonly response_excerpt: string | null
  }[]
}

export interface Token {
  readonly token_id: string
  readonly email: string
  readonly role: Role
  readonly name: string
  readonly last4: string
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
}

export interface Explanation {
  readonly answer: 'allowed' | 'refused'
  readonly error: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly integration: {
    readonly integration_id: string
    readonly name: string
    readonly base_url: string
  } | null
  readonly scope: { readonly scope_id: string; readonly name: string } | null
  readonly rule: number | null
}

export interface ScanResult {
  readonly blocked: boolean
  readonly detections: readonly {
    readonly pattern_name: string
    readonly category: string
    readonly severity: string
    readonly matched_text: string
    readonly location: string
  }[]
}

export const EVENTS = [
  'request_allowed',
  'request_rejected',
  'injection_blocked',
  'injection_detected',
  'agent_killed',
  'agent_reactivated',
  'anomaly_detected',
  'permission_denied',
  'rate_limit_exceeded',
  'mcp_tool_blocked',
  'admin_action',
]
export const WEBHOOK_EVENTS = EVENTS.filter(
  (event) => !['request_allowed', 'request_rejected', 'admin_action'].includes(event),
)
