import type { JobOwner } from '../../core/inspection/job-owner.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { InjectionSettings } from '../../core/model.ts'
import { type ExpressionProblem, patternSettings } from '../../core/scanner/compile-settings.ts'
import { PATTERN_CATALOGUE } from '../patterns/pattern-catalogue.ts'
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
  const path = `${prefix}/injection_detection`
  const issues: Issue[] = []
  for (const [i, name] of settings.disabled_patterns.entries())
    if (!KNOWN.has(name)) issues.push({ path: `${path}/disabled_patterns/${i}`, message: UNKNOWN })
  if (LISTS.some((list) => settings[list].length > 0)) {
    const found = await scans?.checkPatterns(patternSettings(settings), owner).catch(() => null)
    if (found === null) issues.push({ path, message: TOO_SLOW })
    else if (found === undefined || 'kind' in found)
      return { kind: 'refusal', error: 'gateway_unavailable', message: BUSY }
    else
      for (const list of LISTS)
        for (const problem of found[list])
          issues.push({
            path: `${path}/${list}/${settings[list].indexOf(problem.pattern)}`,
            message: describe(problem),
          })
  }
  return issues.length === 0 ? null : invalid(issues)
}

const describe = ({ pattern, reason }: ExpressionProblem): string =>
  `${reason.slice(0, 300)}: ${pattern.slice(0, 100)}`

const UNKNOWN = 'is not the name of a built-in pattern; GET /admin/patterns lists them'
const TOO_SLOW = 'has patterns that take too long to compile; use fewer, with smaller counts'
const BUSY = 'Too many patterns or bodies are being checked. Try again shortly.'
const KNOWN = new Set(PATTERN_CATALOGUE.map(({ name }) => name))
