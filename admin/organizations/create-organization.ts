import type { Static } from 'typebox'
import { mintId } from '../../core/api-key.ts'
import type { Organization } from '../../core/model.ts'
import { EPOCH } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Call } from '../http/define-route.ts'
import { type Outcome, answer, conflict } from '../http/outcome.ts'
import { newToken } from '../tokens/new-token.ts'
import { type NewOrganization, ORGANIZATIONS_LIMIT } from './organization-schemas.ts'

/** An organization with its first admin token, since no token of another can act in it. */
export async function createOrganization(
  call: Call<unknown, unknown, Static<typeof NewOrganization>>,
): Promise<Outcome> {
  const { context, actor, body } = call
  const count = await context.redis.hlen(REDIS_KEYS.organizations)
  if (count >= ORGANIZATIONS_LIMIT)
    return conflict(
      'too_many_organizations',
      `An installation has at most ${ORGANIZATIONS_LIMIT} organizations.`,
    )
  const created_at = context.now().toISOString()
  const organization_id = mintId('org')
  const organization: Organization = { organization_id, name: body.name, created_at }
  const made = newToken({
    organization_id,
    email: body.admin_email ?? actor.email,
    role: 'admin',
    name: 'first token',
    created_at,
    expires_at: null,
  })
  const { token_id } = made.record
  return {
    kind: 'plan',
    guards: [],
    writes: [
      ['HSET', REDIS_KEYS.organizations, organization_id, JSON.stringify(organization)],
      ['ZADD', REDIS_KEYS.organizationIndex, EPOCH, organization_id],
      ...made.writes,
    ],
    targets: [{ what: 'organization', organization_id }],
    audit: {
      action: 'organization.create',
      target: organization_id,
      before: null,
      after: organization,
    },
    answer: answer(201, { ...organization, admin_token: made.token, admin_token_id: token_id }),
  }
}
