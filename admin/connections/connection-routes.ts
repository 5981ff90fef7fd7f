import type { TProperties } from 'typebox'
import { Type } from 'typebox'
import type { Connection } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Id, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { notFound } from '../http/outcome.ts'
import { AuthReadBack, AuthSchema } from '../integrations/auth-schema.ts'
import { defineResource } from '../resources/define-resource.ts'
import { listPage } from '../resources/list-page.ts'
import { listRecords } from '../resources/records.ts'
import { connectionResource } from './connection-resource.ts'
import {
  CONNECTION_RESOURCE,
  ConnectionView,
  EditableConnection,
  NewConnection,
} from './connection-schemas.ts'
import { connectionViews } from './connection-view.ts'
import { editConnection } from './edit-connection.ts'
import { makeConnection } from './make-connection.ts'
import { removeConnection } from './remove-connection.ts'

const tag = 'connections'
const params: TProperties = { integration_id: Id('integration_id') }

export const connectionRoutes: readonly Route[] = [
  ...defineResource<
    Connection,
    typeof NewConnection,
    TProperties,
    typeof EditableConnection,
    ReturnType<typeof Type.Object>
  >({
    ...CONNECTION_RESOURCE,
    ...connectionResource,
    tag,
    params,
    view: ConnectionView,
    create: {
      summary: 'Create a connection: another credential for the API of an integration',
      body: NewConnection,
      make: makeConnection,
    },
    list: {
      summary: 'List the connections of an integration, newest first',
      narrow: async ({ context: { redis }, actor: { organization_id: org }, params }) => {
        const integration_id = params['integration_id'] ?? ''
        const [exists, ids] = await Promise.all([
          redis.hexists(REDIS_KEYS.integrations(org), integration_id),
          redis.hkeys(REDIS_KEYS.integrationConnections(org, integration_id)),
        ])
        return exists === 1 ? { among: ids } : notFound()
      },
    },
    read: { summary: 'Read a connection' },
    edit: {
      summary: 'Change a connection with a JSON merge patch. auth is replaced as a whole',
      methods: ['PUT', 'PATCH'],
      schema: EditableConnection,
      body: Strict({
        ...EditableConnection.properties,
        auth: Type.Union([AuthSchema, AuthReadBack]),
      }),
      read_only: ['connection_id', 'integration_id', 'subject', 'created_at'],
      moving: ['last_used_at', 'granted_by', 'refreshed_at', 'last_error', 'warnings'],
      write_only: ['auth'],
      whole: ['auth'],
      nullable: ['auth'],
      apply: editConnection,
    },
    remove: { summary: 'Delete a connection', plan: removeConnection },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/connections',
    role: 'viewer',
    tag,
    summary: 'List the connections of all integrations, newest first',
    query: Strict({
      ...PageQuery,
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Substring of the name, the subject or the id; case-insensitive',
        }),
      ),
    }),
    answers: { 200: ListOf(ConnectionView) },
    handle: (call) => {
      const { context, actor, query } = call
      const { redis } = context
      const org = actor.organization_id
      const part = query.q?.toLowerCase()
      return listPage<Connection>(
        {
          redis,
          index: REDIS_KEYS.connectionIndex(org),
          read: (ids) => listRecords<Connection>(redis, REDIS_KEYS.connections(org), ids),
          ...(part === undefined
            ? {}
            : {
                matches: ({ name, subject, connection_id }) =>
                  [name, subject, connection_id].some((text) => text.toLowerCase().includes(part)),
              }),
        },
        query,
        (connections) => connectionViews(call, connections),
      )
    },
  }),
]
