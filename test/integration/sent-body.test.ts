import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Server } from 'mcp-sdk-1-17/server/index.js'
import { StreamableHTTPServerTransport } from 'mcp-sdk-1-17/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from 'mcp-sdk-1-17/types.js'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { sendRandomBodies } from '../kit/sent/send-random-bodies.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { startUpstream } from '../kit/start-upstream.ts'

const FORM = 'application/x-www-form-urlencoded'
const stack = await sharedStack()
/** Tools that the MCP server has run. */
const ran: string[] = []

/**
 * A real MCP server of mid 2025, which takes any Content-Type that contains `application/json`, and whose body is read
 * before, as behind a web framework.
 */
const upstream = await startUpstream(async (request, response, body) => {
  const server = new Server({ name: 'repos', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    ran.push(params.name)
    return { content: [{ type: 'text', text: 'done' }] }
  })
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  await server.connect(transport)
  try {
    await transport.handleRequest(request, response, JSON.parse(body))
  } catch {
    response.writeHead(400).end()
  }
})
after(() => upstream.stop())

const access = await stack.operator.makeAccess(`${upstream.origin}/mcp`, {
  scope: { mcp_tools: { allow: ['*'], deny: ['delete_*'] } },
})
const { agent_id } = access.agent
const organization = await stack.operator.makeOrganizationKey()
const KEYS = {
  'an agent’s key': access.headers,
  'an organization’s key': { authorization: `Bearer ${organization.key}` },
} as const

const toolCall = (name: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: {} },
  })

const post = (body: string, headers: Readonly<Record<string, string>>, content_type: string) =>
  call({
    to: stack.proxyUrl,
    path: `/${access.base_url}`,
    method: 'POST',
    headers: {
      ...headers,
      'content-type': content_type,
      accept: 'application/json, text/event-stream',
    },
    body,
  })

test('a real MCP server runs an allowed tool whose call also names the agent', async () => {
  for (const headers of Object.values(KEYS)) {
    const body = `agent_id=${agent_id}&${toolCall('read_repo')}`
    const answer = await post(body, headers, `${FORM}; application/json`)
    assert.equal(answer.status, 200)
    assert.equal(upstream.bodies.at(-1), toolCall('read_repo'), 'the name was cut out')
  }
  assert.deepEqual(ran, ['read_repo', 'read_repo'])
})

const DELETE = toolCall('delete_repo')
const BOTH = `${FORM}; application/json`
const ATTACKS: readonly (readonly [name: string, content_type: string, body: string])[] = [
  ['behind the name of a form', BOTH, `agent_id=${agent_id}&${DELETE}`],
  ['before the name', BOTH, `${DELETE}&agent_id=${agent_id}`],
  ['an escaped name', BOTH, `%61gent%5fid=${agent_id}&${DELETE}`],
  ['white space', BOTH, `agent_id=${agent_id}& \r\n${DELETE}`],
  ['a byte order mark', BOTH, `agent_id=${agent_id}&\ufeff${DELETE}`],
  ['a batch', BOTH, `agent_id=${agent_id}&[${DELETE}]`],
  ['an escaped method', BOTH, `agent_id=${agent_id}&${DELETE.replace('tools/', 'tools\\/')}`],
  ['an escaped tool', BOTH, `agent_id=${agent_id}&${DELETE.replace('delete', '\\u0064elete')}`],
  ['a type joined by a comma', `${FORM}, application/json`, `agent_id=${agent_id}&${DELETE}`],
  ['a form, and nothing else', FORM, `agent_id=${agent_id}&${DELETE}`],
  [
    'a member of JSON',
    'application/json',
    DELETE.replace('"id"', `"agent_id":"${agent_id}", "id"`),
  ],
  [
    'a large body, which a thread reads',
    BOTH,
    `agent_id=${agent_id}&${' '.repeat(300_000)}${DELETE}`,
  ],
]

