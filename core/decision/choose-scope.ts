import type { Scope, ScopeRule } from '../catalogue/model.ts'
import type { AgentScopes, CompiledScope, IntegrationScopes } from './compile-scopes.ts'
import { foldAndSplitSegments, foldSegments, type SegmentRange } from '../request/fold-segments.ts'
import { type EffectiveSettings, mergeSettings } from './merge-settings.ts'
import { type AskingRule, mergeApprovals, type NeededApproval } from './needed-approval.ts'
import type { MatchBudget, PathTrie } from './path-trie.ts'

/** A method and the decoded segments of a target; `from` skips those of the base URL. */
export interface ScopedCall extends SegmentRange {
  readonly method: string
  /** The other readings of the path; see `split_readings` of a target. A scope allows the call only if it allows all of these. */
  readonly readings: readonly SegmentRange[]
  /** Whether it is the handshake of a WebSocket. */
  readonly is_socket?: boolean
}

export type ScopeDenial = 'no_scope' | 'path_not_allowed' | 'method_not_allowed'

/** Why a call is refused that a scope would allow which is not in force. */
export type WindowDenial = 'scope_not_yet' | 'scope_expired'

export type ScopeChoice =
  | {
      readonly kind: 'allowed'
      readonly scope: Scope
      /** Position of the deciding rule in its scope, from 0. */
      readonly rule: number
      readonly settings: EffectiveSettings
      /** Whether a rule of the scope also allows the call to become a WebSocket; false for any other call. */
      readonly allows_socket: boolean
      /** Null if no rule asks for one. */
      readonly approval: NeededApproval | null
    }
  | {
      readonly kind: 'denied'
      readonly reason: ScopeDenial
      /** The names of all scopes of the agent, for any integration. */
      readonly agent_scopes: readonly string[]
      /** The call that no rule allows: the requested one, or an override of it. */
      readonly call: ScopedCall
      readonly nearest: NearestRule | null
      /** A reading that is not allowed of a path that a rule allows; null if no rule allows the path itself. */
      readonly reading: SegmentRange | null
    }

/** The first rule that covers the path of a call, but not its method. */
export interface NearestRule {
  readonly scope: Scope
  /** Position of the rule in its scope, from 0. */
  readonly rule: number
}

/** TRACE returns a credential to the caller (threat model, rule 11). No rule allows these methods, not even `*`. */
export const FORBIDDEN_METHODS: readonly string[] = ['TRACE', 'TRACK', 'CONNECT']
/** Merged settings cached per agent and integration; few of the possible sets ever occur. */
const MERGED_LIMIT = 64
/**
 * Maximum number of matching steps per call, some milliseconds, during which other calls wait. If an agent's rules need more,
 * such as thousands with several `**` against a path of hundreds of segments, its call is refused.
 */
const MATCH_STEPS_MAX = 200_000
const NO_CALLS: readonly ScopedCall[] = []

/**
 * The first scope, by priority, with a rule that allows the call governs it.
 * @param overridden other calls that a lenient upstream might execute instead; the governing scope must allow each of them too
 * (threat model, rule 10).
 */
export function chooseScope(
  agent: AgentScopes,
  integration_id: string,
  call: ScopedCall,
  overridden: readonly ScopedCall[] = NO_CALLS,
): ScopeChoice {
  const there = agent.by_integration.get(integration_id)
  if (there === undefined) return denied(agent, call, null, null, 'no_scope')
  const budget: MatchBudget = { left: MATCH_STEPS_MAX }
  const choice = choose(agent, there, call, overridden, budget)
  return budget.left < 0 ? denied(agent, call, null) : choice
}

function choose(
  agent: AgentScopes,
  there: IntegrationScopes,
  call: ScopedCall,
  overridden: readonly ScopedCall[],
  budget: MatchBudget,
): ScopeChoice {
  let nearest: NearestRule | null = null
  let reading: SegmentRange | null = null
  for (const compiled of there.scopes) {
    const { rule, refused } = findRule(compiled, call, budget)
    if (rule >= 0) {
      for (const other of overridden) {
        const found = findRule(compiled, other, budget)
        if (found.rule >= 0) continue
        return denied(agent, other, nearestOf(compiled, found.rule), found.refused)
      }
      const settings = strictest(there, compiled, call, overridden, budget)
      const upgraded =
        call.is_socket === true ? findUpgrade(compiled, [call, ...overridden], budget) : NO_RULE
      const allows_socket = upgraded >= 0
      const { scope } = compiled
      return {
        kind: 'allowed',
        scope,
        rule: allows_socket ? upgraded : rule,
        settings,
        allows_socket,
        approval: neededApproval(there, compiled, rule, call, overridden, budget),
      }
    }
    nearest ??= nearestOf(compiled, rule)
    reading ??= refused
  }
  return denied(agent, call, nearest, reading)
}

