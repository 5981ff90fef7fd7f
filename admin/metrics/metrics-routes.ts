import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { AdminMetrics } from './admin-metrics.ts'

/** `/metrics`, without a token as Prometheus asks; no label names an organization, an agent or a secret. */
export function metricsRoutes(app: FastifyInstance, metrics: AdminMetrics): void {
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['health'],
        summary: 'Metrics of this process and all edges, in the Prometheus text format',
        response: {
          200: {
            description: 'Metrics',
            content: { 'text/plain': { schema: Type.String() } },
          },
        },
      },
    },
    async (_, reply) =>
      reply
        .type('text/plain; version=0.0.4; charset=utf-8')
        .serializer((text: string) => text)
        .send(await metrics.render()),
  )
}
