import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { dashboardFiles } from './dashboard-files.ts'
import { packedFile } from './packed-file.ts'

/** `/`, the console, and its files. The browser revalidates its copies with each use. */
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
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
  }
  for (const file of dashboard.files) {
    const packed = packedFile(file)
    app.get(file.path, { schema: { hide: true } }, async (request, reply) => {
      const { encoding, etag, body } = packed(request.headers['accept-encoding'] ?? '')
      reply.headers(headers).header('etag', etag)
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      if (encoding !== null) reply.header('content-encoding', encoding)
      return reply.type(file.type).send(body)
    })
  }
}