function denied(
  agent: AgentScopes,
  call: ScopedCall,
  nearest: NearestRule | null,
  reading: SegmentRange | null = null,
  reason: ScopeDenial = nearest === null ? 'path_not_allowed' : 'method_not_allowed',
): ScopeChoice {
  return { kind: 'denied', reason, agent_scopes: agent.names, call, nearest, reading }
}

const NO_RULE = -1
/** The path matches but not the method: the result is this number minus the position of the first such rule. */
const PATH_ONLY = -2

const nearestOf = ({ scope }: CompiledScope, found: number): NearestRule | null =>
  found <= PATH_ONLY ? { scope, rule: PATH_ONLY - found } : null

interface Found {
  /**
   * The position of the first rule that allows the call with the path as written. `NO_RULE`, or `PATH_ONLY` and less, if there is
   * none, or if another reading of the path is not allowed.
   */
  readonly rule: number
  /** That reading; null if there is none. */
  readonly refused: SegmentRange | null
}

function findRule(
  compiled: CompiledScope,
  call: ScopedCall,
  budget: MatchBudget,
  allows = allowsMethod,
): Found {
  const rule = findRuleFor(compiled, call.method, call, budget, allows)
  if (rule < 0) return { rule, refused: null }
  for (const reading of call.readings) {
    const found = findRuleFor(compiled, call.method, reading, budget, allows)
    if (found < 0) return { rule: found, refused: reading }
  }
  return { rule, refused: null }
}

/** The first rule that allows the handshake; `NO_RULE` if none does, or none allows what an upstream may read instead. */
function findUpgrade(
  compiled: CompiledScope,
  calls: readonly ScopedCall[],
  budget: MatchBudget,
): number {
  const rules = calls.map((call) => findRule(compiled, call, budget, allowsSocket).rule)
  return rules.every((rule) => rule >= 0) ? (rules[0] ?? NO_RULE) : NO_RULE
}

function findRuleFor(
  { scope, paths }: CompiledScope,
  method: string,
  path: SegmentRange,
  budget: MatchBudget,
  allows: typeof allowsMethod,
): number {
  const matching = paths.written.match(path.segments, path.from, budget)
  for (const i of matching) if (allows(scope.rules[i], method)) return i
  const [first] = matching
  return first === undefined ? NO_RULE : PATH_ONLY - first
}

function allowsMethod(rule: ScopeRule | undefined, method: string): boolean {
  if (rule === undefined) return false
  if (rule.methods.includes(method)) return !FORBIDDEN_METHODS.includes(method)
  return rule.methods.includes('*') && !FORBIDDEN_METHODS.includes(method.toUpperCase())
}

const allowsSocket = (rule: ScopeRule | undefined, method: string): boolean =>
  rule?.upgrade?.includes('websocket') === true && allowsMethod(rule, method)

/**
 * Every scope counts that matches the call as a lenient upstream may read it, so that spelling cannot select a weaker scope.
 */
function strictest(
  there: IntegrationScopes,
  governing: CompiledScope,
  call: ScopedCall,
  overridden: readonly ScopedCall[],
  budget: MatchBudget,
): EffectiveSettings {
  if (there.scopes.length === 1) return governing.settings
  const reading = readLeniently(call)
  const others = overridden.map(readLeniently)
  const taking = there.scopes.filter(
    (compiled) =>
      compiled === governing ||
      mightMatch(compiled, reading, budget) ||
      others.some((other) => mightMatch(compiled, other, budget)),
  )
  if (taking.length === 1) return governing.settings
  const key = taking.map((compiled) => compiled.scope.scope_id).join()
  const known = there.merged.get(key)
  if (known !== undefined) return known
  const settings = mergeSettings(taking.map((compiled) => compiled.scope))
  if (there.merged.size >= MERGED_LIMIT) there.merged.clear()
  there.merged.set(key, settings)
  return settings
}

