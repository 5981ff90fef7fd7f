import type { Pattern } from '../pattern.ts'
import { buildLetterTrie, type LetterTrie } from '../decode/letter-trie.ts'
import { MISSPELLED_WORDS } from '../decode/derive-typos.ts'
import { shippedSieve } from '../sieve/stored-sieve.ts'
import { APPEAL_PATTERNS, APPEAL_WORDS } from './appeals.ts'
import { anchorOf, type CompiledPatterns, compilePatterns, splitWords } from './compile-patterns.ts'
import { COERCION_PATTERNS } from './coercion.ts'
import { CREDENTIAL_PATTERNS } from './credentials.ts'
import { DEMAND_PATTERNS } from './demands.ts'
import { ESCALATION_PATTERNS } from './escalations.ts'
import { EXTRACTION_PATTERNS } from './extraction.ts'
import { FRAMED_HARM_PATTERNS } from './framed-harm.ts'
import { INDIRECT_PATTERNS } from './indirect.ts'
import { JAILBREAK_PATTERNS } from './jailbreak.ts'
import { KEPT_VALUE_PATTERNS, KEPT_VALUE_WORDS } from './kept-values.ts'
import { INTENT_IN_LANGUAGE_PATTERNS, INTENT_IN_LANGUAGE_WORDS } from './intents-in-languages.ts'
import { SYSTEM_IN_LANGUAGE_PATTERNS, SYSTEM_IN_LANGUAGE_WORDS } from './system-in-languages.ts'
import { LANGUAGE_PATTERNS, LANGUAGE_WORDS } from './languages.ts'
import { MORE_LANGUAGE_PATTERNS, MORE_LANGUAGE_WORDS } from './more-languages.ts'
import { OVERRIDE_PATTERNS } from './override.ts'
import { PERSONA_PATTERNS } from './personas.ts'
import { PLANTED_STEP_PATTERNS, PLANTED_STEP_WORDS } from './planted-steps.ts'
import { PLANTED_TASK_PATTERNS } from './planted-tasks.ts'
import { PRETEXT_PATTERNS } from './pretexts.ts'
import { REPLACEMENT_PATTERNS } from './replacements.ts'
import { ROLE_PATTERNS } from './roles.ts'
import { SHELL_PATTERNS } from './shell.ts'
import { GLUE_WORDS, WORDS } from './words.ts'

/** All patterns that come with the product and are searched by expression. */
export const BUILT_IN_PATTERNS: readonly Pattern[] = [
  ...OVERRIDE_PATTERNS,
  ...EXTRACTION_PATTERNS,
  ...ROLE_PATTERNS,
  ...JAILBREAK_PATTERNS,
  ...FRAMED_HARM_PATTERNS,
  ...INDIRECT_PATTERNS,
  ...CREDENTIAL_PATTERNS,
  ...SHELL_PATTERNS,
  ...LANGUAGE_PATTERNS,
  ...DEMAND_PATTERNS,
  ...COERCION_PATTERNS,
  ...REPLACEMENT_PATTERNS,
  ...PERSONA_PATTERNS,
  ...PRETEXT_PATTERNS,
  ...PLANTED_TASK_PATTERNS,
  ...PLANTED_STEP_PATTERNS,
  ...MORE_LANGUAGE_PATTERNS,
  ...ESCALATION_PATTERNS,
  ...APPEAL_PATTERNS,
  ...KEPT_VALUE_PATTERNS,
  ...SYSTEM_IN_LANGUAGE_PATTERNS,
  ...INTENT_IN_LANGUAGE_PATTERNS,
]

/** Patterns of other languages than English. */
export const IN_LANGUAGES: ReadonlySet<string> = new Set(
  [
    ...LANGUAGE_PATTERNS,
    ...MORE_LANGUAGE_PATTERNS,
    ...SYSTEM_IN_LANGUAGE_PATTERNS,
    ...INTENT_IN_LANGUAGE_PATTERNS,
  ].map(({ name }) => name),
)

export const ALL_WORDS = {
  ...WORDS,
  ...LANGUAGE_WORDS,
  ...MORE_LANGUAGE_WORDS,
  ...APPEAL_WORDS,
  ...KEPT_VALUE_WORDS,
  ...PLANTED_STEP_WORDS,
  ...SYSTEM_IN_LANGUAGE_WORDS,
  ...INTENT_IN_LANGUAGE_WORDS,
}

/** Words that reveal a letter-wise disguise: those of the main intents, at least four letters. */
const telltales = [
  'ignore',
  'prior',
  'rules',
  'extract',
  'secret',
  'safety_noun',
  'jailbreak_name',
  'authority',
  'prompt',
  'retell',
  'above',
  'text_noun',
  'told',
  'role_verb',
  'limits',
  'refuse',
  'newness',
  'data',
]
  .flatMap((name) => splitWords((ALL_WORDS as Record<string, string>)[name] ?? ''))
  .map(anchorOf)
  .filter((word) => /^[a-z]{4,}$/.test(word))
const everyWord = Object.values(ALL_WORDS)
  .flatMap(splitWords)
  .flatMap((entry) => entry.replaceAll(/[\^*]/g, '').split(' '))
const known = new Set(everyWord)
const rot13 = (word: string): string =>
  word.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97))
const reverse = (word: string): string => Array.from(word).reverse().join('')

let compiled: { readonly patterns: CompiledPatterns; readonly trie: LetterTrie } | null = null

/** The built-in patterns, compiled once per process. */
export const builtIn = (): { readonly patterns: CompiledPatterns; readonly trie: LetterTrie } => {
  compiled ??= {
    patterns: compilePatterns(
      BUILT_IN_PATTERNS,
      ALL_WORDS,
      [
        telltales.map(rot13).filter((word) => !known.has(word)),
        telltales
          .filter((word) => word.length > 4)
          .map(reverse)
          .filter((word) => !known.has(word)),
        MISSPELLED_WORDS.filter((word) => !known.has(word)),
      ],
      shippedSieve(BUILT_IN_PATTERNS, ALL_WORDS),
    ),
    trie: buildLetterTrie([...known, ...GLUE_WORDS.split(' ')]),
  }
  return compiled
}
