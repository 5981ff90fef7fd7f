import type { Scope } from '../model.ts'
import { foldAndSplitSegment, foldSegment } from './fold-segments.ts'
import { type EffectiveSettings, mergeSettings } from './merge-settings.ts'
import { mapLiterals, type PathPattern, parsePathPattern } from './path-pattern.ts'
import { PathTrie } from './path-trie.ts'
import { runSteps } from './run-steps.ts'

/** The paths of all rules of a scope. */
export interface ScopePaths {
  readonly written: PathTrie
  /** The paths as a lenient upstream might read them (threat model, rule 9). */
  readonly folded: PathTrie
  /** The same where an encoded slash separates. */
  readonly split: PathTrie
}

export interface CompiledScope {
  readonly scope: Scope
  readonly paths: ScopePaths
  readonly settings: EffectiveSettings
}

export interface IntegrationScopes {
  /** Lowest priority first, then oldest, then by id. */
  readonly scopes: readonly CompiledScope[]
  /** Merged settings by the ids of the merged scopes; `chooseScope` fills and bounds it. */
  readonly merged: Map<string, EffectiveSettings>
}

/** All scopes of one agent, compiled once per change. */
export interface AgentScopes {
  /** Nodes of all tries. */
  readonly nodes: number
  /** For `agent_scopes` in the details of a refusal; the first `NAMES_SHOWN`. */
  readonly names: readonly string[]
  readonly by_integration: ReadonlyMap<string, IntegrationScopes>
}

/** A path that does not parse, which admin refuses to store, matches nothing. */
export function compileScopes(scopes: Iterable<Scope>): AgentScopes {
  return runSteps(compilingScopes(scopes))
}

/** The same in steps, one for each rule, between which other work can be done. */
export function* compilingScopes(scopes: Iterable<Scope>): Generator<undefined, AgentScopes> {
  const compiled: CompiledScope[] = []
  for (const scope of scopes) {
    const paths = yield* compilePaths(scope)
    compiled.push({ scope, paths, settings: mergeSettings([scope]) })
    yield
  }
  return gather(compiled)
}

type RulePatterns = readonly PathPattern[]

/** Patterns are usually the same however they are read; one trie is then all three. */
function* compilePaths({ rules }: Scope): Generator<undefined, ScopePaths> {
  const written: RulePatterns[] = []
  const folded: RulePatterns[] = []
  const split: RulePatterns[] = []
  for (const [rule, { paths }] of rules.entries()) {
    if (rule > 0) yield
    const patterns = paths.map(parsePathPattern).filter(isPattern)
    written.push(patterns)
    folded.push(mapAll(patterns, (literal) => [foldSegment(literal)]))
    split.push(mapAll(patterns, foldAndSplitSegment))
  }
  const writtenTrie = yield* trieOf(written)
  const foldedTrie = areSame(folded, written) ? writtenTrie : yield* trieOf(folded)
  const splitTrie = areSame(split, folded) ? foldedTrie : yield* trieOf(split)
  return { written: writtenTrie, folded: foldedTrie, split: splitTrie }
}

const isPattern = (pattern: PathPattern | string): pattern is PathPattern =>
  typeof pattern !== 'string'

/** The given patterns, if nothing changes. */
function mapAll(
  patterns: RulePatterns,
  change: (literal: string) => readonly string[],
): RulePatterns {
  const isChanged = (part: string | null): boolean => {
    if (part === null) return false
    const changed = change(part)
    return changed.length !== 1 || changed[0] !== part
  }
  const isAnyChanged = patterns.some(({ blocks }) => blocks.some((block) => block.some(isChanged)))
  return isAnyChanged ? patterns.map((pattern) => mapLiterals(pattern, change)) : patterns
}

const areSame = (some: readonly RulePatterns[], others: readonly RulePatterns[]): boolean =>
  some.every((patterns, rule) => patterns === others[rule])

function* trieOf(rules: readonly RulePatterns[]): Generator<undefined, PathTrie> {
  const trie = new PathTrie()
  for (const [rule, patterns] of rules.entries()) {
    if (rule > 0) yield
    for (const pattern of patterns) trie.add(pattern, rule)
  }
  return trie
}

/** Each refusal carries them, to the caller and to the log. */
const NAMES_SHOWN = 200

function gather(compiled: readonly CompiledScope[]): AgentScopes {
  const sorted = [...compiled].sort((a, b) => compareScopes(a.scope, b.scope))
  const by_integration = new Map<
    string,
    { scopes: CompiledScope[]; merged: Map<string, EffectiveSettings> }
  >()
  for (const one of sorted) {
    const known = by_integration.get(one.scope.integration_id)
    if (known === undefined)
      by_integration.set(one.scope.integration_id, { scopes: [one], merged: new Map() })
    else known.scopes.push(one)
  }
  const tries = new Set(compiled.flatMap(({ paths }) => Object.values<PathTrie>({ ...paths })))
  const nodes = [...tries].reduce((sum, trie) => sum + trie.nodes, 0)
  return {
    nodes,
    names: sorted.slice(0, NAMES_SHOWN).map(({ scope }) => scope.name),
    by_integration,
  }
}

function compareScopes(a: Scope, b: Scope): number {
  if (a.priority !== b.priority) return a.priority - b.priority
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.scope_id < b.scope_id ? -1 : 1
}
