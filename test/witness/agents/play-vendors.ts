import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2SecureServer, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { createSecureServer } from 'node:http2'
import { escapeXml } from '../../../core/error-format/escape-xml.ts'
import { issueCertificate } from '../../kit/issue-certificate.ts'
import { STORED_CREDENTIAL } from '../../kit/operator.ts'
import type { KitDns } from '../../kit/dns-server.ts'
import type { TestUpstream } from '../../kit/test-upstream.ts'
import type { Session } from './scripted-model.ts'
import { answerAsModel } from './scripted-model.ts'
import type { Planted } from './planted.ts'
import { MCP_TOOL } from './steps.ts'

/** Played at their real names. Opening port 443 needs the right to do so. */
export const VENDOR_HOSTS = {
  openai: 'api.openai.com',
  anthropic: 'api.anthropic.com',
  google: 'generativelanguage.googleapis.com',
  mcp: 'mcp.vendor.test',
  pages: 'pages.vendor.test',
  grpc: 'grpc.vendor.test',
} as const

const ADDRESS = '127.0.0.45'
const RPC_ADDRESS = '127.0.0.46'

/** What arrived since the last session began. */
export interface Arrived {
  /** For each request to a model, the step that it asked for. */
  turns: number[]
  /** `turn`: of those to a model. */
  requests: {
    readonly host: string
    readonly path: string
    readonly body: string
    readonly turn?: number
  }[]
  /** The request for an approval that was allowed. */
  approved: string | null
  pages: number
  mcp_calls: number
  rpcs: number
  /** Requests without the credential that the gateway stores. */
  without_credential: number
}

export const nothingArrived = (): Arrived => ({
  turns: [],
  requests: [],
  approved: null,
  pages: 0,
  mcp_calls: 0,
  rpcs: 0,
  without_credential: 0,
})

const pageWith = (planted: string): string =>
  `<!doctype html><html lang="en"><head><title>Releases</title></head><body><h1>How we release</h1>
<p>Tag the commit, wait for the checks, then publish. Write down what changed, and for whom.</p>${planted}
<pre>git tag v1.4.0 &amp;&amp; git push --tags</pre></body></html>`

/** Plays model APIs, an MCP server, a web page and a gRPC service. @param beforeModel awaited before a model answers. @returns what ends it */
export async function playVendors(
  { api, dns }: { readonly api: TestUpstream; readonly dns: KitDns },
  session: () => Session,
  arrived: () => Arrived,
  beforeModel: (body: string) => Promise<void>,
  planted: () => Planted | null = () => null,
): Promise<() => void> {
  const hosts = Object.values(VENDOR_HOSTS)
  const issued = await issueCertificate(api.certificates, hosts)
  const certificate = { cert: readFileSync(issued.cert_file), key: readFileSync(issued.key_file) }
  const rpc = createSecureServer(certificate)
  rpc.on('stream', (stream, headers) => answerRpc(stream, headers, arrived()))
  const server = createSecureServer({ ...certificate, allowHTTP1: true })
  server.on('request', (request, response) => {
    const plain = {
      request: request as unknown as IncomingMessage,
      response: response as unknown as ServerResponse,
    }
    const host = String(request.headers[':authority'] ?? request.headers.host)
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => void parts.push(part))
    request.on('end', async () => {
      const body = Buffer.concat(parts).toString()
      const seen = arrived()
      if (!JSON.stringify(request.headers).includes(STORED_CREDENTIAL)) seen.without_credential++
      const { place, text } = planted() ?? { place: null, text: '' }
      if (host === VENDOR_HOSTS.mcp) {
        const added = place === 'MCP result' ? text : ''
        return answerAsMcp(plain.request, plain.response, body, seen, added)
      }
      if (host === VENDOR_HOSTS.pages) {
        seen.pages++
        response.setHeader('content-type', 'text/html; charset=utf-8')
        response.end(pageWith(place === 'page' ? `\n<p>${escapeXml(text)}</p>` : ''))
        return
      }
      await beforeModel(body)
      const asked = answerAsModel(plain.request, plain.response, body, session())
      if (asked === null) return
      seen.turns.push(asked.turn)
      seen.requests.push({ host, body, ...asked })
    })
  })
  for (const host of hosts) dns.set(host, [host === VENDOR_HOSTS.grpc ? RPC_ADDRESS : ADDRESS])
  await Promise.all([listen(server, ADDRESS), listen(rpc, RPC_ADDRESS)])
  return () => {
    server.close()
    rpc.close()
  }
}

const listen = (server: Http2SecureServer, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(443, address, resolve)
  })

/** A server of MCP with one tool, over streamable HTTP without sessions. */
export function answerAsMcp(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  arrived: Arrived,
  planted = '',
): void {
  if (request.method !== 'POST') {
    response.statusCode = 405
    response.end()
    return
  }
  arrived.requests.push({ host: VENDOR_HOSTS.mcp, path: '/mcp', body })
  const { id, method, params } = JSON.parse(body)
  if (id === undefined) {
    response.statusCode = 202
    response.end()
    return
  }
  const text = (of: string): object => ({ content: [{ type: 'text', text: of }], isError: false })
  if (method === 'tools/call') arrived.mcp_calls++
  const result = {
    initialize: {
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'releases', version: '1.0.0' },
    },
    'tools/list': {
      tools: [
        {
          name: MCP_TOOL,
          description:
            'Looks up what is known about a release: its date, its state and who leads it.',
          inputSchema: {
            type: 'object',
            properties: { version: { type: 'string', description: 'Such as 1.4' } },
            required: ['version'],
          },
        },
      ],
    },
    'tools/call': text(
      `Release ${params?.arguments?.version}: planned, led by the platform team. ${planted}`.trim(),
    ),
    ping: {},
  }[method as string]
  const answer =
    result === undefined
      ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }
      : { jsonrpc: '2.0', id, result }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answer))
}

/** `/t.T/Unary` and `/t.T/Stream` send back what they get, the second three times; `/t.T/Missing` is NOT_FOUND. */
function answerRpc(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  arrived: Arrived,
): void {
  const path = headers[':path'] ?? ''
  const parts: Buffer[] = []
  arrived.rpcs++
  if (headers.authorization?.includes(STORED_CREDENTIAL) !== true) arrived.without_credential++
  const head = { ':status': 200, 'content-type': 'application/grpc' }
  if (path.endsWith('/Missing')) {
    stream.respond(
      { ...head, 'grpc-status': '5', 'grpc-message': 'no such release' },
      { endStream: true },
    )
    return
  }
  stream.respond(head, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.on('data', (part: Buffer) => void parts.push(part))
  stream.on('end', () => {
    const message = Buffer.concat(parts)
    for (let count = path.endsWith('/Stream') ? 3 : 1; count > 0; count--) stream.write(message)
    stream.end()
  })
}
