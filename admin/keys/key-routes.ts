import type { ApiKey } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { AgentParams } from '../http/common-schemas.ts'
import type { AdminCall, Route } from '../http/define-route.ts'
import { notFound } from '../http/outcome.ts'
import { defineResource } from '../resources/define-resource.ts'
import type { Removed } from '../resources/resource.ts'
import { CreatedKey, KeyView, NewAgentKey, NewOrganizationKey } from './key-schemas.ts'
import { keyStore } from './key-store.ts'
import { keyViews } from './key-view.ts'
import { makeAgentKey, makeOrganizationKey } from './make-key.ts'

const shared = {
  name: 'key',
  tag: 'keys',
  id: 'key_id',
  view: KeyView,
  store: keyStore,
  show: ({ context, actor }: AdminCall, keys: readonly ApiKey[]) =>
    keyViews(context.redis, actor.organization_id, keys),
  about: ({ agent_id, key_id }: ApiKey) => ({ agent_id, key_id }),
  targets: ({ hash }: ApiKey) => [{ what: 'key', hash } as const],
} as const

/**
 * A revoked key stays readable. A key revoked by a kill is from now on revoked in its own right, so that a reactivation does
 * not restore it.
 */
const revoke = ({ context }: AdminCall, key: ApiKey): Removed<ApiKey> => ({
  kind: 'removed',
  remains:
    key.revoked_by === 'operator'
      ? null
      : {
          ...key,
          revoked_at: key.revoked_at ?? context.now().toISOString(),
          revoked_by: 'operator',
        },
})

export const keyRoutes: readonly Route[] = [
  ...defineResource({
    ...shared,
    path: '/admin/agents/:agent_id/keys',
    params: AgentParams.properties,
    create: {
      summary: 'Create a key of an agent',
      body: NewAgentKey,
      answer: CreatedKey,
      make: makeAgentKey,
    },
    list: {
      summary: 'List the keys of an agent, newest first',
      narrow: async ({ context, actor, params }) => {
        const agents = REDIS_KEYS.agents(actor.organization_id)
        const exists = await context.redis.hexists(agents, params['agent_id'] ?? '')
        return exists === 1 ? {} : notFound()
      },
    },
    read: { summary: 'Read a key of an agent' },
    remove: { summary: 'Revoke a key of an agent', verb: 'revoke', plan: revoke },
  }),
  ...defineResource({
    ...shared,
    path: '/admin/keys',
    create: {
      summary: 'Create a key of the organization',
      body: NewOrganizationKey,
      answer: CreatedKey,
      make: makeOrganizationKey,
    },
    list: { summary: 'List the keys of the organization, newest first' },
    read: { summary: 'Read a key of the organization' },
    remove: { summary: 'Revoke a key of the organization', verb: 'revoke', plan: revoke },
  }),
]
