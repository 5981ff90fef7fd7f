import type { InjectionSettings } from '../../core/model.ts'
import { compileInjectionSettings } from '../../core/scanner/compile-settings.ts'
import { PATTERN_CATALOGUE } from '../patterns/pattern-catalogue.ts'
import type { Issue } from '../http/outcome.ts'

const LISTS = ['custom_patterns', 'whitelist_patterns'] as const
const NONE = { custom_patterns: [], whitelist_patterns: [] }

/**
 * Compiles the expressions as the scanner will, each list separately and as a set, and names those that it cannot
 * take or that would slow every call down (threat model, rule 23).
 */
export function checkPatterns(settings: InjectionSettings): Issue[] {
  const issues = LISTS.flatMap((list): Issue[] => {
    const compiled = compileInjectionSettings({ ...settings, ...NONE, [list]: settings[list] })
    if (compiled.ok) return []
    return compiled.problems.map(({ pattern, reason }) => ({
      path: `/injection_detection/${list}/${settings[list].indexOf(pattern)}`,
      message: `${reason.slice(0, 300)}: ${pattern.slice(0, 100)}`,
    }))
  })
  for (const [i, name] of settings.disabled_patterns.entries())
    if (!KNOWN.has(name))
      issues.push({
        path: `/injection_detection/disabled_patterns/${i}`,
        message: 'is not the name of a built-in pattern; GET /admin/patterns lists them',
      })
  return issues
}

const KNOWN = new Set(PATTERN_CATALOGUE.map(({ name }) => name))
