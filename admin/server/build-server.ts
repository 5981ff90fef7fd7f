import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
  fastify,
} from 'fastify'
import { mintId } from '../../core/keys/api-key.ts'
import { KeptAnswers } from '../changes/kept-answers.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { isKillRequest } from '../kill/is-kill-request.ts'
import { killRoutes } from '../kill/kill-routes.ts'
import { lockCreateRoutes } from '../kill/lock-create-routes.ts'
import type { ListenerKind } from '../access/source-address.ts'
import { answerClientError } from '../http/answer-client-error.ts'
import { allowedHosts } from '../http/allowed-hosts.ts'
import type { RequestLoad } from '../context/request-load.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { errorReply } from '../http/error-reply.ts'
import type { Refusal } from '../http/outcome.ts'
import { readJson } from '../http/read-json.ts'
import { refusalOfError } from '../http/refusal-of-error.ts'
import { registerRoutes } from './register-routes.ts'

/** A scope with all the patterns and rules it may have fits; see the bounds in admin/scopes/scope-schemas.ts. */
export const BODY_LIMIT_BYTES = 2_097_152
/** The longest id is 128 characters, each at most nine when percent-encoded. */
const PARAMETER_LENGTH_LIMIT = 1200
const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 72_000
const EVERY_ANSWER = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

/** Load balancers ask these under names of their own, and they tell nothing that is worth a rebinding. */
const FOR_ANY_HOST: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/**
 * `checkInput` validates input and reports all errors; Fastify only passes the schemas to the OpenAPI document. Its own
 * compilers would be loaded for nothing.
 */
const COMPILERS = {
  buildValidator: () => () => () => true,
  buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
}

const URGENT_ROUTES = [...killRoutes, ...lockCreateRoutes]

/** Where requests go that are not served here. */
export type ServeElsewhere = (request: IncomingMessage, response: ServerResponse) => void

/**
 * One listener of the service: the API in full, or, for Envoy's socket, the agents' door and, if the settings say so, `/admin/...`.
 * @param forward gets every request but kills, reactivations and new locks; null: all are served here
 */
export async function buildServer(
  context: AdminContext,
  listener: ListenerKind,
  forward: ServeElsewhere | null,
): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // A request that arrives during a stop is answered; refusing it would make a restart visible.
    return503OnClosing: false,
    genReqId: () => mintId('req'),
    routerOptions: { maxParamLength: PARAMETER_LENGTH_LIMIT },
    schemaController: { compilersFactory: COMPILERS as object },
    clientErrorHandler: answerClientError,
    serverFactory: (serve) => serverOf(serve, forward, context.load),
    frameworkErrors: (error, request, reply) => {
      const refusal = refusalOfError(error, BODY_LIMIT_BYTES, context.redis)
      void refuse(reply, refusal ?? INTERNAL, request.id)
    },
  })
  const isAllowedHost = allowedHosts(context.settings)
  readJson(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', context.load.enter())
    // The dashboard's session belongs to the other listener, and a cookie does not know ports (threat model, rule 6).
    if (listener === 'envoy') delete request.raw.headers.cookie
    reply.headers({ ...EVERY_ANSWER, 'x-agw-request-id': request.id })
    // Envoy passes on the Host that agents use, and there a browser has nothing to offer: no cookie, no open page.
    if (listener === 'envoy' || isAllowedHost(request.raw.headers.host)) return
    if (FOR_ANY_HOST.has(request.url)) return
    return refuse(reply, { kind: 'refusal', error: 'misdirected_request' }, request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, id } = request
    const took_ms = Math.round(reply.elapsedTime)
    // The pattern of the route, since a path or query could hold what does not belong into a log.
    const route = routeOptions.url ?? null
    request.log.debug(
      { method, route, status: reply.statusCode, took_ms, request_id: id },
      'answered',
    )
  })
  answerProblems(app, context.redis)
  if (forward !== null) {
    if (listener === 'api' || context.settings.proxyAdmin)
      registerRoutes(app, context, new KeptAnswers(context), URGENT_ROUTES, listener)
    await app.ready()
    return app
  }
  // Loaded by need, so that the thread that serves kills has nothing else in memory.
  const { registerApi } = await import('./register-api.ts')
  await registerApi(app, context, listener, refuse)
  await app.ready()
  return app
}

/** What no route answers, and what a handler throws. */
function answerProblems(app: FastifyInstance, redis: RedisClient): void {
  app.setNotFoundHandler((request, reply) =>
    refuse(reply, { kind: 'refusal', error: 'not_found' }, request.id),
  )
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOfError(error, BODY_LIMIT_BYTES, redis)
    if (refusal === null) request.log.error({ err: error }, 'unhandled error in a request handler')
    else if (refusal.error === 'gateway_unavailable')
      request.log.warn({ err: error }, 'the store is unavailable')
    return refuse(reply, refusal ?? INTERNAL, request.id)
  })
}

function serverOf(
  serve: ServeElsewhere,
  forward: ServeElsewhere | null,
  load: Pick<RequestLoad, 'isEnding'>,
): Server {
  const server = createServer((request, response) => {
    if (load.isEnding) response.shouldKeepAlive = false
    const isOurs = forward === null || isKillRequest(request.method, request.url)
    ;(isOurs ? serve : forward)(request, response)
  })
  // Those that Fastify gives to a server of its own.
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.keepAliveTimeout = KEEP_ALIVE_MS
  return server
}

const INTERNAL: Refusal = { kind: 'refusal', error: 'internal_error' }

function refuse(reply: FastifyReply, refusal: Refusal, request_id: string): FastifyReply {
  const { status, headers, body } = errorReply(refusal, request_id)
  // What is refused before it is routed has not had them yet.
  reply.headers({ ...EVERY_ANSWER, ...headers, 'x-agw-request-id': request_id })
  return reply.code(status).type('application/json').send(JSON.stringify(body))
}
