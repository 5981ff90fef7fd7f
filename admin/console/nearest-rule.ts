import type { Rule, Scope } from './api-types.ts'

/** The rule of an agent that comes closest to allowing a call, and what it lacks. */
export interface NearestRule {
  readonly scope: Scope
  /** Position in its scope, from 0. */
  readonly rule: number
  readonly pattern: string
  readonly missing: 'method' | 'path' | 'nothing'
}

/**
 * Compares segment by segment, as an operator reads it. The service decides with normalized paths; this only points at a rule
 * to look at.
 */
export function nearestRule(
  scopes: readonly Scope[],
  method: string,
  path: string,
): NearestRule | null {
  let best: (NearestRule & { readonly score: number }) | null = null
  for (const scope of scopes)
    for (const [rule, { methods, paths }] of scope.rules.entries())
      for (const pattern of paths) {
        const { common, isWhole } = compare(pattern, path)
        const hasMethod = allows({ methods, paths }, method)
        const score = (isWhole ? 1000 : common) + (hasMethod ? 0.5 : 0)
        if (best !== null && best.score >= score) continue
        const missing = isWhole ? (hasMethod ? 'nothing' : 'method') : 'path'
        best = { scope, rule, pattern, missing, score }
      }
  return best
}

const allows = ({ methods }: Rule, method: string): boolean =>
  methods.includes('*') || methods.includes(method)

const segmentsOf = (path: string): readonly string[] => path.replace(/^\//, '').split('/')

/** How many segments agree from the start, and whether the whole path matches. `**` matches any number. */
function compare(pattern: string, path: string): { common: number; isWhole: boolean } {
  const wanted = segmentsOf(pattern)
  const given = segmentsOf(path)
  let common = 0
  while (common < given.length && common < wanted.length) {
    const one = wanted[common]
    if (one === '**' || (one !== '*' && one !== given[common])) break
    common++
  }
  return { common, isWhole: matches(wanted, given) }
}

/** A row of the table holds, for each rest of the path, whether the rest of the pattern matches it. */
function matches(wanted: readonly string[], given: readonly string[]): boolean {
  let row = Array.from({ length: given.length + 1 }, (_, at) => at === given.length)
  for (const one of wanted.toReversed()) {
    const next: boolean[] = Array.from({ length: given.length + 1 }, () => false)
    for (let at = given.length; at >= 0; at--)
      next[at] =
        one === '**'
          ? row[at] === true || (at < given.length && next[at + 1] === true)
          : at < given.length && (one === '*' || one === given[at]) && row[at + 1] === true
    row = next
  }
  return row[0] === true
}
