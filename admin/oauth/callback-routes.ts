import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { apiUrlOf } from '../../core/settings/console-link.ts'
import { fromRoot } from '../../core/system/root.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { redirectUriOf } from './start-consent.ts'

/** The page may load only its own files and connect only to this service; the code in its address goes nowhere else. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

const FILES = {
  '/oauth/callback': ['callback.html', 'text/html; charset=utf-8'],
  '/oauth/callback.css': ['callback.css', 'text/css; charset=utf-8'],
  '/oauth/callback.js': ['callback.js', 'text/javascript; charset=utf-8'],
} as const

/** Where providers send the browser after a consent, and the document by which the gateway is a client without registration. */
export function callbackRoutes(app: FastifyInstance, { settings }: AdminContext): void {
  const schema = { hide: true }
  for (const [path, [file, type]] of Object.entries(FILES)) {
    const text = readFileSync(fromRoot('admin', 'oauth', file), 'utf8')
    app.get(path, { schema }, async (_, reply) => reply.headers(HEADERS).type(type).send(text))
  }
  app.get('/oauth/client.json', { schema }, async (_, reply) =>
    reply.type('application/json').send({
      client_id: `${apiUrlOf(settings)}/oauth/client.json`,
      client_name: 'Agent Access Gateway',
      client_uri: apiUrlOf(settings),
      redirect_uris: [redirectUriOf(settings)],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }),
  )
}
