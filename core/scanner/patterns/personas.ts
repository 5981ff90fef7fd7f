import type { Pattern } from '../pattern.ts'
import { anyOf } from './any-of.ts'
import { gate } from './gate.ts'

/** Persona requests; always of severity medium. */
export const PERSONA_PATTERNS: readonly Pattern[] = [
  {
    name: 'act_as_persona',
    category: 'persona_request',
    description: 'Asks the model to play a person or a role.',
    expression: anyOf(
      '\\b(?:act|behave|respond|answer|speak|write|talk|pose)(?:ing)? (?:as|like) (?:if you (?:are|were) )?(?:an?|the|my)\\b',
      '\\bpretend (?:to be|that you|you are|youre)\\b',
      '\\b(?:imagine|suppose|assume) (?:that )?(?:you are|youre|you were|yourself)\\b',
      '\\b(?:take|play|assume|adopt)(?: on)? (?:the |a )?(?:role|persona|part|character|identity) of\\b',
      '\\broleplay as\\b',
      '\\b(?:i want you to|i would like you to|your task is to|you will) (?:act|be|play)\\b',
      '^ ?you are (?:an?|the) [a-z]+',
      '我想让你扮演',
      '我要你充当',
      '请扮演',
      '扮演',
      '充当',
      'あなたは.{1,12}です',
    ),
    gates: [
      gate('role_verb', 'as_word', 2),
      gate('role_verb', 'persona_word', 4),
      gate('imagine_word', 'you', 3),
      gate('you', 'article', 2),
      gate('want_word', 'role_verb', 4),
      { word: 'zh_persona' },
    ],
    hits: ['Act as a sommelier.', 'Imagine you are a lighthouse keeper.', '请扮演一位厨师'],
    misses: ['The act was long.', 'He likes the role.'],
  },
]
