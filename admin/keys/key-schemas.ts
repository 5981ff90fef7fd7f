import { Type } from 'typebox'
import { FutureTime, Name, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'

/** The deletion of an agent removes its keys in one script, and rotation needs no more. */
export const AGENT_KEYS_LIMIT = 50
export const ORGANIZATION_KEYS_LIMIT = 1000
/** An edge looks through them on each call with such a key. */
const KEY_AGENTS_LIMIT = 1000

const expires_at = Type.Optional(Nullable(FutureTime))

export const NewAgentKey = Strict({ name: Type.Optional(Name), expires_at })

export const NewOrganizationKey = Strict({
  name: Type.Optional(Name),
  uses: Type.Optional(
    Type.Array(Type.Enum(['proxy', 'webhooks']), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      default: ['proxy'],
    }),
  ),
  agent_ids: Type.Optional(
    Nullable(
      Type.Array(Type.String({ maxLength: 128 }), {
        minItems: 1,
        maxItems: KEY_AGENTS_LIMIT,
        uniqueItems: true,
        description: 'The key works only for these agents; null means all agents.',
      }),
    ),
  ),
  expires_at,
})

export const KeyView = Strict({
  key_id: Type.String(),
  agent_id: Nullable(Type.String()),
  last4: Type.String(),
  name: Type.String(),
  agent_ids: Nullable(Type.Array(Type.String())),
  uses: Type.Array(Type.String()),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
  expires_at: Nullable(Timestamp),
  revoked_at: Nullable(Timestamp),
  revoked_by: Nullable(Type.String()),
})

export const CreatedKey = Strict({
  ...KeyView.properties,
  key: Type.String({ description: 'The key. It is shown only once.' }),
})
