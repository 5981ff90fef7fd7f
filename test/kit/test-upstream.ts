import type { Server } from 'node:http'
import { createServer as createHttp } from 'node:http'
import { createSecureServer, createServer as createHttp2 } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificates } from './make-certificates.ts'
import { makeCertificates } from './make-certificates.ts'
import { chatRoutes } from './test-upstream/chat-routes.ts'
import { formRoutes } from './test-upstream/form-routes.ts'
import { gitRoutes } from './test-upstream/git-routes.ts'
import { mcpRoutes } from './test-upstream/mcp-routes.ts'
import { plainRoutes } from './test-upstream/plain-routes.ts'
import type {
  UpstreamRequest,
  UpstreamResponse,
  UpstreamRoute,
} from './test-upstream/received-request.ts'
import { ReceivedRequest } from './test-upstream/received-request.ts'
import { twoHostRoutes } from './test-upstream/two-host-routes.ts'
import { repositoryRoutes } from './test-upstream/repository-routes.ts'

/** Each stands for an API of its own; all of them resolve to this machine by the DNS server of the tests. */
export const TEST_UPSTREAM_HOSTS = {
  plain: 'api.test',
  chat: 'chat.test',
  repositories: 'repositories.test',
  payments: 'payments.test',
  mcp: 'mcp.test',
  git: 'git.test',
  other: 'other.test',
  /** Listed by integrations of other hosts; no integration has it. */
  downloads: 'downloads.test',
  uploads: 'uploads.test',
  /** What it hosts is at the second one. */
  vendor: 'vendor.test',
  cdn: 'cdn.test',
  /** The forward proxy passes it through unread. */
  blind: 'blind.test',
} as const

export interface TestUpstream {
  readonly certificates: Certificates
  /** Ports on 127.0.0.1; HTTPS speaks HTTP/1.1 on one and HTTP/2 on the other, as does HTTP. */
  readonly ports: {
    readonly https: number
    readonly https2: number
    readonly http: number
    readonly http2: number
  }
  /** All that arrived, oldest first. */
  readonly received: readonly ReceivedRequest[]
  /** What arrived since; `const sent = api.mark()` … `sent()`. */
  readonly mark: () => () => readonly ReceivedRequest[]
  /** Connections that were opened, whether or not a request came. */
  readonly connections: () => number
  readonly stop: () => Promise<void>
}

/** Third-party APIs to call: each request is logged as it came, then answered by the first route that knows it. */
export async function startTestUpstream(): Promise<TestUpstream> {
  const certificates = await makeCertificates([...Object.values(TEST_UPSTREAM_HOSTS), '127.0.0.1'])
  const received: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const git = gitRoutes()
  const twoHosts = twoHostRoutes(git, TEST_UPSTREAM_HOSTS.cdn)
  const routes: Readonly<Record<string, UpstreamRoute>> = {
    [TEST_UPSTREAM_HOSTS.chat]: chatRoutes,
    [TEST_UPSTREAM_HOSTS.repositories]: repositoryRoutes,
    [TEST_UPSTREAM_HOSTS.payments]: formRoutes,
    [TEST_UPSTREAM_HOSTS.mcp]: mcpRoutes(),
    [TEST_UPSTREAM_HOSTS.git]: git,
    [TEST_UPSTREAM_HOSTS.vendor]: twoHosts,
    [TEST_UPSTREAM_HOSTS.cdn]: twoHosts,
  }
  const serve =
    (secure: boolean) =>
    (request: UpstreamRequest, response: UpstreamResponse): void => {
      const one = new ReceivedRequest(request, response, secure)
      received.push(one)
      response.on('error', () => {})
      const route = routes[one.host.replace(/:\d+$/, '')] ?? plainRoutes
      Promise.resolve(route(one, request, response)).then(
        (known) => {
          if (!known) response.writeHead(404, { 'content-type': 'text/plain' }).end('unknown')
        },
        (error: unknown) => {
          console.error('the test upstream failed', error)
          request.destroy()
        },
      )
    }
  const { key, cert } = certificates
  // Larger than what Envoy lets through, so that it is never this end that refuses.
  const limits = { maxHeaderSize: 256 * 1024 }
  const servers: Server[] = [
    createHttps({ key, cert, ...limits }, serve(true)),
    createSecureServer({ key, cert }, serve(true) as never) as unknown as Server,
    createHttp(limits, serve(false)),
    createHttp2({}, serve(false) as never) as unknown as Server,
  ]
  for (const server of servers) {
    server.keepAliveTimeout = 60_000
    server.on('connection', (socket: Socket) => {
      connections++
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    })
    server.on('clientError', (_error, socket) => void socket.destroy())
  }
  const [https = 0, https2 = 0, http = 0, http2 = 0] = await Promise.all(servers.map(listen))
  return {
    certificates,
    ports: { https, https2, http, http2 },
    received,
    mark: () => {
      const from = received.length
      return () => received.slice(from)
    },
    connections: () => connections,
    stop: async () => {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}
