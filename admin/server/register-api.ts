import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { dashboardRoutes } from '../assets/dashboard-routes.ts'
import { certificateRoutes } from '../certificates/certificate-routes.ts'
import { KeptAnswers } from '../changes/kept-answers.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { healthRoutes } from '../status/health-routes.ts'
import type { Refusal } from '../http/outcome.ts'
import { metricsRoutes } from '../metrics/metrics-routes.ts'
import { docsRoutes } from '../openapi/docs-routes.ts'
import { OPENAPI } from '../openapi/openapi-document.ts'
import { callbackRoutes } from '../oauth/callback-routes.ts'
import { sessionRoutes } from '../access/session-routes.ts'
import { doorRoutes } from '../self/door-routes.ts'
import type { ListenerKind } from '../access/source-address.ts'
import { webhookRoutes } from '../webhooks/webhook-routes.ts'
import { answerOtherMethods } from './answer-other-methods.ts'
import { registerRoutes } from './register-routes.ts'
import { ROUTES } from './routes.ts'

/** Registers all routes of a listener. */
export async function registerApi(
  app: FastifyInstance,
  context: AdminContext,
  listener: ListenerKind,
  refuse: (reply: FastifyReply, refusal: Refusal, request_id: string) => FastifyReply,
): Promise<void> {
  if (listener === 'api') await app.register(swagger, OPENAPI)
  await app.register(async (routes) => {
    const addOtherMethods = answerOtherMethods(routes, (reply, allow, request_id) =>
      refuse(
        reply,
        { kind: 'refusal', error: 'method_not_allowed', headers: { allow } },
        request_id,
      ),
    )
    // Webhooks are managed on the API alone; the proxy listener has `/admin/...`, and the door for agents.
    if (listener === 'api' || context.settings.proxyAdmin) {
      const offered = listener === 'api' ? [...ROUTES, ...webhookRoutes] : ROUTES
      registerRoutes(routes, context, new KeptAnswers(context), offered, listener)
    }
    if (listener === 'envoy') doorRoutes(routes, context)
    else {
      healthRoutes(routes, context)
      metricsRoutes(routes, context.metrics)
      certificateRoutes(routes, context, refuse)
      docsRoutes(routes)
      callbackRoutes(routes, context)
      sessionRoutes(routes, context, refuse)
      dashboardRoutes(routes, context.log)
    }
    // Routes that take any body are added in a part of their own.
    routes.after(addOtherMethods)
  })
}
