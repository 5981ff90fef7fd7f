import { parsePathPattern, type PatternProblem } from '../../core/policy/path-pattern.ts'
import type { Scope } from '../../core/model.ts'
import type { Issue } from '../http/outcome.ts'
import { checkPatterns } from './check-patterns.ts'
import { SCOPE_LIMIT_BYTES } from './scope-schemas.ts'

type Settings = Pick<Scope, 'rules' | 'max_body_bytes' | 'injection_detection'>

/** Checks a scope beyond its schema. */
export function checkScopeSettings(scope: Settings, body_limit_bytes: number): Issue[] {
  const issues = scope.rules.flatMap(({ paths }, rule) =>
    paths.flatMap((path, i): Issue[] => {
      const parsed = parsePathPattern(path)
      if (typeof parsed !== 'string') return []
      return [{ path: `/rules/${rule}/paths/${i}`, message: PATH_PROBLEMS[parsed] }]
    }),
  )
  if (scope.max_body_bytes !== null && scope.max_body_bytes > body_limit_bytes)
    issues.push({
      path: '/max_body_bytes',
      message: `must be at most ${body_limit_bytes}, the limit of this gateway`,
    })
  issues.push(...checkPatterns(scope.injection_detection))
  if (issues.length === 0 && Buffer.byteLength(JSON.stringify(scope)) > SCOPE_LIMIT_BYTES)
    issues.push({ path: '', message: `must be at most ${SCOPE_LIMIT_BYTES} bytes as JSON` })
  return issues
}

const PATH_PROBLEMS: Readonly<Record<PatternProblem, string>> = {
  bad_path: 'has "." or ".." segments, a backslash, a control character or an invalid encoding',
  empty_segment: 'has an empty segment',
  has_query: 'must have no "?" and no "#": rules apply to the path only',
  no_leading_slash: 'must begin with "/"',
  partial_wildcard: 'has a "*" that is not a whole segment; write a literal one as %2A',
  too_long: 'is too long',
  whitespace: 'has white space; write it as %20',
}
