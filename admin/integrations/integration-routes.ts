import { Type } from 'typebox'
import type { Integration } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { listPage } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import { Cascade, Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { answer, notFound } from '../http/outcome.ts'
import { patchOf } from '../http/patch-of.ts'
import { AuthReadBack, AuthSchema } from './auth-schema.ts'
import { createIntegration } from './create-integration.ts'
import { deleteIntegration } from './delete-integration.ts'
import {
  EditableIntegration,
  INTEGRATION_READ_ONLY,
  IntegrationParams,
  IntegrationView,
  NewIntegration,
} from './integration-schemas.ts'
import { integrationView } from './integration-view.ts'
import { updateIntegration } from './update-integration.ts'

const tag = 'integrations'

const IntegrationQuery = Strict({
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the name or the base URL, in any case' }),
  ),
  ...PageQuery,
})

/** `auth` is given whole, or as it was read, which changes nothing. */
const IntegrationPatch = patchOf(
  Strict({
    ...EditableIntegration.properties,
    auth: Type.Union([AuthSchema, AuthReadBack]),
  }),
  INTEGRATION_READ_ONLY,
  ['auth'],
)

const update = (method: 'PUT' | 'PATCH'): Route =>
  defineRoute({
    method,
    path: '/admin/integrations/:integration_id',
    role: 'admin',
    tag,
    summary: 'Change an integration by a JSON merge patch; auth is replaced whole',
    params: IntegrationParams,
    body: IntegrationPatch,
    answers: { 200: IntegrationView },
    handle: updateIntegration,
  })

export const integrationRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/integrations',
    role: 'admin',
    tag,
    summary: 'Add an integration',
    body: NewIntegration,
    answers: { 201: IntegrationView },
    handle: createIntegration,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/integrations',
    role: 'viewer',
    tag,
    summary: 'List integrations, newest first',
    query: IntegrationQuery,
    answers: { 200: ListOf(IntegrationView) },
    handle: async ({ context: { redis, ring }, actor: { organization_id }, query }) => {
      const part = query.q?.toLowerCase()
      const matches = ({ name, base_url }: Integration): boolean =>
        name.toLowerCase().includes(part ?? '') || base_url.includes(part ?? '')
      return await listPage<Integration>(
        {
          redis,
          index: REDIS_KEYS.integrationIndex(organization_id),
          read: (ids) => readRecords(redis, REDIS_KEYS.integrations(organization_id), ids),
          ...(part === undefined ? {} : { matches }),
        },
        query,
        (integrations) => integrations.map((integration) => integrationView(ring, integration)),
      )
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/integrations/:integration_id',
    role: 'viewer',
    tag,
    summary: 'Read an integration',
    params: IntegrationParams,
    answers: { 200: IntegrationView },
    handle: async ({ context: { redis, ring }, actor: { organization_id }, params }) => {
      const integrations = REDIS_KEYS.integrations(organization_id)
      const stored = await readRecord<Integration>(redis, integrations, params.integration_id)
      if (stored === null) return notFound()
      const view = integrationView(ring, stored.record)
      return answer(200, view, { etag: entityTag(stored.text) })
    },
  }),
  update('PUT'),
  update('PATCH'),
  defineRoute({
    method: 'DELETE',
    path: '/admin/integrations/:integration_id',
    role: 'admin',
    tag,
    summary: 'Delete an integration with its credential',
    params: IntegrationParams,
    query: Cascade,
    answers: { 204: Empty },
    handle: deleteIntegration,
  }),
]
