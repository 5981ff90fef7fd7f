import type { Member, TextKind } from './member.ts'
import { readPrivateKey } from './private-key.ts'

/** Header values of upstreams end well below this. */
const SECRET_LENGTH_LIMIT = 8192

/** Control characters and half surrogate pairs, as a class of a pattern that other languages read too. */
export const UNCLEAN = '\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff'

/** For texts that allow every other character. */
export const NO_CONTROLS = 'must have no control characters'

export interface TextForm {
  readonly maxLength: number
  readonly pattern?: string
  /** What the pattern requires, in words. */
  readonly message?: string
}

/** The form of each kind of text. `checkAuth` of the admin service checks what a pattern cannot express. */
export const TEXT_FORMS: Readonly<Record<TextKind, TextForm>> = {
  /** Visible ASCII; spaces only between other characters. */
  header_value: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
    message: 'must be visible ASCII characters, with spaces only between them',
  },
  header_name: {
    maxLength: 128,
    pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    message: 'must be a header name: letters, digits and "-", without spaces or ":"',
  },
  parameter_name: { maxLength: 128, pattern: `^[^${UNCLEAN}]+$`, message: NO_CONTROLS },
  text: { maxLength: SECRET_LENGTH_LIMIT, pattern: `^[^${UNCLEAN}]*$`, message: NO_CONTROLS },
  user_name: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: `^[^:${UNCLEAN}]*$`,
    message: 'must have no ":" and no control characters',
  },
  word: {
    maxLength: 100,
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
    message: 'must be letters, digits, ".", "_" and "-", beginning with a letter or digit',
  },
  template: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: `^(?:[^${UNCLEAN}]|\\n)*$`,
    message: 'must have no control characters other than line breaks',
  },
  private_key: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: '^[^\\u0000]*$',
    message: 'must not contain NUL',
  },
  url: { maxLength: 2048 },
}

/** Whether a secret that is kept elsewhere has the form that a caller's must have. */
export function hasForm({ text: kind, may_be_empty }: Member, text: string): boolean {
  const { maxLength, pattern } = TEXT_FORMS[kind]
  if (text.length > maxLength || (text === '' && !may_be_empty)) return false
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return false
  return kind !== 'private_key' || readPrivateKey(text) !== null
}
