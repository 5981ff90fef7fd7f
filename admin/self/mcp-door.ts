import { createMcpHandler, type McpHttpHandler, Server } from '@modelcontextprotocol/server'
import { version } from '../../core/system/version.ts'
import { CALL_MESSAGE } from './answers.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import type { AskedAccess } from './ask-for-access.ts'
import { REQUEST_MESSAGE } from './own-requests.ts'

/** What an agent can ask about itself; each answer is JSON. */
export interface SelfAnswers {
  readonly whoami: () => object
  /** Null: these are no method and URL. */
  readonly checkCall: (given: Readonly<Record<string, unknown>>) => object | null
  readonly listAccess: () => object
  /** Null: the agent has no such request. */
  readonly readOwnRequest: (request_id: unknown) => Promise<object | null>
  /** For access, or with words for a request. */
  readonly ask: (given: Readonly<Record<string, unknown>>) => Promise<AskedAccess>
}

const REQUEST_ID = { type: 'string', description: 'details.request_id of the refusal' }

const TOOLS = [
  {
    name: 'whoami',
    description:
      'The identity that this gateway knows for you: agent id, name, labels, key and when it expires.',
    inputSchema: { type: 'object' as const, properties: {} },
  },
  {
    name: 'check_call',
    description:
      'Whether an HTTP call would be allowed, without making it. If not: the error code and what to do. Rate limits and the content of the call are checked only when it is made.',
    inputSchema: {
      type: 'object' as const,
      properties: {
        method: { type: 'string', description: 'HTTP method, such as GET' },
        url: {
          type: 'string',
          description: 'Absolute URL of the API, without the address of the gateway',
        },
      },
      required: ['method', 'url'],
    },
  },
  {
    name: 'list_access',
    description:
      'The APIs that you may call: base URL, the URL to call instead, allowed methods and paths, tools, limits, and when the access ends.',
    inputSchema: { type: 'object' as const, properties: {} },
  },
  {
    name: 'get_request',
    description:
      'How far the request is that a call refused with approval_required has made, and what to do next.',
    inputSchema: {
      type: 'object' as const,
      properties: { request_id: REQUEST_ID },
      required: ['request_id'],
    },
  },
  {
    name: 'request_access',
    description:
      'Asks the people who decide for a call that no rule allows (method, url, justification), or tells them why you want to make the call of a pending request (request_id, justification), once for each.',
    inputSchema: {
      type: 'object' as const,
      properties: {
        request_id: REQUEST_ID,
        method: { type: 'string', description: 'HTTP method, without request_id' },
        url: { type: 'string', description: 'Absolute URL of the API; its query is ignored' },
        requested_until: { type: 'string', description: 'Until when you need it, ISO 8601' },
        justification: { type: 'string', description: 'At most 1,000 characters, without secrets' },
      },
      required: ['justification'],
    },
  },
]

/** The same answers as tools of MCP, at every revision, one request at a time: nothing is kept between two. */
export const mcpDoor = (answers: SelfAnswers): McpHttpHandler =>
  createMcpHandler(() => serverOf(answers), { responseMode: 'json', maxSubscriptions: 0 })

function serverOf(answers: SelfAnswers): Server {
  const server = new Server(
    { name: 'agent-access-gateway', version },
    { capabilities: { tools: {} } },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS,
    ttlMs: 60_000,
    cacheScope: 'public' as const,
  }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }) =>
    answerTool(answers, name, given),
  )
  return server
}

async function answerTool(
  answers: SelfAnswers,
  name: string,
  given: Readonly<Record<string, unknown>>,
) {
  switch (name) {
    case 'whoami':
      return result(answers.whoami())
    case 'list_access':
      return result(answers.listAccess())
    case 'check_call':
      return resultOr(CALL_MESSAGE, answers.checkCall(given))
    case 'get_request':
      return resultOr(REQUEST_MESSAGE, await answers.readOwnRequest(given['request_id']))
    case 'request_access':
      return answerOf(await answers.ask(given))
    default:
      return failed(`There is no tool ${JSON.stringify(name.slice(0, 64))}.`)
  }
}

const resultOr = (message: string, answer: object | null) =>
  answer === null ? failed(message) : result(answer)

function answerOf(asked: AskedAccess) {
  if ('request' in asked) return result(asked.request)
  const { reason, details, message = REASONS[reason].message } = asked
  return { ...result({ error: reason, message, details }), isError: true }
}

const failed = (message: string) => ({ ...result({ message }), isError: true })

const result = (answer: object) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
})
