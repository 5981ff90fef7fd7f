import RE2 from 're2'
import type {
  InjectionMode,
  InjectionSettings,
  RoleModes,
  Sensitivity,
} from '../catalogue/model.ts'
import { buildLiteralFilter, type LiteralFilter } from './custom/literal-filter.ts'
import { MERGED_COST, tooExpensive } from './custom/pattern-cost.ts'

/** Bounds of the admin API; RE2 itself refuses expressions that compile to more than its memory bound. */
const PATTERN_COUNT = 100
const PATTERN_CHARACTERS = 1_000
/**
 * What a set may cost on the probe: 150 ns per byte, ten times the cost of all built-in patterns together. The probe grows step
 * by step, so that a set far above the bound is recognized after the first kilobyte.
 */
const PROBE_BYTES = 65_536
const PROBE_MS = 10
const PROBE_STEPS_BYTES = [1_024, 8_192, PROBE_BYTES]
/** Allowance for the time that an interrupted thread loses. */
const PROBE_SLACK_MS = 1
const PROBE_RUNS = 3

export type ExpressionProblem = { readonly pattern: string; readonly reason: string }

/** The compiled form of expressions. */
export type ExpressionSearch = {
  readonly all: { match(text: Buffer): number[]; test(text: Buffer): boolean }
  /** Compiled on first use: a match is rarely located. */
  one(index: number): RE2
}

export type ExpressionSet = {
  readonly expressions: readonly string[]
  /** Null on a thread that delegates the search to another one. */
  readonly search: ExpressionSearch | null
  /** Asked before the search; null where every text must be searched. */
  readonly filter: LiteralFilter | null
}

/** Injection settings of a scope, compiled once per revision. */
export type CompiledInjectionSettings = {
  /** The settings that were compiled, so that a scan process can compile the same ones. */
  readonly source: PatternSettings
  readonly mode: InjectionMode
  readonly sensitivity: Sensitivity
  readonly custom: ExpressionSet | null
  readonly whitelist: ExpressionSet | null
  readonly whitelist_scope: 'text' | 'request'
  readonly disabled: ReadonlySet<string>
  readonly roles: RoleModes
  readonly trusted: ReadonlySet<string>
}

export type CompiledSettings =
  | { readonly ok: true; readonly compiled: CompiledInjectionSettings }
  | { readonly ok: false; readonly problems: readonly ExpressionProblem[] }

/** The part of a scope's settings that the scanner reads. */
export type PatternSettings = Pick<
  InjectionSettings,
  | 'mode'
  | 'sensitivity'
  | 'custom_patterns'
  | 'whitelist_patterns'
  | 'whitelist_scope'
  | 'disabled_patterns'
  | 'roles'
  | 'trusted_texts'
>

const compileOne = (expression: string): RE2 | string => {
  if (expression === '') return 'is empty'
  if (expression.length > PATTERN_CHARACTERS)
    return `is longer than ${PATTERN_CHARACTERS} characters`
  try {
    const compiled = new RE2(expression, 'iu')
    if (compiled.test('')) return 'matches the empty text, so it would match every request'
    return compiled
  } catch (error) {
    return `is not an RE2 expression: ${(error as Error).message}`
  }
}

/** Prose whose words repeat in changing order, so that no expression stays in one state for long. */
const probeText = (): Buffer => {
  const words =
    'the order of account 4417 from user mail@site.example is a secret key, project alpha-7 {"id": "x_1", "note": "please confirm"} 2024-05-01 http://host/path?q=1 aaaa bbbb'.split(
      ' ',
    )
  let text = ''
  let seed = 7
  while (text.length < PROBE_BYTES) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    text += `${words[(seed >> 8) % words.length]} `
  }
  return Buffer.from(text)
}

let probe: Buffer | null = null

/** The least time of a few runs, in milliseconds; the first run below the bound ends it. */
const leastMs = (
  matcher: { test(text: Buffer): boolean },
  bytes: number,
  bound_ms: number,
): number => {
  probe ??= probeText()
  const text = probe.subarray(0, bytes)
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < PROBE_RUNS && least > bound_ms; run += 1) {
    const started = performance.now()
    matcher.test(text)
    least = Math.min(least, performance.now() - started)
  }
  return least
}

const isTooSlow = (matcher: { match(text: Buffer): unknown }): boolean =>
  PROBE_STEPS_BYTES.some((bytes) => {
    const bound_ms = (PROBE_MS * bytes) / PROBE_BYTES + PROBE_SLACK_MS
    return leastMs({ test: (text) => matcher.match(text) !== null }, bytes, bound_ms) > bound_ms
  })

/** The expression to name if the set as a whole is too expensive. */
const slowest = (each: readonly RE2[], expressions: readonly string[]): string => {
  const times = each.map((one) => leastMs(one, 512, Number.POSITIVE_INFINITY))
  return expressions[times.indexOf(Math.max(...times))] ?? ''
}

