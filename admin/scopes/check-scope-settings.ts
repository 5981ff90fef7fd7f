import { parsePathPattern, type PatternProblem } from '../../core/decision/path-pattern.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import type { Issue } from '../http/outcome.ts'
import { checkSelector } from '../labels/check-labels.ts'
import { readTime, TIME_MESSAGE } from '../http/read-time.ts'
import { PATH_DEEP_LIMIT, SCOPE_LIMIT_BYTES, SCOPE_PATHS_LIMIT } from './scope-schemas.ts'

type Settings = Pick<
  Scope,
  | 'rules'
  | 'max_body_bytes'
  | 'max_response_bytes'
  | 'agent_selector'
  | 'integration_selector'
  | 'not_before'
  | 'expires_at'
  | 'injection_detection'
>

/**
 * Checks a scope beyond its schema, except its patterns (`checkPatterns`).
 * @param hasOldRules its rules are stored already, so that limits for rules do not apply
 */
export function checkScopeSettings(
  scope: Settings,
  body_limit_bytes: number,
  hasOldRules = false,
): Issue[] {
  const issues = scope.rules.flatMap(({ paths }, rule) =>
    paths.flatMap((path, i): Issue[] => {
      const parsed = parsePathPattern(path)
      if (typeof parsed !== 'string')
        return hasOldRules || parsed.blocks.length - 1 <= PATH_DEEP_LIMIT
          ? []
          : [{ path: `/rules/${rule}/paths/${i}`, message: TOO_DEEP }]
      return [{ path: `/rules/${rule}/paths/${i}`, message: PATH_PROBLEMS[parsed] }]
    }),
  )
  if (!hasOldRules && pathsOf(scope) > SCOPE_PATHS_LIMIT)
    issues.push({
      path: '/rules',
      message: `has ${pathsOf(scope)} paths in all rules; at most ${SCOPE_PATHS_LIMIT} are allowed`,
    })
  for (const member of ['max_body_bytes', 'max_response_bytes'] as const)
    if ((scope[member] ?? 0) > body_limit_bytes)
      issues.push({
        path: `/${member}`,
        message: `must be at most ${body_limit_bytes}, the limit of this gateway`,
      })
  for (const [rule, { upgrade = [], approval }] of scope.rules.entries())
    if (upgrade.length > 0 && approval !== undefined)
      issues.push({ path: `/rules/${rule}/approval`, message: NOT_OF_SOCKETS })
  issues.push(...checkTimes(scope))
  for (const member of ['agent_selector', 'integration_selector'] as const) {
    const selector = scope[member] ?? null
    if (selector !== null) issues.push(...checkSelector(selector, `/${member}`))
  }
  if (issues.length === 0 && Buffer.byteLength(JSON.stringify(scope)) > SCOPE_LIMIT_BYTES)
    issues.push({ path: '', message: `must be at most ${SCOPE_LIMIT_BYTES} bytes as JSON` })
  return issues
}

function checkTimes({ not_before = null, expires_at = null }: Settings): Issue[] {
  const times = { not_before, expires_at }
  const unreadable = Object.entries(times).filter(
    ([, time]) => time !== null && readTime(time) === null,
  )
  if (unreadable.length > 0)
    return unreadable.map(([name]) => ({ path: `/${name}`, message: TIME_MESSAGE }))
  return not_before !== null && expires_at !== null && not_before >= expires_at
    ? [{ path: '/expires_at', message: 'must be later than not_before' }]
    : []
}

export const pathsOf = ({ rules }: Pick<Scope, 'rules'>): number =>
  rules.reduce((sum, { paths }) => sum + paths.length, 0)

const NOT_OF_SOCKETS =
  'must not stand beside upgrade: the messages of a WebSocket cannot be approved. Use two rules'
const TOO_DEEP = `has more than ${PATH_DEEP_LIMIT} "**"`

const PATH_PROBLEMS: Readonly<Record<PatternProblem, string>> = {
  bad_path: 'has "." or ".." segments, a backslash, a control character or an invalid encoding',
  empty_segment: 'has an empty segment',
  has_query: 'must have no "?" and no "#": rules apply to the path only',
  no_leading_slash: 'must begin with "/"',
  partial_wildcard: 'has a "*" that is not a whole segment; write a literal one as %2A',
  too_long: 'is too long',
  whitespace: 'has white space; write it as %20',
}
