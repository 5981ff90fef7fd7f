import { type Static, Type } from 'typebox'
import type { Settings } from '../../core/settings/settings.ts'
import { urlOf } from '../../core/system/url-of.ts'
import { version } from '../../core/system/version.ts'
import type { Actor } from '../context/admin-context.ts'
import { Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'

export const Whoami = Strict({
  token_id: Type.String(),
  organization_id: Type.String(),
  email: Type.String(),
  role: Type.Enum(['viewer', 'operator', 'admin']),
  gateway_version: Type.String({ description: 'Version of the admin service that responds' }),
  proxy_url: Type.String({
    description:
      'Where agents call the gateway: AGW_PROXY_URL, else the address at which its proxy listens',
  }),
})

const proxyUrlOf = ({ proxyUrl, tlsCertFile, proxyHost, proxyPort }: Settings): string =>
  proxyUrl ?? urlOf(tlsCertFile === null ? 'http' : 'https', proxyHost, proxyPort)

export const whoamiView = (
  { token_id, organization_id, email, role }: Actor,
  settings: Settings,
): Static<typeof Whoami> => ({
  token_id,
  organization_id,
  email,
  role,
  gateway_version: version,
  proxy_url: proxyUrlOf(settings),
})

export const whoamiRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/whoami',
    role: 'viewer',
    tag: 'tokens',
    summary: 'Read the owner and role of the token that makes this request',
    answers: { 200: Whoami },
    handle: async ({ actor, context: { settings } }) => answer(200, whoamiView(actor, settings)),
  }),
]