const compileSet = (
  expressions: readonly string[],
  problems: ExpressionProblem[],
): ExpressionSet | null => {
  if (expressions.length === 0) return null
  if (expressions.length > PATTERN_COUNT) {
    problems.push({
      pattern: expressions[PATTERN_COUNT] ?? '',
      reason: `is one more than the ${PATTERN_COUNT} that are allowed`,
    })
    return null
  }
  const excess = tooExpensive(expressions)
  if (excess !== null) {
    problems.push(excess)
    return null
  }
  const each: RE2[] = []
  for (const expression of expressions) {
    const compiled = compileOne(expression)
    if (typeof compiled === 'string') {
      problems.push({ pattern: expression, reason: compiled })
      return null
    }
    each.push(compiled)
  }
  try {
    const all = new RE2.Set([...expressions], 'iu')
    if (isTooSlow(all)) {
      problems.push({
        pattern: slowest(each, expressions),
        reason: 'makes the patterns together too slow: it is the slowest of them',
      })
      return null
    }
    const search = { all, one: (index: number) => each[index] as RE2 }
    return { expressions, search, filter: buildLiteralFilter(expressions) }
  } catch (error) {
    problems.push({
      pattern: slowest(each, expressions),
      reason: `cannot be compiled together with the others: ${(error as Error).message}`,
    })
    return null
  }
}

/** Compiles and times the patterns of a scope; each list ends at the first pattern that cannot be accepted. */
export const compileInjectionSettings = (settings: PatternSettings): CompiledSettings => {
  const problems: ExpressionProblem[] = []
  const custom = compileSet([...new Set(settings.custom_patterns)], problems)
  const whitelist = compileSet([...new Set(settings.whitelist_patterns)], problems)
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, compiled: { ...withoutExpressions(settings), custom, whitelist } }
}

/** The members that the scanner reads. */
export const patternSettings = (settings: PatternSettings): PatternSettings => ({
  mode: settings.mode,
  sensitivity: settings.sensitivity,
  custom_patterns: settings.custom_patterns,
  whitelist_patterns: settings.whitelist_patterns,
  whitelist_scope: settings.whitelist_scope,
  disabled_patterns: settings.disabled_patterns,
  ...(settings.roles === undefined ? {} : { roles: settings.roles }),
  ...(settings.trusted_texts === undefined ? {} : { trusted_texts: settings.trusted_texts }),
})

const withoutExpressions = (settings: PatternSettings): CompiledInjectionSettings => ({
  source: patternSettings(settings),
  mode: settings.mode,
  sensitivity: settings.sensitivity,
  custom: null,
  whitelist: null,
  whitelist_scope: settings.whitelist_scope,
  disabled: new Set(settings.disabled_patterns),
  roles: settings.roles ?? {},
  trusted: new Set(settings.trusted_texts ?? []),
})

const openSearch = (expressions: readonly string[]): ExpressionSearch => {
  const each = new Map<number, RE2>()
  return {
    all: new RE2.Set([...expressions], 'iu'),
    one: (index) => {
      const known = each.get(index) ?? new RE2(expressions[index] ?? '', 'iu')
      each.set(index, known)
      return known
    },
  }
}

const mapExpressions = (
  patterns: readonly string[],
  make: (expressions: readonly string[]) => ExpressionSet,
): ExpressionSet | null => (patterns.length === 0 ? null : make([...new Set(patterns)]))

/** What no version that checks patterns would have saved; null if these can be compiled. */
export const problemOfSaved = (settings: PatternSettings): ExpressionProblem | null =>
  tooExpensive(settings.custom_patterns, MERGED_COST) ??
  tooExpensive(settings.whitelist_patterns, MERGED_COST)

/**
 * Compiles settings that were timed when they were saved. Takes tens of milliseconds for many patterns.
 * @throws when a pattern does not compile
 */
export const compileSavedSettings = (settings: PatternSettings): CompiledInjectionSettings => {
  const compile = (expressions: readonly string[]): ExpressionSet => ({
    expressions,
    search: openSearch(expressions),
    filter: buildLiteralFilter(expressions),
  })
  return {
    ...withoutExpressions(settings),
    custom: mapExpressions(settings.custom_patterns, compile),
    whitelist: mapExpressions(settings.whitelist_patterns, compile),
  }
}

/**
 * For an event loop, which compiles nothing: texts that `filter` cannot exclude are passed to a process that has compiled the
 * patterns.
 * @param filter of the custom patterns; null while it is not known, or where there is none
 */
export const deferSettings = (
  settings: PatternSettings,
  filter: LiteralFilter | null,
): CompiledInjectionSettings => {
  const defer = (expressions: readonly string[]) => ({ expressions, search: null, filter })
  return {
    ...withoutExpressions(settings),
    custom: mapExpressions(settings.custom_patterns, defer),
    whitelist: mapExpressions(settings.whitelist_patterns, defer),
  }
}
