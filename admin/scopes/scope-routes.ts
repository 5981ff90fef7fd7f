import { Type } from 'typebox'
import type { Scope } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { listPage } from '../lists/list-page.ts'
import { Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { answer, notFound } from '../http/outcome.ts'
import { patchOf } from '../http/patch-of.ts'
import { createScope } from './create-scope.ts'
import { deleteScope } from './delete-scope.ts'
import { findScope, findScopes } from './find-scope.ts'
import {
  EditableScope,
  NewScope,
  SCOPE_READ_ONLY,
  SCOPE_WHOLE,
  ScopeParams,
  ScopeView,
} from './scope-schemas.ts'
import { scopeView } from './scope-view.ts'
import { updateScope } from './update-scope.ts'

const tag = 'scopes'

const ScopeQuery = Strict({
  agent_id: Type.Optional(Type.String({ maxLength: 128 })),
  integration_id: Type.Optional(Type.String({ maxLength: 128 })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name, in any case' })),
  ...PageQuery,
})

const update = (method: 'PUT' | 'PATCH'): Route =>
  defineRoute({
    method,
    path: '/admin/scopes/:scope_id',
    role: 'admin',
    tag,
    summary: 'Change a scope by a JSON merge patch; rules are replaced whole',
    params: ScopeParams,
    body: patchOf(EditableScope, SCOPE_READ_ONLY, SCOPE_WHOLE),
    answers: { 200: ScopeView },
    handle: updateScope,
  })

export const scopeRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/scopes',
    role: 'admin',
    tag,
    summary: 'Allow an agent to call an integration',
    body: NewScope,
    answers: { 201: ScopeView },
    handle: createScope,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/scopes',
    role: 'viewer',
    tag,
    summary: 'List scopes, newest first',
    query: ScopeQuery,
    answers: { 200: ListOf(ScopeView) },
    handle: async ({ context: { redis }, actor: { organization_id }, query }) => {
      const { agent_id, integration_id } = query
      const part = query.q?.toLowerCase()
      const matches = (scope: Scope): boolean =>
        (agent_id === undefined || scope.agent_id === agent_id) &&
        (integration_id === undefined || scope.integration_id === integration_id) &&
        (part === undefined || scope.name.toLowerCase().includes(part))
      const isFiltered = [agent_id, integration_id, part].some((filter) => filter !== undefined)
      const among =
        agent_id !== undefined
          ? await redis.hkeys(REDIS_KEYS.agentScopes(organization_id, agent_id))
          : integration_id !== undefined
            ? await redis.hkeys(REDIS_KEYS.integrationScopes(organization_id, integration_id))
            : null
      return await listPage<Scope>(
        {
          redis,
          index: REDIS_KEYS.scopeIndex(organization_id),
          read: (ids) => findScopes(redis, organization_id, ids),
          ...(isFiltered ? { matches } : {}),
          ...(among ? { among } : {}),
        },
        query,
        (scopes) => scopes.map(scopeView),
      )
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/scopes/:scope_id',
    role: 'viewer',
    tag,
    summary: 'Read a scope',
    params: ScopeParams,
    answers: { 200: ScopeView },
    handle: async ({ context: { redis }, actor: { organization_id }, params }) => {
      const stored = await findScope(redis, organization_id, params.scope_id)
      return stored === null
        ? notFound()
        : answer(200, scopeView(stored.record), { etag: entityTag(stored.text) })
    },
  }),
  update('PUT'),
  update('PATCH'),
  defineRoute({
    method: 'DELETE',
    path: '/admin/scopes/:scope_id',
    role: 'admin',
    tag,
    summary: 'Delete a scope',
    params: ScopeParams,
    answers: { 204: Empty },
    handle: deleteScope,
  }),
]
