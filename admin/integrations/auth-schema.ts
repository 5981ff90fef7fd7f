import { type TProperties, type TSchema, Type } from 'typebox'
import { type AuthType, CREDENTIAL_TYPES } from '../../core/credential/catalogue.ts'
import type { CredentialType } from '../../core/credential/credential-type.ts'
import type { TextKind } from '../../core/credential/member.ts'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import { NO_CONTROLS, Nullable, Strict, UNCLEAN } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'

/** Header values of upstreams end well below this. */
const SECRET_LENGTH_LIMIT = 8192

interface TextForm {
  readonly maxLength: number
  readonly pattern?: string
  readonly [PATTERN_MESSAGE]?: string
}

/** The pattern of each kind of text. `checkAuth` checks what a pattern cannot express. */
const TEXTS: Readonly<Record<TextKind, TextForm>> = {
  /** Visible ASCII; spaces only between other characters. */
  header_value: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
    [PATTERN_MESSAGE]: 'must be visible ASCII characters, with spaces only between them',
  },
  header_name: {
    maxLength: 128,
    pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    [PATTERN_MESSAGE]: 'must be a header name: letters, digits and "-", without spaces or ":"',
  },
  parameter_name: {
    maxLength: 128,
    pattern: `^[^${UNCLEAN}]+$`,
    [PATTERN_MESSAGE]: NO_CONTROLS,
  },
  text: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: `^[^${UNCLEAN}]*$`,
    [PATTERN_MESSAGE]: NO_CONTROLS,
  },
  user_name: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: `^[^:${UNCLEAN}]*$`,
    [PATTERN_MESSAGE]: 'must have no ":" and no control characters',
  },
  word: {
    maxLength: 100,
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
    [PATTERN_MESSAGE]:
      'must be letters, digits, ".", "_" and "-", beginning with a letter or digit',
  },
  template: {
    maxLength: SECRET_LENGTH_LIMIT,
    pattern: `^(?:[^${UNCLEAN}]|\\n)*$`,
    [PATTERN_MESSAGE]: 'must have no control characters other than line breaks',
  },
  private_key: { maxLength: SECRET_LENGTH_LIMIT },
  url: { maxLength: 2048 },
}

const given = ({ type, members }: CredentialType): TSchema =>
  Strict({
    type: Type.Literal(type),
    ...mapMembers(members, (name, { text, may_be_empty, presence, choices }) => {
      const schema =
        choices === undefined
          ? Type.String({ minLength: may_be_empty ? 0 : 1, ...TEXTS[text] })
          : Type.Enum([...choices])
      return [name, presence === 'optional' ? Type.Optional(schema) : schema]
    }),
  })

const read = ({ type, members }: CredentialType): TSchema =>
  Strict({
    type: Type.Literal(type),
    ...mapMembers(members, (name, { visibility, presence }) => {
      const schema = visibility === 'secret' ? Nullable(Type.String()) : Type.String()
      const shown = visibility === 'secret' ? `${name}_last4` : name
      return [shown, presence === 'optional' ? Type.Optional(schema) : schema]
    }),
  })

function mapMembers(
  members: CredentialType['members'],
  change: (name: string, member: CredentialType['members'][string]) => readonly [string, TSchema],
): TProperties {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => change(name, member)))
}

const DISCRIMINATOR = { discriminator: { propertyName: 'type' } }

/** The credential as it is sent. The literal `type` is the discriminator. */
export const AuthSchema = Type.Unsafe<PlainAuth>(
  Type.Union(CREDENTIAL_TYPES.map(given), DISCRIMINATOR),
)

/** The credential as it is read. The schema rejects a response with any other member. */
export const AuthView = Type.Unsafe<ShownAuth>(
  Type.Union(CREDENTIAL_TYPES.map(read), {
    ...DISCRIMINATOR,
    description:
      'Without its secret members. `<member>_last4` has the last four characters of each, or null if the secret is short.',
  }),
)
type ShownAuth = { readonly type: AuthType } & Readonly<Record<string, string | null>>

/** A credential that is sent back as it was read. It is compared with the stored one. */
export const AuthReadBack = Type.Object(
  { type: Type.String() },
  { additionalProperties: Type.Union([Type.String(), Type.Null()]) },
)
