import { type Scope, SELECTED } from '../catalogue/model.ts'
import { foldAndSplitSegment, foldSegment } from '../request/fold-segments.ts'
import { type EffectiveSettings, mergeSettings } from './merge-settings.ts'
import { mapLiterals, type PathPattern, parsePathPattern } from './path-pattern.ts'
import { PathTrie } from './path-trie.ts'
import { runSteps } from '../request/run-steps.ts'

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
  /** Of the rules that ask for an approval. */
  readonly asking_methods: ReadonlySet<string>
  /** The scope is in force from the first time on and before the second; infinite where it has no limit. */
  readonly from_ms: number
  readonly until_ms: number
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
  /** Those that select their integrations, in the same order; `scopesForListing` finds those of an integration. */
  readonly selecting: readonly CompiledScope[]
  /** The times at which a scope begins or ends, in order. */
  readonly bounds_ms: readonly number[]
  /** Of those in force at a time (`scopesInForce`): those that are not; null if all are. */
  readonly others: OtherScopes | null
}

export interface OtherScopes {
  readonly not_yet: AgentScopes
  readonly expired: AgentScopes
}

/** Of paths, read or added between two pauses. A path has at most 2,048, in up to 512 segments. */
const CHARACTERS_PER_STEP = 1_024
/** What a path costs in addition to its characters. */
const CHARACTERS_PER_PATH = 16

export const asksApproval = ({ asking_methods }: CompiledScope): boolean => asking_methods.size > 0

/** A path that does not parse, which admin refuses to store, matches nothing. */
export function compileScopes(scopes: Iterable<Scope>): AgentScopes {
  return runSteps(compilingScopes(scopes))
}

/** The same in steps, between which other work can be done. Only to take the next scope is one step, whatever its size. */
export function* compilingScopes(scopes: Iterable<Scope>): Generator<undefined, AgentScopes> {
  return gatherScopes(yield* compilingEach(scopes))
}

export function* compilingEach(
  scopes: Iterable<Scope>,
): Generator<undefined, readonly CompiledScope[]> {
  const compiled: CompiledScope[] = []
  for (const scope of scopes) {
    yield
    // It lifts the approval of a rule (ext-proc/call/check-approval.ts), and allows nothing.
    if (scope.grant?.kind === 'call') continue
    const paths = yield* compilePaths(scope)
    compiled.push({
      scope,
      paths,
      settings: mergeSettings([scope]),
      asking_methods: new Set(
        scope.rules.flatMap(({ approval, methods }) => (approval === undefined ? [] : methods)),
      ),
      ...windowOf(scope),
    })
  }
  return compiled
}

/** When a scope is in force. A time that cannot be read, which admin refuses to store, is one at which it is not. */
function windowOf({
  not_before = null,
  expires_at = null,
}: Scope): Pick<CompiledScope, 'from_ms' | 'until_ms'> {
  const from_ms = not_before === null ? Number.NEGATIVE_INFINITY : Date.parse(not_before)
  const until_ms = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  return Number.isNaN(from_ms) || Number.isNaN(until_ms)
    ? { from_ms: Number.POSITIVE_INFINITY, until_ms: Number.POSITIVE_INFINITY }
    : { from_ms, until_ms }
}

interface RulePath {
  readonly rule: number
  readonly path: string
}

interface RulePattern extends RulePath {
  readonly pattern: PathPattern
}

/** Patterns are usually the same however they are read; one trie is then all three. */
function* compilePaths({ rules }: Scope): Generator<undefined, ScopePaths> {
  const written: RulePattern[] = []
  const folded: RulePattern[] = []
  const split: RulePattern[] = []
  const all = rules.flatMap(({ paths }, rule) => paths.map((path) => ({ rule, path })))
  yield* inSteps(all, ({ rule, path }) => {
    const pattern = parsePathPattern(path)
    if (typeof pattern === 'string') return
    const one = { rule, path, pattern }
    written.push(one)
    folded.push(mapped(one, (literal) => [foldSegment(literal)]))
    split.push(mapped(one, foldAndSplitSegment))
  })
  const writtenTrie = yield* trieOf(written)
  const foldedTrie = areSame(folded, written) ? writtenTrie : yield* trieOf(folded)
  const splitTrie = areSame(split, folded) ? foldedTrie : yield* trieOf(split)
  return { written: writtenTrie, folded: foldedTrie, split: splitTrie }
}

function* inSteps<T extends RulePath>(
  all: readonly T[],
  work: (one: T) => void,
): Generator<undefined, void> {
  let characters = 0
  for (const one of all) {
    work(one)
    characters += CHARACTERS_PER_PATH + one.path.length
    if (characters < CHARACTERS_PER_STEP) continue
    characters = 0
    yield
  }
}

/** The given pattern, if nothing changes. */
function mapped(one: RulePattern, change: (literal: string) => readonly string[]): RulePattern {
  const isChanged = (part: string | null): boolean => {
    if (part === null) return false
    const changed = change(part)
    return changed.length !== 1 || changed[0] !== part
  }
  const isAnyChanged = one.pattern.blocks.some((block) => block.some(isChanged))
  return isAnyChanged ? { ...one, pattern: mapLiterals(one.pattern, change) } : one
}

const areSame = (some: readonly RulePattern[], others: readonly RulePattern[]): boolean =>
  some.every((one, at) => one === others[at])

function* trieOf(patterns: readonly RulePattern[]): Generator<undefined, PathTrie> {
  const trie = new PathTrie()
  yield* inSteps(patterns, ({ pattern, rule }) => trie.add(pattern, rule))
  return trie
}

/** Each refusal carries them, to the caller and to the log. */
const NAMES_SHOWN = 200

/** @param shared further ones, whose tries are counted elsewhere */
export function gatherScopes(
  own: readonly CompiledScope[],
  shared: readonly CompiledScope[] = [],
): AgentScopes {
  const compiled = [...own, ...shared]
  const sorted = compiled.sort((a, b) => compareScopes(a.scope, b.scope))
  const by_integration = new Map<
    string,
    { scopes: CompiledScope[]; merged: Map<string, EffectiveSettings> }
  >()
  for (const one of sorted) {
    if (one.scope.integration_id === SELECTED) continue
    const known = by_integration.get(one.scope.integration_id)
    if (known === undefined)
      by_integration.set(one.scope.integration_id, { scopes: [one], merged: new Map() })
    else known.scopes.push(one)
  }
  const tries = new Set(own.flatMap(({ paths }) => Object.values<PathTrie>({ ...paths })))
  const nodes = [...tries].reduce((sum, trie) => sum + trie.nodes, 0)
  const bounds_ms = [...new Set(compiled.flatMap(({ from_ms, until_ms }) => [from_ms, until_ms]))]
  return {
    nodes,
    names: sorted.slice(0, NAMES_SHOWN).map(({ scope }) => scope.name),
    by_integration,
    selecting: sorted.filter(({ scope }) => scope.integration_id === SELECTED),
    bounds_ms: bounds_ms.filter(Number.isFinite).sort((a, b) => a - b),
    others: null,
  }
}

export function compareScopes(a: Scope, b: Scope): number {
  if (a.priority !== b.priority) return a.priority - b.priority
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.scope_id < b.scope_id ? -1 : 1
}
