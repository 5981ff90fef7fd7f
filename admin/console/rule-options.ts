import type { Rule } from './api-types.ts'

/** A rule that would allow a refused call, and what it allows in words. */
export interface RuleOption {
  readonly words: string
  readonly rule: Rule
}

/** From exactly this path to everything next to it. A literal `*` in a path is written so that it is no wildcard. */
export function ruleOptions(method: string, path: string): readonly RuleOption[] {
  // A method can be any token, and as that of a rule this one is all of them.
  if (method === '*') return []
  const exact = path.replaceAll('*', '%2A')
  const parent = exact.slice(0, exact.lastIndexOf('/'))
  const of = (words: string, pattern: string): RuleOption => ({
    words,
    rule: { methods: [method], paths: [pattern] },
  })
  return [
    of(`${method} ${path} only`, exact),
    of(`${method} ${parent}/… with any last segment`, `${parent}/*`),
    of(`${method} everything below ${parent === '' ? '/' : parent}`, `${parent}/**`),
  ]
}
