import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseUrl } from '../../core/bounded/parse-url.ts'
import { type Reason, REASONS } from '../../core/reasons.ts'
import type { Header } from '../../core/policy/header.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { RequestTurns } from '../context/request-turns.ts'
import { type AskingAgent, agentOfKey } from './agent-of-key.ts'
import { CALL_MESSAGE, checkCall, describeSelf, listAccess, listDenials } from './answers.ts'
import { RequestBudget } from './request-budget.ts'
import { SKILL_TEXT } from './skill-text.ts'

/** Below this path agents ask about themselves. It is no target of a call. */
export const DOOR = '/.well-known/agw'
const BODY_MAX_BYTES = 65_536
/** Of their own, so that operators wait for no agent. */
const SHARE = { at_once: 2, at_once_of_one: 1, waiting_of_one: 32, waiting_of_token: 4 }

const ORIGIN_MESSAGE = 'Pages of other sites may not ask here. Send the request without Origin.'

type Answering = (agent: AskingAgent, request: FastifyRequest, reply: FastifyReply) => unknown

/** The door for agents on the listener that they call: with the agent's own key, and without cookies. */
export function doorRoutes(app: FastifyInstance, context: AdminContext): void {
  const budget = new RequestBudget()
  const turns = new RequestTurns(SHARE)
  const proxyOf = (request: FastifyRequest): string =>
    context.settings.proxyUrl ?? `${schemeOf(request.raw)}://${request.raw.headers.host ?? ''}`
  const add = (method: 'GET' | 'POST' | 'DELETE', path: string, answer: Answering): void => {
    app.route({
      method,
      url: `${DOOR}/${path}`,
      bodyLimit: BODY_MAX_BYTES,
      exposeHeadRoute: false,
      schema: { hide: true },
      handler: (request, reply) => serve(request, reply, answer),
    })
  }
  const serve = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answering,
  ): Promise<unknown> => {
    // A page that another site has open in a browser must not ask with what a person has.
    const { origin } = request.raw.headers
    if (origin !== undefined && !isOwn(origin, request))
      return refuse(request, reply, 'bad_request', {}, ORIGIN_MESSAGE)
    const asking = await agentOfKey(context, headersOf(request.raw), (agent_id) =>
      budget.take(agent_id, context.nowMs()),
    )
    if (asking.kind === 'refused') {
      const { reason, details, wait_s } = asking
      if (wait_s !== undefined) reply.header('retry-after', String(wait_s))
      return refuse(request, reply, reason, details)
    }
    const leave = await turns.take(asking.organization_id, asking.policy.agent.agent_id)
    if (leave === null) {
      reply.header('retry-after', '1')
      return refuse(request, reply, 'rate_limit_exceeded', {})
    }
    try {
      return await answer(asking, request, reply)
    } finally {
      leave()
    }
  }
  const isOwn = (origin: string, request: FastifyRequest): boolean =>
    origin === parseUrl(proxyOf(request))?.origin

  add('GET', 'me', (agent) => describeSelf(agent, context.now().getTime()))
  add('GET', 'me/scopes', (agent, request) => listAccess(agent, proxyOf(request)))
  add('GET', 'me/denials', (agent) => listDenials(context, agent))
  add('POST', 'me/check', (agent, request, reply) => {
    const given = (request.body ?? {}) as Readonly<Record<string, unknown>>
    const checked = checkCall(context, agent, given)
    return checked ?? refuse(request, reply, 'bad_request', {}, CALL_MESSAGE)
  })
  add('GET', 'SKILL.md', (_agent, _request, reply) =>
    reply
      .type('text/markdown; charset=utf-8')
      .serializer((text: string) => text)
      .send(SKILL_TEXT),
  )
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    add(method, 'mcp', (agent, request, reply) =>
      answerMcp(context, agent, request, reply, proxyOf(request)),
    )
}

async function answerMcp(
  context: AdminContext,
  agent: AskingAgent,
  { raw, body }: FastifyRequest,
  reply: FastifyReply,
  proxy_url: string,
): Promise<FastifyReply> {
  // Loaded by need.
  const { mcpDoor } = await import('./mcp-door.ts')
  const door = mcpDoor({
    whoami: () => describeSelf(agent, context.now().getTime()),
    listAccess: () => listAccess(agent, proxy_url),
    checkCall: (call) => checkCall(context, agent, call),
  })
  const { method = 'GET' } = raw
  const asked = new Request(`http://localhost${DOOR}/mcp`, {
    method,
    headers: headersOf(raw).map(({ name, value }): [string, string] => [name, value]),
    ...(method === 'POST' ? { body: JSON.stringify(body ?? null) } : {}),
  })
  const answered = await door.fetch(asked)
  reply.code(answered.status)
  for (const [name, value] of answered.headers)
    if (name !== 'content-length') reply.header(name, value)
  return reply.serializer((text: string) => text).send(await answered.text())
}

/** The body of a refusal of a call. */
function refuse(
  { id }: FastifyRequest,
  reply: FastifyReply,
  reason: Reason,
  details: Readonly<Record<string, unknown>>,
  message: string = REASONS[reason].message,
): FastifyReply {
  const { status } = REASONS[reason]
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="agw"')
  return reply
    .code(status)
    .header('x-agw-reason', reason)
    .send({ error: reason, message, details, request_id: id })
}

/** As Envoy says it; it overwrites what a caller says. */
const schemeOf = ({ headers }: IncomingMessage): string =>
  headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'

function headersOf({ rawHeaders }: IncomingMessage): Header[] {
  const headers: Header[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.push({ name: (rawHeaders[i] ?? '').toLowerCase(), value: rawHeaders[i + 1] ?? '' })
  return headers
}
