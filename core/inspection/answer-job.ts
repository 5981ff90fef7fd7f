import { type BodyFacts, type BodyQuestions, readBody } from './read-body.ts'
import {
  compileInjectionSettings,
  compileSavedSettings,
  type CompiledInjectionSettings,
  type ExpressionProblem,
  type PatternSettings,
  problemOfSaved,
} from '../scanner/compile-settings.ts'
import type { LiteralFilter } from '../scanner/custom/literal-filter.ts'
import type { Finding } from '../scanner/finding.ts'
import type { Source } from '../scanner/format/source.ts'
import type { ScanResult } from '../scanner/scan-request.ts'
import { scanResponseBody } from '../scanner/scan-response.ts'
import { scanTexts } from '../scanner/scan-texts.ts'
import { SearchBudget } from '../scanner/text/search-budget.ts'

/** Maximum number of settings compiled at a time; the oldest are dropped. */
const SETTINGS_COUNT = 64

/** A job for a scan process. The body of a call returns with the reply if something was cut out of it. */
export type ScanJob = {
  readonly settings: PatternSettings | null
  /** The event loop does not know yet which texts it can exclude by itself. */
  readonly wants_filter: boolean
} & (
  | { readonly kind: 'call'; readonly body: Buffer | null; readonly questions: BodyQuestions }
  | {
      readonly kind: 'response'
      readonly body: Buffer
      readonly content_type: string | null
      readonly content_encoding: string | null
      readonly limit_bytes: number
    }
  | { readonly kind: 'texts'; readonly texts: readonly Source[] }
  /** Compiles and times the patterns of the settings, which nobody has checked yet. */
  | { readonly kind: 'patterns' }
)

export type ScanAnswer =
  | { readonly kind: 'call'; readonly facts: BodyFacts; readonly is_stripped: boolean }
  | { readonly kind: 'response'; readonly result: ScanResult }
  | { readonly kind: 'texts'; readonly findings: readonly (readonly Finding[])[] }
  | { readonly kind: 'patterns'; readonly problems: PatternProblems }

export type PatternProblems = Readonly<
  Record<'custom_patterns' | 'whitelist_patterns', readonly ExpressionProblem[]>
>

export type ScanReply = {
  readonly answer: ScanAnswer | null
  readonly error: string | null
  /** Why the patterns of the settings cannot be used: a version that did not check them has saved them. */
  readonly problem?: ExpressionProblem
  /** Undefined if it was not requested. */
  readonly filter: LiteralFilter | null | undefined
  readonly body: Buffer | null
}

/** Those that cannot be used are kept as well, so that each call is refused at once. */
const cache = new Map<string, CompiledInjectionSettings | ExpressionProblem>()

const compiled = (settings: PatternSettings): CompiledInjectionSettings | ExpressionProblem => {
  const key = JSON.stringify(settings)
  const held = cache.get(key)
  if (held !== undefined) return held
  const fresh = problemOfSaved(settings) ?? compileOrProblem(settings)
  if (cache.size >= SETTINGS_COUNT) cache.delete(cache.keys().next().value as string)
  cache.set(key, fresh)
  return fresh
}

const compileOrProblem = (
  settings: PatternSettings,
): CompiledInjectionSettings | ExpressionProblem => {
  try {
    return compileSavedSettings(settings)
  } catch (error) {
    return { pattern: '', reason: `cannot be compiled: ${(error as Error).message}` }
  }
}

type Work = { readonly answer: ScanAnswer; readonly body: Buffer | null }

const work = (job: ScanJob, settings: CompiledInjectionSettings | null): Work => {
  if (job.kind === 'call') {
    const { body, questions } = job
    const { facts, sent, is_stripped } = readBody(body, questions, settings, new SearchBudget())
    return { answer: { kind: 'call', facts, is_stripped }, body: is_stripped ? sent : null }
  }
  if (settings === null) throw new Error('a scan has no settings')
  if (job.kind === 'response') {
    const result = scanResponseBody(job, settings, job.limit_bytes)
    return { answer: { kind: 'response', result }, body: null }
  }
  if (job.kind === 'patterns') throw new Error('patterns are checked, not searched')
  const findings = scanTexts(job.texts, settings, new SearchBudget())
  return { answer: { kind: 'texts', findings }, body: null }
}

export const problemsOf = (settings: PatternSettings): PatternProblems => {
  const none = { ...settings, custom_patterns: [], whitelist_patterns: [] }
  const problems = (list: keyof PatternProblems): readonly ExpressionProblem[] => {
    const compiled = compileInjectionSettings({ ...none, [list]: settings[list] })
    return compiled.ok ? [] : compiled.problems
  }
  const custom_patterns = problems('custom_patterns')
  return {
    custom_patterns,
    whitelist_patterns: custom_patterns.length > 0 ? [] : problems('whitelist_patterns'),
  }
}

/** Runs a job. */
export const answerJob = (job: ScanJob): ScanReply => {
  try {
    if (job.kind === 'patterns' && job.settings !== null) {
      const answer = { kind: 'patterns', problems: problemsOf(job.settings) } as const
      return { answer, error: null, filter: undefined, body: null }
    }
    const settings = job.settings === null ? null : compiled(job.settings)
    if (settings !== null && 'reason' in settings)
      return { answer: null, error: null, problem: settings, filter: undefined, body: null }
    const { answer, body } = work(job, settings)
    const filter = job.wants_filter ? (settings?.custom?.filter ?? null) : undefined
    return { answer, error: null, filter, body }
  } catch (error) {
    const { message } = error as Error
    return { answer: null, error: message, filter: undefined, body: null }
  }
}
