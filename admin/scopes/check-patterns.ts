import type { PatternProblems } from '../../core/inspection/answer-job.ts'
import type { JobOwner } from '../../core/inspection/job-owner.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { InjectionSettings } from '../../core/catalogue/model.ts'
import { type ExpressionProblem, patternSettings } from '../../core/scanner/compile-settings.ts'
import { PATTERN_CATALOGUE } from '../../core/scanner/pattern-catalogue.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Issue, invalid, type Refusal } from '../http/outcome.ts'

const LISTS = ['custom_patterns', 'whitelist_patterns'] as const

/** Where patterns are compiled, and whose they are. */
export interface PatternChecker {
  readonly scans: Pick<ScanPool, 'checkPatterns'> | null
  readonly owner: JobOwner
}

export const checkerOf = ({
  context,
  actor,
}: AdminCall<unknown, unknown, unknown>): PatternChecker => ({
  scans: context.scans,
  owner: {
    organization_id: actor.organization_id,
    agent_id: actor.token_id,
    isGone: () => false,
  },
})

/**
 * Compiles the expressions as the scanner will, in a scan process and for a limited time, and names the first of each list that it
 * cannot take or that would slow every call down (threat model, rule 23).
 */
export async function checkPatterns(
  settings: InjectionSettings,
  { scans, owner }: PatternChecker,
  prefix = '',
): Promise<Refusal | null> {
  const issues = unknownNames(settings, prefix)
  if (LISTS.some((list) => settings[list].length > 0)) {
    const found = await scans?.checkPatterns(patternSettings(settings), owner).catch(() => null)
    if (found === null) issues.push({ path: `${prefix}/injection_detection`, message: TOO_SLOW })
    else if (found === undefined || 'kind' in found)
      return { kind: 'refusal', error: 'gateway_unavailable', message: BUSY }
    else issues.push(...issuesOf(settings, found, prefix))
  }
  return issues.length === 0 ? null : invalid(issues)
}

const unknownNames = ({ disabled_patterns }: InjectionSettings, prefix: string): Issue[] =>
  disabled_patterns.flatMap((name, i) =>
    KNOWN.has(name)
      ? []
      : [{ path: `${prefix}/injection_detection/disabled_patterns/${i}`, message: UNKNOWN }],
  )

const issuesOf = (settings: InjectionSettings, found: PatternProblems, prefix: string): Issue[] =>
  LISTS.flatMap((list) =>
    found[list].map((problem) => ({
      path: `${prefix}/injection_detection/${list}/${settings[list].indexOf(problem.pattern)}`,
      message: describe(problem),
    })),
  )

const describe = ({ pattern, reason }: ExpressionProblem): string =>
  `${reason.slice(0, 300)}: ${pattern.slice(0, 100)}`

const UNKNOWN = 'is not the name of a built-in pattern; GET /admin/patterns lists them'
const TOO_SLOW = 'has patterns that take too long to compile; use fewer, with smaller counts'
const BUSY = 'Too many patterns or bodies are being checked. Try again shortly.'
const KNOWN = new Set(PATTERN_CATALOGUE.map(({ name }) => name))
