import { randomUUID } from 'node:crypto'
import type { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { UpstreamRoute } from './received-request.ts'

const TOOLS = ['add', 'delete_everything'].map((name) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: {
    type: 'object' as const,
    properties: { a: { type: 'number' }, b: { type: 'number' } },
  },
}))

/** The MCP SDK's own server over streamable HTTP, with sessions. The SDK is loaded by the first request of it. */
export function mcpRoutes(): UpstreamRoute {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (received, request, response) => {
    if (received.path !== '/mcp') return false
    const known = sessions.get(received.header('mcp-session-id') ?? '')
    const transport = known ?? (await openSession(sessions))
    // The log has read the body.
    await received.ended
    const body = received.body_bytes > 0 ? JSON.parse(received.body.toString()) : undefined
    await transport.handleRequest(request, response, body)
    return true
  }
}

async function openSession(
  sessions: Map<string, StreamableHTTPServerTransport>,
): Promise<StreamableHTTPServerTransport> {
  const [{ Server }, transports, { CallToolRequestSchema, ListToolsRequestSchema }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ])
  const transport = new transports.StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    },
  })
  const server = new Server({ name: 'stand-in', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { a = 0, b = 0 } = (params.arguments ?? {}) as { a?: number; b?: number }
    // A message of the server in between makes the answer a stream of several events.
    await extra.sendNotification({
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1, total: 1 },
    })
    return { content: [{ type: 'text', text: String(a + b) }] }
  })
  await server.connect(transport as Parameters<typeof server.connect>[0])
  return transport
}
