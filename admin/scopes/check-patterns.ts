import RE2 from 're2'
import type { InjectionSettings } from '../../core/model.ts'
import type { Issue } from '../server/outcome.ts'

type Patterns = Pick<InjectionSettings, 'custom_patterns' | 'whitelist_patterns'>

/** Names each expression that RE2 does not take, and why. */
export const checkPatterns = (settings: Patterns): Issue[] =>
  (['custom_patterns', 'whitelist_patterns'] as const).flatMap((member) =>
    settings[member].flatMap((expression, i): Issue[] => {
      const fault = faultOf(expression)
      return fault === null ? [] : [{ path: `/injection_detection/${member}/${i}`, message: fault }]
    }),
  )

function faultOf(expression: string): string | null {
  try {
    new RE2(expression, 'iu')
    return null
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `is no RE2 expression: ${why.slice(0, 200)}`
  }
}
