import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseUrl } from '../../core/bounded/parse-url.ts'
import { type Reason, REASONS } from '../../core/catalogue/reasons.ts'
import type { Header } from '../../core/request/header.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { RequestTurns } from '../context/request-turns.ts'
import {
  type AskingAgent,
  type AskingKey,
  agentOfKey,
  keyOfAgent,
  type NoAgent,
  tooMany,
} from './agent-of-key.ts'
import { type AskedAccess, askForAccess } from './ask-for-access.ts'
import { CALL_MESSAGE, checkCall, describeSelf, listAccess, listDenials } from './answers.ts'
import { ADMIN_ERRORS } from '../http/admin-errors.ts'
import { INVALID_JSON } from '../http/refusal-of-error.ts'
import { justifyRequest, listOwnRequests, readOwnRequest, REQUEST_MESSAGE } from './own-requests.ts'
import { JUSTIFICATION_MESSAGE } from './read-words.ts'
import { RequestBudget } from './request-budget.ts'
import { SKILL_TEXT } from './skill-text.ts'

/** Below this path agents ask about themselves. It is no target of a call. */
export const DOOR = '/.well-known/agw'
const BODY_MAX_BYTES = 65_536
/** Of their own, so that operators wait for no agent. */
const SHARE = { at_once: 2, at_once_of_one: 1, waiting_of_one: 32, waiting_of_token: 4 }

const ORIGIN_MESSAGE = 'Pages of other sites may not ask here. Send the request without Origin.'

/** Answers a body: a reply that is awaited would hold its turn until the caller has read it. */
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
      ...(path === 'mcp' ? { errorHandler: answerMcpError } : {}),
      // Before the body is read: a stranger must not hold the service with one that does not come.
      onRequest: async (request, reply) => {
        const found = await identify(request)
        if ('reason' in found) return reply.send(refuseAgent(request, reply, found))
        keys.set(request, found)
      },
      handler: (request, reply) => serve(request, reply, answer),
    })
  }
  const keys = new WeakMap<FastifyRequest, AskingKey>()
  const waitOf = ({ organization_id, agent_id }: AskingKey['key'], count = 1): number =>
    budget.take(`${organization_id} ${agent_id}`, context.nowMs(), count)
  const identify = async (request: FastifyRequest): Promise<AskingKey | NoAgent> => {
    // A page that another site has open in a browser must not ask with what a person has.
    const { origin } = request.raw.headers
    if (origin !== undefined && !isOwn(origin, request)) return ELSEWHERE
    return await keyOfAgent(context, headersOf(request.raw), waitOf)
  }
  const serve = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answering,
  ): Promise<unknown> => {
    const asking = keys.get(request)
    if (asking === undefined) throw new Error('a request has no key')
    const { key } = asking
    // Each message of a batch counts.
    const more = Array.isArray(request.body) ? request.body.length - 1 : 0
    const wait_s = more > 0 ? waitOf(key, more) : 0
    if (wait_s > 0) return refuseAgent(request, reply, tooMany(wait_s))
    const leave = await turns.take(key.organization_id, key.agent_id)
    if (leave === null) return refuseAgent(request, reply, tooMany(1))
    try {
      const agent = await agentOfKey(context, asking)
      if (agent.kind === 'refused') return refuseAgent(request, reply, agent)
      return await answer(agent, request, reply)
    } finally {
      leave()
    }
  }
  const isOwn = (origin: string, request: FastifyRequest): boolean =>
    origin === parseUrl(proxyOf(request))?.origin

  add('GET', 'me', (agent) => describeSelf(agent, context.now().getTime()))
  add('GET', 'me/scopes', (agent, request) => listAccess(agent, proxyOf(request)))
  add('GET', 'me/denials', (agent) => listDenials(context, agent))
  addRequestRoutes(context, add)
  add('POST', 'me/check', (agent, request, reply) => {
    const given = (request.body ?? {}) as Readonly<Record<string, unknown>>
    const checked = checkCall(context, agent, given, proxyOf(request))
    return checked ?? refuse(request, reply, 'bad_request', {}, CALL_MESSAGE)
  })
  add('GET', 'SKILL.md', (_agent, _request, reply) => {
    reply.type('text/markdown; charset=utf-8')
    return SKILL_TEXT
  })
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    add(method, 'mcp', (agent, request, reply) =>
      answerMcp(context, agent, request, reply, proxyOf(request)),
    )
}

