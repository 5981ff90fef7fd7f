import { Type } from 'typebox'
import type { Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Cascade, Strict } from '../http/common-schemas.ts'
import type { Route } from '../http/define-route.ts'
import { defineResource } from '../resources/define-resource.ts'
import { storeIn } from '../resources/store-in.ts'
import { AuthReadBack, AuthSchema } from './auth-schema.ts'
import { editIntegration } from './edit-integration.ts'
import {
  EditableIntegration,
  INTEGRATION_DEFAULTS,
  INTEGRATION_RESOURCE,
  IntegrationView,
  NewIntegration,
} from './integration-schemas.ts'
import { LabelsPatch } from '../labels/label-schemas.ts'
import { integrationView } from './integration-view.ts'
import { makeIntegration } from './make-integration.ts'
import { removeIntegration } from './remove-integration.ts'

export const integrationRoutes: readonly Route[] = defineResource({
  ...INTEGRATION_RESOURCE,
  tag: 'integrations',
  view: IntegrationView,
  store: storeIn<Integration>(REDIS_KEYS.integrations, REDIS_KEYS.integrationIndex),
  show: ({ context: { ring } }, integrations) =>
    integrations.map((integration) => integrationView(ring, integration)),
  about: ({ integration_id }) => ({ integration_id }),
  targets: ({ organization_id }) => [{ what: 'integrations', organization_id }],
  create: { summary: 'Create an integration', body: NewIntegration, make: makeIntegration },
  list: {
    summary: 'List integrations, newest first',
    query: {
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Substring of the name, the base URL or the id; case-insensitive',
        }),
      ),
    },
    narrow: ({ query }) => {
      const part = query.q?.toLowerCase()
      if (part === undefined) return {}
      return {
        matches: ({ name, base_url, integration_id }) =>
          [name, base_url, integration_id].some((text) => text.toLowerCase().includes(part)),
      }
    },
  },
  needs: ({ echo_guard = 'off', auth }) => [
    ...(echo_guard === 'off' ? [] : (['echo_guard'] as const)),
    ...(echo_guard === 'full' ? (['echo_guard_full'] as const) : []),
    ...(auth.type === 'aws_sigv4' && auth.role_arn !== undefined ? (['role_arn'] as const) : []),
  ],
  read: { summary: 'Read an integration' },
  edit: {
    summary: 'Change an integration with a JSON merge patch. auth is replaced as a whole',
    methods: ['PUT', 'PATCH'],
    schema: EditableIntegration,
    // `auth` is sent as a whole, or as it was read, which changes nothing.
    body: Strict({
      ...EditableIntegration.properties,
      labels: LabelsPatch,
      auth: Type.Union([AuthSchema, AuthReadBack]),
    }),
    read_only: ['integration_id', 'created_at'],
    moving: ['warnings', 'scopes_gained', 'scopes_lost'],
    write_only: ['auth'],
    whole: ['auth'],
    nullable: ['auth'],
    defaults: INTEGRATION_DEFAULTS,
    apply: editIntegration,
  },
  remove: {
    summary: 'Delete an integration and its credential',
    query: Cascade,
    plan: removeIntegration,
  },
})
