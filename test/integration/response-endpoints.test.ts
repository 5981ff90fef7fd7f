import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { Client as Client117 } from 'mcp-sdk-1-17/client/index.js'
import { SSEClientTransport as Transport117 } from 'mcp-sdk-1-17/client/sse.js'
import { Server } from 'mcp-sdk-1-17/server/index.js'
import { SSEServerTransport } from 'mcp-sdk-1-17/server/sse.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from 'mcp-sdk-1-17/types.js'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { sharedStack } from '../kit/shared-stack.ts'

// The HTTP+SSE transport of MCP names its endpoint in the stream. What passes is in test/unit/response-endpoints.test.ts.

const stack = await sharedStack()

/** What the hostile API streams to a GET of `/hostile/sse`, and the type that it claims. */
let hostile = { stream: '' as string | Buffer, headers: {} as Record<string, string> }
/** How the server of `/sse` names its endpoint. */
let nameEndpoint = (): string => '/messages'
const sessions = new Map<string, SSEServerTransport>()
const arrived: string[] = []

async function openSession(response: ServerResponse): Promise<void> {
  const transport = new SSEServerTransport(nameEndpoint(), response)
  sessions.set(transport.sessionId, transport)
  const server = new Server({ name: 'old', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: ['add', 'drop'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
    content: [{ type: 'text' as const, text: `ran ${params.name}` }],
  }))
  await server.connect(transport)
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://api')
  arrived.push(`${request.method} ${url.pathname}`)
  if (url.pathname === '/hostile/sse') {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...hostile.headers })
    response.write(hostile.stream)
    // Node takes no further request on a connection whose response it has not ended.
    if (hostile.headers['content-length'] !== undefined) response.end()
    return
  }
  if (url.pathname === '/encoding') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return void response.end(`data: ${request.headers['accept-encoding']}\n\n`)
  }
  if (url.pathname === '/sse') return void openSession(response)
  const session = sessions.get(url.searchParams.get('sessionId') ?? '')
  if (request.method !== 'POST' || session === undefined) return void response.writeHead(404).end()
  return void session.handlePostMessage(request, response)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const open = await stack.operator.makeAccess(base_url)
/** An agent whose tools are restricted, so that lists are filtered in the same stream. */
const narrow = await stack.operator.makeAgent()
await stack.operator.makeScope(narrow.agent_id, open.integration.integration_id, {
  mcp_tools: { allow: ['add'], deny: [] },
})
const narrowHeaders = { authorization: `Bearer ${narrow.api_key}` }
/** Another API, which the same agent may call with another credential. */
const other = stack.ownBaseUrl()
await stack.operator.makeScope(
  open.agent.agent_id,
  (await stack.operator.makeIntegration(other)).integration_id,
)

type Headers = Readonly<Record<string, string>>
/** Connects by the old transport, and returns the names of the tools and what a call of one says. */
const clients = {
  'the current SDK': async (url: string, headers: Headers) => {
    const transport = new SSEClientTransport(new URL(url), { requestInit: { headers } })
    const client = new Client({ name: 'agent', version: '1' })
    try {
      await client.connect(transport as Parameters<typeof client.connect>[0])
      const { tools } = await client.listTools()
      return [tools.map(({ name }) => name), await client.callTool({ name: 'add' })] as const
    } finally {
      await client.close()
    }
  },
  'SDK 1.17': async (url: string, headers: Headers) => {
    const transport = new Transport117(new URL(url), { requestInit: { headers } })
    const client = new Client117({ name: 'agent', version: '1' })
    try {
      await client.connect(transport)
      const { tools } = await client.listTools()
      return [tools.map(({ name }) => name), await client.callTool({ name: 'add' })] as const
    } finally {
      await client.close()
    }
  },
}

test('a caller that asks for events gets them uncompressed from an API that compresses on request', async () => {
  const encodings = ['text/event-stream', 'application/json'].map(async (accept) => {
    const { body } = await call({
      to: stack.proxyUrl,
      path: `/${base_url}/encoding`,
      headers: { ...open.headers, accept, 'accept-encoding': 'gzip, br' },
    })
    return body.toString()
  })
  assert.deepEqual(await Promise.all(encodings), ['data: identity\n\n', 'data: gzip, br\n\n'])
})

