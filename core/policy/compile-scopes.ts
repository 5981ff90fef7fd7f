import type { Scope, ScopeRule } from '../model.ts'
import { foldAndSplitSegment, foldSegment } from './fold-segments.ts'
import { type EffectiveSettings, mergeSettings } from './merge-settings.ts'
import { mapLiterals, type PathPattern, parsePathPattern } from './path-pattern.ts'

export interface CompiledRule {
  /** Upper case; `*` stands for all. */
  readonly methods: readonly string[]
  readonly paths: readonly PathPattern[]
  /** The paths as a lenient upstream might read them (threat model, rule 9). */
  readonly folded_paths: readonly PathPattern[]
  /** The same where an encoded slash separates. */
  readonly split_paths: readonly PathPattern[]
}

export interface CompiledScope {
  readonly scope: Scope
  readonly rules: readonly CompiledRule[]
  readonly settings: EffectiveSettings
}

export interface IntegrationScopes {
  /** Lowest priority first, then oldest, then by id. */
  readonly scopes: readonly CompiledScope[]
  /** Merged settings by the positions of the scopes that took part; `chooseScope` fills and bounds it. */
  readonly merged: Map<string, EffectiveSettings>
}

/** All scopes of one agent, made once a change. */
export interface AgentScopes {
  /** `agent_scopes` of a refusal. */
  readonly names: readonly string[]
  readonly by_integration: ReadonlyMap<string, IntegrationScopes>
}

/** A path that does not parse, which admin refuses to store, matches nothing. */
export function compileScopes(scopes: Iterable<Scope>): AgentScopes {
  const sorted = [...scopes].sort(compareScopes)
  const by_integration = new Map<
    string,
    { scopes: CompiledScope[]; merged: Map<string, EffectiveSettings> }
  >()
  for (const scope of sorted) {
    const compiled = {
      scope,
      rules: scope.rules.map(compileRule),
      settings: mergeSettings([scope]),
    }
    const known = by_integration.get(scope.integration_id)
    if (known === undefined)
      by_integration.set(scope.integration_id, { scopes: [compiled], merged: new Map() })
    else known.scopes.push(compiled)
  }
  return { names: sorted.map((scope) => scope.name), by_integration }
}

function compileRule(rule: ScopeRule): CompiledRule {
  const paths = rule.paths.map(parsePathPattern).filter((path) => typeof path !== 'string')
  return {
    methods: rule.methods,
    paths,
    folded_paths: paths.map((path) => mapLiterals(path, (literal) => [foldSegment(literal)])),
    split_paths: paths.map((path) => mapLiterals(path, foldAndSplitSegment)),
  }
}

function compareScopes(a: Scope, b: Scope): number {
  if (a.priority !== b.priority) return a.priority - b.priority
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.scope_id < b.scope_id ? -1 : 1
}