interface LenientReading {
  readonly call: ScopedCall
  readonly upper_method: string
  readonly folded: SegmentRange
  readonly split: readonly SegmentRange[]
}

function readLeniently(call: ScopedCall): LenientReading {
  const folded = foldSegments(call)
  const split = [foldAndSplitSegments(call, folded), ...call.readings.map(foldSegments)]
  return { call, upper_method: call.method.toUpperCase(), folded, split }
}

function mightMatch(
  { scope, paths }: CompiledScope,
  reading: LenientReading,
  budget: MatchBudget,
): boolean {
  const { call, upper_method, folded, split } = reading
  const takes = (trie: PathTrie, { segments, from }: SegmentRange): boolean =>
    trie.match(segments, from, budget).some((i) => {
      const methods = scope.rules[i]?.methods ?? []
      return methods.includes('*') || methods.includes(upper_method)
    })
  return (
    takes(paths.written, call) ||
    takes(paths.folded, folded) ||
    split.some((range) => takes(paths.split, range))
  )
}

function spellings(method: string): string[] {
  const upper = method.toUpperCase()
  return method === upper ? [method] : [method, upper]
}

const mayAsk = ({ asking_methods }: CompiledScope, { method }: ScopedCall): boolean =>
  asking_methods.size > 0 &&
  (asking_methods.has('*') ||
    asking_methods.has(method) ||
    asking_methods.has(method.toUpperCase()))

/** Whether a lenient upstream reads a call, and the rules for it, just as they are written. */
const isReadAlike = ({ paths }: CompiledScope, call: ScopedCall): boolean =>
  paths.split === paths.written &&
  call.readings.length === 0 &&
  call.method === call.method.toUpperCase() &&
  foldSegments(call) === call &&
  foldAndSplitSegments(call, call) === call

/**
 * What a person has to allow, as the call and its overrides are written and as a lenient upstream may read them: in each reading the
 * first rule of every scope counts that matches, so that spelling cannot select a rule without approval.
 * @param rule of the governing scope, the first that matches the call as it is written
 */
function neededApproval(
  there: IntegrationScopes,
  governing: CompiledScope,
  rule: number,
  call: ScopedCall,
  overridden: readonly ScopedCall[],
  budget: MatchBudget,
): NeededApproval | null {
  let by: AskingRule[] | null = null
  for (const compiled of there.scopes) {
    if (!mayAsk(compiled, call) && !overridden.some((one) => mayAsk(compiled, one))) continue
    const { scope } = compiled
    const isSettled =
      compiled === governing && overridden.length === 0 && isReadAlike(compiled, call)
    const first = isSettled ? [rule] : firstRules(compiled, [call, ...overridden], budget)
    const asking = first.filter((i) => scope.rules[i]?.approval !== undefined)
    by ??= []
    by.push(...asking.map((i) => ({ scope, rule: i })))
  }
  return by === null ? null : mergeApprovals(by)
}

/** The first rule that matches each reading of calls that may ask for an approval, in ascending order. */
function firstRules(
  compiled: CompiledScope,
  calls: readonly ScopedCall[],
  budget: MatchBudget,
): readonly number[] {
  const { scope, paths } = compiled
  const found = new Set<number>()
  const look = (trie: PathTrie, { segments, from }: SegmentRange, methods: string[]): void => {
    const matching = trie.match(segments, from, budget)
    for (const method of methods) {
      const rule = matching.find((i) => allowsMethod(scope.rules[i], method))
      if (rule !== undefined) found.add(rule)
    }
  }
  for (const one of calls) {
    if (!mayAsk(compiled, one)) continue
    const methods = spellings(one.method)
    const { folded, split } = readLeniently(one)
    look(paths.written, one, methods)
    for (const reading of one.readings) look(paths.written, reading, methods)
    // Usually the same as above.
    if (folded !== one || paths.folded !== paths.written) look(paths.folded, folded, methods)
    for (const range of split)
      if (range !== folded || paths.split !== paths.folded) look(paths.split, range, methods)
  }
  return [...found].sort((a, b) => a - b)
}
