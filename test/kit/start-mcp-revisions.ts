import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

/** Every revision of MCP, oldest first. */
export const MCP_REVISIONS = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
] as const

export type McpRevision = (typeof MCP_REVISIONS)[number]

export interface McpRevisions {
  /** `http://127.0.0.1:port/mcp`; a revision is served below it, under its own name. */
  readonly url: string
  /** Tools that were run, in order. */
  readonly ran: readonly string[]
  /** Every request that came, as its method and path. */
  readonly requests: readonly string[]
  /** The bodies of these. */
  readonly bodies: readonly string[]
  readonly stop: () => Promise<void>
}

const TOOLS = ['add', 'delete_everything', 'delete_one', 'search'].map((name) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object' as const },
}))

/** The MCP SDK's server of the newest revision, once for each revision, which is the only one it offers there. */
export async function startMcpRevisions(): Promise<McpRevisions> {
  const ran: string[] = []
  const requests: string[] = []
  const bodies: string[] = []
  const handlers = new Map(
    MCP_REVISIONS.map((revision) => [
      `/mcp/${revision}`,
      createMcpHandler(() => makeServer(revision, ran)),
    ]),
  )
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '', method = '' } = request
    requests.push(`${method} ${url}`)
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    bodies.push(Buffer.concat(parts).toString())
    const handler = handlers.get(url)
    const answer = await handler?.fetch(
      new Request(`http://kit${url}`, {
        method,
        headers: request.headers as Record<string, string>,
        ...(parts.length === 0 ? {} : { body: Buffer.concat(parts) }),
      }),
    )
    response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []))
    response.end(answer === undefined ? '' : Buffer.from(await answer.arrayBuffer()))
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    ran,
    requests,
    bodies,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function makeServer(revision: McpRevision, ran: string[]): Server {
  const server = new Server(
    { name: 'kit', version: '1.0.0' },
    { capabilities: { tools: {} }, supportedProtocolVersions: [revision] },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS,
    ttlMs: 60_000,
    cacheScope: 'public' as const,
  }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }) => {
    ran.push(name)
    const text = name === 'add' ? String(Number(given['a']) + Number(given['b'])) : `${name} ran`
    return { content: [{ type: 'text' as const, text }] }
  })
  return server
}
