import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { fromRoot } from '../../core/system/root.ts'

/** The page may run only its own script and connect only to this service. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const FILES = {
  '/docs': ['docs.html', 'text/html; charset=utf-8'],
  '/docs/docs.js': ['docs.js', 'text/javascript; charset=utf-8'],
  '/docs/docs.css': ['docs.css', 'text/css; charset=utf-8'],
} as const

/** `/openapi.json`, and `/docs`, which shows it as a page. */
export function docsRoutes(app: FastifyInstance): void {
  app.get('/openapi.json', { schema: { hide: true } }, async (_, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  )
  for (const [path, [file, type]] of Object.entries(FILES)) {
    const text = readFileSync(fromRoot('admin', 'openapi', file), 'utf8')
    app.get(path, { schema: { hide: true } }, async (_, reply) =>
      reply.header('content-security-policy', PAGE_POLICY).type(type).send(text),
    )
  }
}
