import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const access = await stack.operator.makeAccess(stack.origin('mcp'), {
  auth: { type: 'bearer', token: 'mcp-stored' },
  rules: [{ methods: ['GET', 'POST', 'DELETE'], paths: ['/mcp'] }],
})
const client = new Client({ name: 'agent', version: '1.0.0' })
const transport = new StreamableHTTPClientTransport(
  new URL(`${stack.proxyUrl}/${access.base_url}/mcp`),
  { requestInit: { headers: access.headers } },
)

test('the MCP client connects, lists tools and calls one over streamable HTTP', async () => {
  const sent = stack.api.mark()
  await client.connect(transport as Parameters<typeof client.connect>[0])
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['add', 'delete_everything'],
  )
  const answer = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } })
  assert.deepEqual(answer.content, [{ type: 'text', text: '42' }])
  // The session's id, and the stream of the server's own messages, go through as well.
  assert.ok(sent().some(({ method }) => method === 'GET'))
  assert.ok(
    sent()
      .slice(1)
      .every((call) => call.header('mcp-session-id') !== undefined),
  )
  assert.ok(sent().every((call) => call.header('authorization') === 'Bearer mcp-stored'))
  await transport.terminateSession()
  assert.equal(sent().at(-1)?.method, 'DELETE')
  await client.close()
})
