import { Type } from 'typebox'
import { Id, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, invalid, notFound } from '../http/outcome.ts'
import { connectionOwner } from './connection-owner.ts'
import { discover } from './discover.ts'
import { finishConsent } from './finish-consent.ts'
import { revokeConnection } from './revoke-connection.ts'
import { startConsent } from './start-consent.ts'

const tag = 'connections'
const params = Strict({
  integration_id: Id('integration_id'),
  connection_id: Id('connection_id'),
})
const Url = Type.String({ maxLength: 2048 })
/** Codes and states of providers are far shorter. */
const Value = Type.String({ minLength: 1, maxLength: 8192 })

export const oauthRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/oauth/discover',
    role: 'admin',
    tag,
    summary:
      'Read the metadata of an OAuth provider, or of an API that names its provider. It is a proposal: nothing is stored, and only what a connection is created with counts',
    body: Strict({
      url: Url,
      of: Type.Optional(
        Type.Enum(['issuer', 'resource'], {
          default: 'issuer',
          description: '`resource`: an API that names its provider (RFC 9728)',
        }),
      ),
    }),
    answers: {
      200: Strict({
        issuer: Type.String(),
        auth: Type.Record(Type.String(), Type.String(), {
          description: 'To be completed with client_id, client_secret and scope',
        }),
        scopes_supported: Type.Array(Type.String()),
        warnings: Type.Array(Type.String()),
      }),
    },
    handle: async ({ context, body }) => {
      const { url, of: kind = 'issuer' } = body
      const found = await discover(context.tokenEgress, { [kind]: url })
      if (found.kind === 'proposal') return answer(200, found.proposal)
      const of = found.url === '' ? '' : `${found.url}: `
      return invalid([{ path: '/url', message: `has no usable metadata. ${of}${found.why}` }])
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/integrations/:integration_id/connections/:connection_id/authorize',
    role: 'operator',
    tag,
    summary:
      'Ask for consent to an OAuth connection. The same operator opens authorize_url within ten minutes',
    params,
    answers: { 200: Strict({ authorize_url: Type.String() }) },
    handle: async ({ context, actor, params: { integration_id, connection_id } }) => {
      const owned = await connectionOwner(context.redis, actor.organization_id, connection_id)
      if (owned === null || owned.connection.integration_id !== integration_id) return notFound()
      const started = await startConsent(context, actor, owned)
      return started.kind === 'refusal'
        ? started
        : answer(200, { authorize_url: started.authorize_url })
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/integrations/:integration_id/connections/:connection_id/revoke',
    role: 'operator',
    tag,
    summary: 'Revoke the tokens of an OAuth connection at its provider, and end the connection',
    params,
    answers: {
      200: Strict({
        connection_id: Type.String(),
        status: Type.Literal('revoked'),
        result: Type.Enum(['revoked', 'failed', 'unsupported'], {
          description: 'At the provider. The gateway has no longer the tokens in any case',
        }),
      }),
    },
    handle: async ({ context, actor, request_id, params: { integration_id, connection_id } }) => {
      const owned = await connectionOwner(context.redis, actor.organization_id, connection_id)
      if (owned === null || owned.connection.integration_id !== integration_id) return notFound()
      const result = await revokeConnection(context, owned, { actor, request_id })
      return answer(200, { connection_id, status: 'revoked', result })
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/oauth/callback',
    role: 'operator',
    tag,
    summary:
      'Complete a consent with what the provider sent to the callback page, by the operator who asked for it',
    body: Strict({
      state: Value,
      code: Type.Optional(Value),
      iss: Type.Optional(Url),
      error: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    answers: {
      200: Strict({
        connection_id: Type.String(),
        integration_id: Type.String(),
        name: Type.String(),
        status: Type.String(),
      }),
    },
    handle: ({ context, actor, request_id, body }) =>
      finishConsent(context, actor, request_id, body),
  }),
]
