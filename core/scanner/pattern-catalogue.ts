import { CATEGORIES, type Category, type CategoryFoundBy, type Severity } from './categories.ts'
import { LEARNED_NAME } from './placed-candidate.ts'
import { HIDDEN_LETTERS_NAME } from './scan-source.ts'
import { BUILT_IN_PATTERNS } from './patterns/built-in.ts'

export interface PatternInfo {
  readonly name: string
  readonly category: Category
  readonly severity: Severity
  readonly description: string
}

/** Detections of the scanner that are not expressions, by name. */
const WITHOUT_EXPRESSION = {
  encoded_payload: {
    name: 'base64_payload',
    description: 'More than 100 consecutive Base64 characters',
  },
  invisible_characters: {
    name: 'invisible_characters',
    description: 'Characters that are invisible to people but are read by a model',
  },
  learned: {
    name: LEARNED_NAME,
    description: 'Wording that the learned model classifies as an attack',
  },
} as const satisfies Record<
  CategoryFoundBy<'code' | 'model'>,
  Pick<PatternInfo, 'name' | 'description'>
>

const withoutExpression = Object.entries(WITHOUT_EXPRESSION) as [
  CategoryFoundBy<'code' | 'model'>,
  Pick<PatternInfo, 'name' | 'description'>,
][]

/** Found by code too, of a category whose other patterns are expressions. */
const HIDDEN_LETTERS = {
  name: HIDDEN_LETTERS_NAME,
  category: 'jailbreak',
  description:
    'Words with letters of another script or invisible characters inside, or data written in invisible characters',
} as const

/** Every built-in pattern; `disabled_patterns` accepts these names. */
export const PATTERN_CATALOGUE: readonly PatternInfo[] = [
  ...BUILT_IN_PATTERNS,
  HIDDEN_LETTERS,
  ...withoutExpression.map(([category, row]) => ({ ...row, category })),
].map(({ name, category, description }) => ({
  name,
  category,
  severity: CATEGORIES[category].severity,
  description,
}))