function addRequestRoutes(
  context: AdminContext,
  add: (method: 'GET' | 'POST', path: string, answer: Answering) => void,
): void {
  add('GET', 'me/requests', (agent) => listOwnRequests(context, agent))
  add('GET', 'me/requests/:request_id', async (agent, request, reply) => {
    const { request_id } = request.params as Readonly<Record<string, unknown>>
    const found = await readOwnRequest(context, agent, request_id)
    return found ?? refuse(request, reply, 'not_found', {}, REQUEST_MESSAGE)
  })
  add('POST', 'me/requests', async (agent, request, reply) => {
    const given = (request.body ?? {}) as Readonly<Record<string, unknown>>
    const asked = await ask(context, agent, given, request.id)
    return 'reason' in asked
      ? refuse(request, reply, asked.reason, asked.details, asked.message)
      : asked.request
  })
}

/** Asks for access, or adds words to a request. */
async function ask(
  context: AdminContext,
  agent: AskingAgent,
  given: Readonly<Record<string, unknown>>,
  by: string,
): Promise<AskedAccess> {
  if (given['request_id'] === undefined) return await askForAccess(context, agent, given, by)
  const request = await justifyRequest(context, agent, given)
  return request === null
    ? { reason: 'bad_request', details: {}, message: JUSTIFICATION_MESSAGE }
    : { request }
}

async function answerMcp(
  context: AdminContext,
  agent: AskingAgent,
  { raw, body, id }: FastifyRequest,
  reply: FastifyReply,
  proxy_url: string,
): Promise<string> {
  // Loaded by need.
  const { mcpDoor } = await import('./mcp-door.ts')
  const door = mcpDoor({
    whoami: () => describeSelf(agent, context.now().getTime()),
    listAccess: () => listAccess(agent, proxy_url),
    checkCall: (call) => checkCall(context, agent, call, proxy_url),
    readOwnRequest: (request_id) => readOwnRequest(context, agent, request_id),
    ask: (given) => ask(context, agent, given, id),
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
  return await answered.text()
}

/** What is wrong with a body, as clients of JSON-RPC read it; other errors are answered as elsewhere. */
function answerMcpError(
  error: FastifyError,
  _request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { code, statusCode = 500, message } = error
  if (statusCode >= 500 && code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') throw error
  const problem =
    code === 'FST_ERR_CTP_INVALID_JSON_BODY'
      ? { code: -32_700, message: `Parse error: ${INVALID_JSON}` }
      : { code: -32_600, message: `Invalid request: ${message}` }
  const status = code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? 415 : statusCode
  return reply.code(status).send({ jsonrpc: '2.0', error: problem, id: null })
}

const ELSEWHERE: NoAgent = {
  kind: 'refused',
  // 403, as the specification of MCP demands.
  reason: 'permission_denied',
  details: { reason: 'origin' },
  message: ORIGIN_MESSAGE,
}

function refuseAgent(
  request: FastifyRequest,
  reply: FastifyReply,
  { reason, details, wait_s, message }: NoAgent,
): object {
  if (wait_s !== undefined) reply.header('retry-after', String(wait_s))
  return refuse(request, reply, reason, details, message)
}

/** The body of a refusal of a call, whose status and headers are set. */
function refuse(
  { id }: FastifyRequest,
  reply: FastifyReply,
  reason: Reason | 'not_found',
  details: Readonly<Record<string, unknown>>,
  message?: string,
): object {
  const { status, message: usual } = reason === 'not_found' ? ADMIN_ERRORS[reason] : REASONS[reason]
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="agw"')
  reply.code(status).header('x-agw-reason', reason)
  return { error: reason, message: message ?? usual, details, request_id: id }
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
