import { Type } from 'typebox'
import { UNCLEAN } from '../../core/credential/text-forms.ts'
import { FutureTime, Name, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'

/** One for each operator and each program of theirs. */
export const TOKENS_LIMIT = 1000

export const Email = Type.String({
  maxLength: 254,
  pattern: `^[^\\s@<>,${UNCLEAN}]{1,64}@[^\\s@<>,${UNCLEAN}]{1,189}$`,
  [PATTERN_MESSAGE]: 'must be an e-mail address',
})

export const NewToken = Strict({
  email: Email,
  role: Type.Enum(['viewer', 'operator', 'admin']),
  name: Type.Optional(Name),
  expires_at: Type.Optional(Nullable(FutureTime)),
  organization_id: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Another organization. Only for admin tokens of the default organization.',
    }),
  ),
})

export const TokenView = Strict({
  token_id: Type.String(),
  organization_id: Type.String(),
  email: Type.String(),
  role: Type.Enum(['viewer', 'operator', 'admin']),
  name: Type.String(),
  last4: Type.String(),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
  expires_at: Nullable(Timestamp),
})

export const CreatedToken = Strict({
  ...TokenView.properties,
  token: Type.String({ description: 'The token. It is shown only once.' }),
})
