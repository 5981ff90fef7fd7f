import { Type } from 'typebox'
import { version } from '../../core/system/version.ts'
import { Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'

export const Whoami = Strict({
  token_id: Type.String(),
  organization_id: Type.String(),
  email: Type.String(),
  role: Type.Enum(['viewer', 'operator', 'admin']),
  gateway_version: Type.String({ description: 'Version of the admin service that responds' }),
})

export const whoamiRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/whoami',
    role: 'viewer',
    tag: 'tokens',
    summary: 'Read the owner and role of the token that makes this request',
    answers: { 200: Whoami },
    handle: async ({ actor: { token_id, organization_id, email, role } }) =>
      answer(200, { token_id, organization_id, email, role, gateway_version: version }),
  }),
]
