import { type TProperties, type TSchema, Type } from 'typebox'
import { type AuthType, CREDENTIAL_TYPES } from '../../core/credential/catalogue.ts'
import type { CredentialType } from '../../core/credential/credential-type.ts'
import type { TextKind } from '../../core/credential/member.ts'
import { type GivenReference, REF_LENGTH_LIMIT } from '../../core/credential/secret-reference.ts'
import { TEXT_FORMS } from '../../core/credential/text-forms.ts'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import { Nullable, Strict } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'

/** A secret that is kept elsewhere. `checkAuth` says what it may name. */
const Reference = Strict({
  ref: Type.String({
    maxLength: REF_LENGTH_LIMIT,
    description: 'env:NAME or file:/PATH, within what AGW_SECRET_REFS allows the organization',
  }),
})

const formOf = (kind: TextKind): object => {
  const { message, ...form } = TEXT_FORMS[kind]
  return message === undefined ? form : { ...form, [PATTERN_MESSAGE]: message }
}

const given = ({ type, members }: CredentialType): TSchema =>
  Strict({
    type: Type.Literal(type),
    ...mapMembers(members, (name, { text, visibility, may_be_empty, presence, choices }) => {
      const inline =
        choices === undefined
          ? Type.String({ minLength: may_be_empty ? 0 : 1, ...formOf(text) })
          : Type.Enum([...choices])
      const schema = visibility === 'secret' ? Type.Union([inline, Reference]) : inline
      return [[name, presence === 'optional' ? Type.Optional(schema) : schema]]
    }),
  })

const read = ({ type, members }: CredentialType): TSchema =>
  Strict({
    type: Type.Literal(type),
    ...mapMembers(members, (name, { visibility, presence }) => {
      if (visibility === 'secret')
        return [
          [`${name}_last4`, Type.Optional(Nullable(Type.String()))],
          [name, Type.Optional(Reference)],
        ]
      return [[name, presence === 'optional' ? Type.Optional(Type.String()) : Type.String()]]
    }),
  })

function mapMembers(
  members: CredentialType['members'],
  change: (
    name: string,
    member: CredentialType['members'][string],
  ) => readonly (readonly [string, TSchema])[],
): TProperties {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => change(name, member)),
  )
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
      'Without its secret members. `<member>_last4` has the last four characters of each, or null if the secret is short. A secret that is kept elsewhere is shown as its reference.',
  }),
)
type ShownAuth = { readonly type: AuthType } & Readonly<
  Record<string, string | null | GivenReference>
>

/** A credential that is sent back as it was read. It is compared with the stored one. */
export const AuthReadBack = Type.Object(
  { type: Type.String() },
  { additionalProperties: Type.Union([Type.String(), Type.Null(), Reference]) },
)
