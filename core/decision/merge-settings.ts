import {
  type AnomalySettings,
  type InjectionMode,
  type InjectionSettings,
  type McpTools,
  type OverLimit,
  type RatePer,
  type RateSettings,
  type RoleModes,
  type Scope,
  type Sensitivity,
  SPEAKERS,
  type Speaker,
} from '../catalogue/model.ts'
import type { EffectiveTools } from '../mcp/check-mcp-tool.ts'
import type { ReadTools } from '../mcp/only-reads.ts'
import { narrowest } from '../credential/narrowest.ts'
import type { TokenNarrowing } from '../credential/token-client.ts'
import { foldToolName } from '../mcp/fold-tool-name.ts'
import { compileToolGlob } from '../mcp/tool-glob.ts'

/** The security settings in force for a call: the strictest of all scopes that match it. */
export interface EffectiveSettings {
  /** The merged scopes, in order of priority. */
  readonly scope_ids: readonly string[]
  /** null: only the limit of the gateway. */
  readonly max_body_bytes: number | null
  /** The limit of responses that are scanned; null: only the limit of the gateway. */
  readonly max_response_bytes: number | null
  readonly over_limit: OverLimit
  readonly allow_batches: boolean
  readonly tools: EffectiveTools
  readonly read_tools: ReadTools
  /** Null if no scope narrows tokens. */
  readonly token_narrowing: TokenNarrowing | null
  readonly injection: InjectionSettings
  readonly anomaly: AnomalySettings
  readonly rate: Omit<RateSettings, 'per'>
  /**
   * The scope against whose limit the call counts: the one with the lowest limit, the first by priority if several have it. All
   * calls that a strict scope matches therefore share its limit, however they are spelled and whichever scope governs them.
   */
  readonly rate_scope_id: string
  readonly rate_per: RatePer
}

const MODES: readonly InjectionMode[] = ['log', 'alert', 'block']
const SENSITIVITIES: readonly Sensitivity[] = ['low', 'medium', 'high']

/** Of one scope these are its own settings, compiled. */
export function mergeSettings(scopes: readonly Scope[]): EffectiveSettings {
  return {
    scope_ids: scopes.map((scope) => scope.scope_id),
    max_body_bytes: lowest(scopes.map((scope) => scope.max_body_bytes)),
    max_response_bytes: lowest(scopes.map((scope) => scope.max_response_bytes ?? null)),
    over_limit: scopes.every((scope) => scope.over_limit === 'pass_unscanned')
      ? 'pass_unscanned'
      : 'refuse',
    allow_batches: scopes.every((scope) => scope.allow_batches === true),
    tools: mergeTools(scopes.map((scope) => scope.mcp_tools)),
    read_tools: scopes.map(({ read_tools = [] }) => read_tools.map(compileToolGlob)),
    token_narrowing: scopes.map((scope) => scope.token_narrowing ?? null).reduce(narrowest, null),
    injection: mergeInjection(scopes.map((scope) => scope.injection_detection)),
    anomaly: mergeAnomaly(scopes.map((scope) => scope.anomaly_detection)),
    rate: mergeRate(scopes.map((scope) => scope.rate_limiting)),
    rate_scope_id: strictestRate(scopes)?.scope_id ?? '',
    rate_per: strictestRate(scopes)?.rate_limiting.per ?? 'agent',
  }
}

function mergeTools(all: readonly McpTools[]): EffectiveTools {
  const allow = all
    .map((tools) => tools.allow)
    .filter((list) => !list.some((glob) => /^\*+$/.test(glob)))
  const deny = union(all.map((tools) => tools.deny.map(foldToolName)))
  return {
    allow: allow.map((list) => list.map(compileToolGlob)),
    deny: deny.map(compileToolGlob),
    is_unrestricted: allow.length === 0 && deny.length === 0,
  }
}

/** The settings of a detection that a scope has disabled are not in force, so they are ignored. */
function mergeInjection(all: readonly InjectionSettings[]): InjectionSettings {
  const live = all.filter((settings) => settings.enabled)
  const from = live.length > 0 ? live : all
  return {
    enabled: live.length > 0,
    mode: highest(
      MODES,
      from.map((settings) => settings.mode),
    ),
    sensitivity: highest(
      SENSITIVITIES,
      from.map((settings) => settings.sensitivity),
    ),
    custom_patterns: union(from.map((settings) => settings.custom_patterns)),
    whitelist_patterns: intersection(from.map((settings) => settings.whitelist_patterns)),
    whitelist_scope: from.some((settings) => settings.whitelist_scope === 'text')
      ? 'text'
      : 'request',
    disabled_patterns: intersection(from.map((settings) => settings.disabled_patterns)),
    roles: mergeRoles(from),
    trusted_texts: intersection(from.map((settings) => settings.trusted_texts ?? [])),
    auto_kill_on_critical: from.some((settings) => settings.auto_kill_on_critical),
    scan_responses: from.some((settings) => settings.scan_responses),
  }
}

/** A scope without a mode for a speaker has that of the scope. */
function mergeRoles(from: readonly InjectionSettings[]): RoleModes {
  const modeOf = (speaker: Speaker): InjectionMode | null =>
    from.every(({ roles }) => (roles?.[speaker] ?? null) === null)
      ? null
      : highest(
          MODES,
          from.map(({ roles, mode }) => roles?.[speaker] ?? mode),
        )
  return Object.fromEntries(SPEAKERS.map((speaker) => [speaker, modeOf(speaker)]))
}

function mergeAnomaly(all: readonly AnomalySettings[]): AnomalySettings {
  const live = all.filter((settings) => settings.enabled)
  const from = live.length > 0 ? live : all
  return {
    enabled: live.length > 0,
    alert_threshold: Math.min(...from.map((settings) => settings.alert_threshold)),
    auto_kill_threshold: Math.min(...from.map((settings) => settings.auto_kill_threshold)),
  }
}

/** Only scopes that kill count for the shortest window; the windows of others are not in force. */
function mergeRate(all: readonly RateSettings[]): Omit<RateSettings, 'per'> {
  const killing = all.filter((settings) => settings.auto_kill_on_sustained_violation)
  const from = killing.length > 0 ? killing : all
  return {
    requests_per_minute: lowest(all.map((settings) => settings.requests_per_minute)),
    auto_kill_on_sustained_violation: killing.length > 0,
    violation_window_minutes: Math.min(
      ...from.map((settings) => settings.violation_window_minutes),
    ),
  }
}

function strictestRate(scopes: readonly Scope[]): Scope | undefined {
  const limit = lowest(scopes.map((scope) => scope.rate_limiting.requests_per_minute))
  return scopes.find((scope) => scope.rate_limiting.requests_per_minute === limit)
}

/** null is unlimited. */
function lowest(limits: readonly (number | null)[]): number | null {
  return limits.reduce((least, limit) =>
    least === null || (limit !== null && limit < least) ? limit : least,
  )
}

const highest = <T>(order: readonly T[], values: readonly T[]): T =>
  values.reduce((most, value) => (order.indexOf(value) > order.indexOf(most) ? value : most))

const union = (lists: readonly (readonly string[])[]): readonly string[] => [
  ...new Set(lists.flat()),
]

const intersection = (lists: readonly (readonly string[])[]): readonly string[] =>
  (lists[0] ?? []).filter((text) => lists.every((list) => list.includes(text)))
