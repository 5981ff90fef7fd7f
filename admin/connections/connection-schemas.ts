import { type Static, Type } from 'typebox'
import { CONNECTION_STATUSES } from '../../core/catalogue/model.ts'
import {
  Name,
  Nullable,
  Strict,
  Timestamp,
  USER_PATTERN,
  Warnings,
} from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import { AuthSchema, AuthView } from '../integrations/auth-schema.ts'

/** Its name and path, for its routes and for `agw apply`. */
export const CONNECTION_RESOURCE = {
  name: 'connection',
  path: '/admin/integrations/:integration_id/connections',
  id: 'connection_id',
} as const

/** An edge holds all connections of an organization. */
export const CONNECTIONS_LIMIT = 2000
/** Of JSON, with the sealed credentials. */
export const CONNECTIONS_LIMIT_BYTES = 4_194_304

const SUBJECT =
  '`shared`: calls by scopes that name it. `agent:<agent_id>`: all calls of this agent to the integration. `user:<user>`: calls with this user in `X-Agw-User`, by scopes that list the user.'

const Subject = Type.String({
  pattern: `^(shared|agent:[^\\s]{1,128}|user:${USER_PATTERN})$`,
  [PATTERN_MESSAGE]:
    'must be shared, or agent: with an agent_id, or user: with a user of visible ASCII characters without commas',
  description: SUBJECT,
})

const Status = Type.Enum([...CONNECTION_STATUSES], {
  description:
    'Only `active` is used; a call that would get any other is refused. Can be set to `active` and `revoked`.',
})

export const EditableConnection = Strict({
  name: Name,
  status: Status,
  /** A change without it keeps the stored credential. */
  auth: Type.Optional(AuthSchema),
})

export type NewConnection = Static<typeof NewConnection>
export const NewConnection = Strict({
  name: Name,
  auth: AuthSchema,
  subject: Type.Optional(Type.Unsafe<string>({ ...Subject, default: 'shared' })),
})

export const ConnectionView = Strict({
  connection_id: Type.String(),
  integration_id: Type.String(),
  name: Type.String(),
  subject: Type.String({ description: SUBJECT }),
  status: Status,
  auth: AuthView,
  granted_by: Nullable(
    Type.String({ description: 'E-mail of the operator, or the user, who gave the credential' }),
  ),
  refreshed_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the provider issued the current access token; null without consent',
    }),
  ),
  last_error: Nullable(
    Type.String({
      description: 'Why the tokens could not be renewed last, in words; null if they were',
    }),
  ),
  last_used_at: Nullable(Timestamp),
  created_at: Timestamp,
  authorize_url: Type.Optional(
    Type.String({
      description:
        'Only in the answer of the creation of an OAuth connection: the operator opens it in a browser within ten minutes',
    }),
  ),
  warnings: Type.Optional(Warnings),
})
