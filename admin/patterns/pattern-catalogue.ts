import { CATEGORIES, type Category, type Severity } from '../../core/scanner/categories.ts'
import { HIDDEN_LETTERS_NAME, LEARNED_NAME } from '../../core/scanner/scan-source.ts'
import { BUILT_IN_PATTERNS } from '../../core/scanner/patterns/built-in.ts'

export interface PatternInfo {
  readonly name: string
  readonly category: Category
  readonly severity: Severity
  readonly description: string
}

/** Detections of the scanner that are not expressions. */
const WITHOUT_EXPRESSION: readonly {
  readonly name: string
  readonly category: Category
  readonly description: string
}[] = [
  {
    name: HIDDEN_LETTERS_NAME,
    category: 'jailbreak',
    description:
      'Words with letters of another script or invisible characters inside, or data written in invisible characters',
  },
  {
    name: 'base64_payload',
    category: 'encoded_payload',
    description: 'More than 100 consecutive Base64 characters',
  },
  {
    name: 'invisible_characters',
    category: 'invisible_characters',
    description: 'Characters that are invisible to people but are read by a model',
  },
  {
    name: LEARNED_NAME,
    category: 'learned',
    description: 'Wording that the learned model classifies as an attack',
  },
]

/** Every built-in pattern; `disabled_patterns` accepts these names. */
export const PATTERN_CATALOGUE: readonly PatternInfo[] = [
  ...BUILT_IN_PATTERNS,
  ...WITHOUT_EXPRESSION,
].map(({ name, category, description }) => ({
  name,
  category,
  severity: CATEGORIES[category].severity,
  description,
}))
