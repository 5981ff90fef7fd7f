import { type Category, SEVERITY_OF, type Severity } from '../../core/scanner/pattern.ts'
import { LEARNED_NAME } from '../../core/scanner/scan-source.ts'
import { BUILT_IN_PATTERNS } from '../../core/scanner/patterns/built-in.ts'

export interface PatternInfo {
  readonly name: string
  readonly category: Category
  readonly severity: Severity
  readonly description: string
}

/** What the scanner finds without an expression, under the names that its findings have. */
const WITHOUT_EXPRESSION = [
  {
    name: 'base64_payload',
    category: 'encoded_payload',
    description: 'A run of Base64 of more than 100 characters',
  },
  {
    name: 'invisible_characters',
    category: 'invisible_characters',
    description: 'Characters that a reader does not see and a model reads',
  },
  {
    name: LEARNED_NAME,
    category: 'learned',
    description: 'Wording that a model learned from labelled attacks weighs as one',
  },
] as const

/** Every built-in pattern: what `disabled_patterns` may name. */
export const PATTERN_CATALOGUE: readonly PatternInfo[] = [
  ...BUILT_IN_PATTERNS,
  ...WITHOUT_EXPRESSION,
].map(({ name, category, description }) => ({
  name,
  category,
  severity: SEVERITY_OF[category],
  description,
}))
