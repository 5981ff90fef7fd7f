import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { AdminContext } from '../context/admin-context.ts'
import type { Refusal } from '../http/outcome.ts'
import { signIn } from './sign-in.ts'
import { sourceAddress } from './source-address.ts'
import { isOfDashboard } from './is-of-dashboard.ts'
import { namedSession } from './named-session.ts'
import { NO_SESSION_COOKIE, sessionCookie } from './session-cookie.ts'
import { endSession, findSession, openSession } from './sessions.ts'
import { FROM_ELSEWHERE } from './sign-in-with-session.ts'
import { whoamiView } from './whoami-routes.ts'

type Refuse = (reply: FastifyReply, refusal: Refusal, request_id: string) => FastifyReply

/**
 * Sign-in with an admin token, session information, and sign-out. For the console only; not available on the proxy listener.
 */
export function sessionRoutes(app: FastifyInstance, context: AdminContext, refuse: Refuse): void {
  const schema = { hide: true }
  const { settings } = context

  app.post('/session', { schema }, async (request, reply) => {
    const { headers, method, id: request_id } = request
    if (!isOfDashboard(method, headers)) return refuse(reply, FROM_ELSEWHERE, request_id)
    const source_ip = sourceAddress(request.raw, 'api')
    const { authorization } = headers
    const actor = await signIn(context, { authorization, source_ip, request_id })
    if ('kind' in actor) return refuse(reply, actor, request_id)
    const opened = await openSession(context, actor, request_id)
    if (opened === null) return refuse(reply, BUSY, request_id)
    await endNamed(context, headers)
    const { secret, page_secret } = opened
    // What the browser itself says of the address that it shows; a proxy in front may end TLS.
    const isHttps = headers.origin?.startsWith('https:') ?? false
    return reply
      .code(201)
      .header('set-cookie', sessionCookie(secret, isHttps))
      .send({ ...whoamiView(actor, settings), page_secret })
  })

  app.get('/session', { schema }, async (request, reply) => {
    const session = namedSession(request.headers)
    if (session === null || !isOfDashboard('GET', request.headers)) return reply.code(204).send()
    const actor = await findSession(context, session, LOOK)
    if (actor === null) return reply.code(204).header('set-cookie', NO_SESSION_COOKIE).send()
    return reply.send(whoamiView(actor, settings))
  })

  app.delete('/session', { schema }, async (request, reply) => {
    if (!isOfDashboard('DELETE', request.headers)) return refuse(reply, FROM_ELSEWHERE, request.id)
    await endNamed(context, request.headers)
    return reply.code(204).header('set-cookie', NO_SESSION_COOKIE).send()
  })
}

const LOOK = { source_ip: null, isUse: false } as const

/** Ends the session that a request names, if it is one; a browser that signs in again leaves none behind. */
async function endNamed(context: AdminContext, headers: IncomingHttpHeaders): Promise<void> {
  const session = namedSession(headers)
  const actor = session === null ? null : await findSession(context, session, LOOK)
  if (session !== null && actor !== null) await endSession(context, session.hash, actor)
}

const BUSY: Refusal = {
  kind: 'refusal',
  error: 'conflict',
  message: 'The session could not be opened. Sign in again.',
  details: { reason: 'changed_meanwhile' },
}
