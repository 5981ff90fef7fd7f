import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { acceptedEncoding } from '../http/accepted-encoding.ts'
import { dashboardFiles } from './dashboard-files.ts'

/**
 * `/`, the console, and its files. The browser revalidates the page with each use and keeps the script and the style sheet, whose
 * names change with their content; those of another build do not exist here.
 */
export function dashboardRoutes(app: FastifyInstance, log: Logger): void {
  const dashboard = dashboardFiles()
  if (dashboard === null) {
    log.warn('the dashboard is not built; run `node cli/prepare.mjs build`')
    return
  }
  const headers = {
    'content-security-policy': dashboard.policy,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    vary: 'accept-encoding',
  }
  for (const file of dashboard.files)
    app.get(file.path, { schema: { hide: true } }, async (request, reply) => {
      const encoding = acceptedEncoding(request.headers['accept-encoding'])
      // The bytes of each encoding differ.
      const etag = encoding === null ? file.etag : file.etag.replace(/"$/, `-${encoding}"`)
      reply.headers(headers).header('cache-control', file.cache).header('etag', etag)
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      if (encoding !== null) reply.header('content-encoding', encoding)
      return reply.type(file.type).send(file[encoding ?? 'plain'])
    })
}