for (const [who, headers] of Object.entries(KEYS))
  test(`a forbidden tool is refused in whichever form a call is, once the agent is cut out (${who})`, async () => {
    ran.length = 0
    const arrived = upstream.bodies.length
    for (const [name, content_type, body] of ATTACKS) {
      const answer = await post(body, headers, content_type)
      assert.equal(answer.header('x-agw-reason'), 'mcp_tool_blocked', name)
    }
    assert.equal(upstream.bodies.length, arrived, 'nothing reached the upstream')
    assert.deepEqual(ran, [])
  })

test('a second name behind the one that is cut is ambiguous', async () => {
  const arrived = upstream.bodies.length
  for (const headers of Object.values(KEYS))
    for (const body of [
      `agent_id=${agent_id}&{"agent_id":"agt_other"}`,
      `agent_id=${agent_id}&{"agent_id":"${agent_id}"}`,
      `{"agent_id":"agt_other"}&agent_id=${agent_id}`,
    ]) {
      const answer = await post(body, headers, BOTH)
      assert.deepEqual([answer.status, answer.header('x-agw-reason')], [400, 'ambiguous_request'])
    }
  assert.equal(upstream.bodies.length, arrived, 'nothing reached the upstream')
})

test('what arrives has no reading that is forbidden, whatever is cut out of a body or added to the request', async () => {
  const { counts, faults } = await sendRandomBodies(stack, { calls: 200, seed: 3 })
  assert.deepEqual(faults, [])
  for (const outcome of [
    'forwarded',
    'forwarded, cut',
    'mcp_tool_blocked',
    'permission_denied',
    'security_block',
    'ambiguous_request',
    'unsupported_content_encoding',
  ])
    assert.ok((counts.get(outcome) ?? 0) > 0, outcome)
})

test('a form of any size streams where no check reads it; elsewhere the refusal names the check', async () => {
  let received = 0
  const uploads = await startUpstream((_, response, body) => {
    received = Buffer.byteLength(body, 'latin1')
    response.end()
  })
  after(() => uploads.stop())
  const UNSCANNED = { injection_detection: { enabled: false } }
  const open = await stack.operator.makeAccess(`${uploads.origin}/open`, { scope: UNSCANNED })
  const narrow = await stack.operator.makeAccess(`${uploads.origin}/narrow`, {
    rules: [{ methods: ['*'], paths: ['/files/**'] }],
    scope: UNSCANNED,
  })
  const scanned = await stack.operator.makeAccess(`${uploads.origin}/scanned`, {
    scope: { injection_detection: { enabled: true } },
  })
  const alone = await startUpstream((_, response, body) => {
    received = Buffer.byteLength(body, 'latin1')
    response.end()
  })
  after(() => alone.stop())
  const streamed = await stack.operator.makeAccess(`${alone.origin}/v1`, { scope: UNSCANNED })
  const organization_key = { authorization: `Bearer ${organization.key}` }
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n'
  const body = Buffer.concat([
    Buffer.from(part),
    Buffer.alloc(9_000_000, 'x'),
    Buffer.from('\r\n--b--\r\n'),
  ])
  const rows = [
    [streamed, streamed.headers, null],
    [streamed, { ...organization_key, 'x-agw-agent-id': streamed.agent.agent_id }, 'agent_id'],
    [narrow, narrow.headers, 'overrides'],
    // A path in the form could be that of the other integrations of the same API.
    [open, open.headers, 'overrides'],
    [scanned, scanned.headers, 'scan'],
  ] as const
  for (const [access, headers, held_by, is_chunked] of rows.flatMap((row) => [
    [...row, false] as const,
    [...row, true] as const,
  ])) {
    received = 0
    const answer = await call({
      to: stack.proxyUrl,
      path: `/${access.base_url}/files/a`,
      method: 'POST',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=b' },
      body,
      is_chunked,
      is_refused_early: true,
      // Envoy reads no further where the limit is passed before the body is asked for; the gateway then waits for its own time.
      limit_ms: 60_000,
    })
    assert.equal(received, held_by === null ? body.length : 0)
    if (held_by === null) assert.equal(answer.status, 200)
    else assertRefusal(answer, 413, 'request_too_large', { limit_bytes: 8_388_608, held_by })
  }
})
