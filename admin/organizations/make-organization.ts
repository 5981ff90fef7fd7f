import type { Static } from 'typebox'
import { mintId } from '../../core/keys/api-key.ts'
import type { Organization } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict } from '../http/outcome.ts'
import type { Made } from '../resources/resource.ts'
import { newToken } from '../access/new-token.ts'
import { type NewOrganization, ORGANIZATIONS_LIMIT } from './organization-schemas.ts'

/** Creates an organization and its first admin token; tokens of other organizations cannot act in it. */
export async function makeOrganization(
  call: AdminCall<unknown, unknown, Static<typeof NewOrganization>>,
): Promise<Made<Organization> | Refusal> {
  const { context, actor, body } = call
  const count = await context.redis.hlen(REDIS_KEYS.organizations)
  if (count >= ORGANIZATIONS_LIMIT)
    return conflict(
      'too_many_organizations',
      `A deployment has at most ${ORGANIZATIONS_LIMIT} organizations.`,
    )
  const created_at = context.now().toISOString()
  const organization_id = mintId('org')
  const { name, unlisted_hosts = 'refuse' } = body
  const organization: Organization = { organization_id, name, created_at, unlisted_hosts }
  const made = newToken({
    organization_id,
    email: body.admin_email ?? actor.email,
    role: 'admin',
    name: 'first token',
    created_at,
    expires_at: null,
  })
  return {
    kind: 'made',
    record: organization,
    writes: made.writes,
    shown_once: { admin_token: made.token, admin_token_id: made.record.token_id },
  }
}
