import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { AdminContext } from '../context/admin-context.ts'
import { Strict } from '../http/common-schemas.ts'
import { checkReadiness, Readiness } from './check-readiness.ts'

/** Requests within this time share one check, so that polling cannot load the proxy. */
const SHARED_MS = 500

const Health = Strict({ status: Type.String() })

/** `/healthz`: this process runs. `/readyz`: calls are served. Neither needs a token or reveals a secret. */
export function healthRoutes(app: FastifyInstance, context: AdminContext): void {
  let last: { readonly at_ms: number; readonly check: Promise<Readiness> } | null = null
  const shared = (): Promise<Readiness> => {
    const at_ms = context.nowMs()
    if (last === null || at_ms - last.at_ms > SHARED_MS)
      last = { at_ms, check: checkReadiness(context) }
    return last.check
  }
  app.get(
    '/healthz',
    {
      schema: {
        tags: ['health'],
        summary: 'Live: the process is running',
        response: { 200: Health },
      },
    },
    async () => ({ status: 'ok' }),
  )
  app.get(
    '/readyz',
    {
      schema: {
        tags: ['health'],
        summary: 'Ready: the store, an edge and the proxy respond',
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_, reply) => {
      const readiness = await shared()
      return reply.code(readiness.ready ? 200 : 503).send(readiness)
    },
  )
}
