import { type TProperties, Type } from 'typebox'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import { Strict, UNCLEAN } from '../http/common-schemas.ts'

/** Header values of upstreams end well below this. */
const SECRET_LENGTH_LIMIT = 8192

/** Goes into a header as it is: visible ASCII, with spaces inside only. */
const HeaderText = Type.String({
  minLength: 1,
  maxLength: SECRET_LENGTH_LIMIT,
  pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
})
/** Is encoded on its way. */
const AnyText = (minLength: number) =>
  Type.String({ minLength, maxLength: SECRET_LENGTH_LIMIT, pattern: `^[^${UNCLEAN}]*$` })
const Word = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' })

const AUTH_MEMBERS = {
  bearer: { token: HeaderText },
  header: {
    name: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    }),
    value: HeaderText,
  },
  basic: {
    username: Type.String({ maxLength: SECRET_LENGTH_LIMIT, pattern: `^[^:${UNCLEAN}]*$` }),
    password: AnyText(0),
  },
  query: {
    name: Type.String({ minLength: 1, maxLength: 128, pattern: `^[^${UNCLEAN}]+$` }),
    value: AnyText(1),
  },
  none: {},
  oauth2_client_credentials: {
    token_url: Type.String({ minLength: 1, maxLength: 2048 }),
    client_id: AnyText(1),
    client_secret: AnyText(1),
    scope: Type.Optional(AnyText(1)),
  },
  aws_sigv4: {
    access_key_id: Word,
    secret_access_key: HeaderText,
    session_token: Type.Optional(HeaderText),
    region: Word,
    service: Word,
  },
} as const satisfies Record<string, TProperties>

const choice = <T extends keyof typeof AUTH_MEMBERS>(type: T) =>
  Strict({ type: Type.Literal(type), ...AUTH_MEMBERS[type] })

/** The credential as it is given. The literal `type` tells which of the forms it is. */
export const AuthSchema = Type.Unsafe<PlainAuth>(
  Type.Union(
    [
      choice('bearer'),
      choice('header'),
      choice('basic'),
      choice('query'),
      choice('none'),
      choice('oauth2_client_credentials'),
      choice('aws_sigv4'),
    ],
    { discriminator: { propertyName: 'type' } },
  ),
)

/** The credential as it is read: each secret member is gone, its last four characters stand beside. */
export const AuthView = Type.Object(
  { type: Type.String() },
  {
    additionalProperties: Type.Union([Type.String(), Type.Null()]),
    description:
      'Without its secret members; of each, `<member>_last4` has the last four characters, or null where the secret is short.',
  },
)