for (const [name, connect] of Object.entries(clients)) {
  test(`${name} works over HTTP+SSE, whether its endpoint is relative or absolute`, async () => {
    for (const endpoint of ['/messages', `${base_url}/messages`]) {
      nameEndpoint = () => endpoint
      for (const [headers, tools] of [
        [open.headers, ['add', 'drop']],
        [narrowHeaders, ['add']],
      ] as const) {
        const seen = await connect(`${stack.proxyUrl}/${base_url}/sse`, headers)
        assert.deepEqual(seen[0], tools)
        assert.deepEqual(seen[1].content, [{ type: 'text', text: 'ran add' }])
      }
    }
  })

  test(`${name} posts nothing to an endpoint at another API`, async () => {
    const sent = stack.api.mark()
    const gateway = new URL(stack.proxyUrl).host
    for (const endpoint of [
      `/${other}/mcp`,
      `/${other.replace('://', ':/')}/mcp`,
      `http://${gateway}/${other}/mcp`,
      `//${gateway}/${other}/mcp`,
      `../../${other}/mcp`,
      `/%68ttp:${other.slice(5)}/mcp`,
    ]) {
      hostile = { stream: `event: endpoint\ndata: ${endpoint}\n\n`, headers: {} }
      await assert.rejects(connect(`${stack.proxyUrl}/${base_url}/hostile/sse`, open.headers))
    }
    assert.equal(sent().length, 0)
    assert.equal(arrived.filter((line) => line.startsWith('POST /hostile')).length, 0)
  })
}

const askForEvents = (headers: Headers, more: Headers = {}) =>
  call({
    to: stack.proxyUrl,
    path: `/${base_url}/hostile/sse`,
    headers: { ...headers, accept: 'text/event-stream', ...more },
  })

test('a stream that names an endpoint elsewhere is cut before it, and the log says why', async () => {
  for (const headers of [open.headers, narrowHeaders])
    for (const type of [
      'text/event-stream',
      'Text/Event-Stream; charset=utf-8',
      'x-text/event-stream',
    ]) {
      const stream = `: hi\n\nevent: endpoint\ndata: /${other}/mcp?key=1\n\n`
      hostile = { stream, headers: { 'content-type': type } }
      const answer = await askForEvents(headers).catch(() => null)
      assert.equal(answer?.body.includes('endpoint') ?? false, false)
    }
  const { data } = await stack.operator.send(
    'GET',
    `/admin/activity?agent_id=${open.agent.agent_id}&decision=terminated&limit=1`,
  )
  assert.deepEqual(
    [data[0]?.reason, data[0]?.data.header, data[0]?.data.reason, data[0]?.data.leads_to],
    ['redirect_refused', 'endpoint event', 'target_path', `/${other}/mcp`],
  )
})

test('a stream that cannot be read is refused where it could name an endpoint', async () => {
  for (const headers of [
    { 'content-encoding': 'zstd' },
    { 'content-encoding': 'gzip, gzip' },
    { 'content-type': 'text/event-stream; charset=utf-16' },
    { 'content-type': 'text/event-stream; charset=utf-7' },
  ]) {
    hostile = { stream: 'event: endpoint\ndata: /x\n\n', headers: headers as Headers }
    const details = { base_url, header: 'endpoint event', reason: 'unreadable' }
    assertRefusal(await askForEvents(open.headers), 502, 'redirect_refused', details)
  }
})

test('a stream that is compressed without being requested is forwarded uncompressed, with its endpoint checked', async () => {
  const named = (endpoint: string): string => `: hi\n\nevent: endpoint\ndata: ${endpoint}\n\n`
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)
    for (const headers of [open.headers, narrowHeaders]) {
      const serve = (text: string): void => {
        const stream = compress(text)
        const length = { 'content-length': String(stream.length) }
        hostile = { stream, headers: { 'content-encoding': encoding, ...length } }
      }
      serve(named('/messages'))
      const answer = await askForEvents(headers)
      assert.equal(answer.header('content-encoding'), undefined)
      assert.equal(answer.body.toString(), named(`/${base_url}/messages`))
      serve(named(`/${other}/mcp`))
      const cut = await askForEvents(headers).catch(() => null)
      assert.equal(cut?.body.includes(`/${other}/mcp`) ?? false, false)
    }
})

test('threat 29: an endpoint is judged whatever the Accept of the caller, and only in the response to a GET', async () => {
  const named = (endpoint: string): string => `event: endpoint\ndata: ${endpoint}\n\n`
  const at = (method: string, accept: string | null) =>
    call({
      to: stack.proxyUrl,
      path: `/${base_url}/hostile/sse`,
      method,
      headers: { ...open.headers, ...(accept === null ? {} : { accept }) },
    })
  for (const accept of [null, '*/*', 'application/json', 'text/event-stream']) {
    const text = named('/messages')
    hostile = { stream: text, headers: { 'content-length': String(text.length) } }
    assert.equal((await at('GET', accept)).body.toString(), named(`/${base_url}/messages`))
    assert.equal((await at('POST', accept)).body.toString(), text)
    const elsewhere = named(`/${other}/mcp`)
    hostile = { stream: elsewhere, headers: { 'content-length': String(elsewhere.length) } }
    // Cut, or refused where nothing of it has gone out.
    const answer = await at('GET', accept).catch(() => null)
    assert.equal(answer?.body.includes(`/${other}/mcp`) ?? false, false)
  }
})
