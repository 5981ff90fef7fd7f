import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call, type HttpCall } from '../kit/call.ts'
import { openCall } from '../kit/open-call.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

// An API that closes a connection as it is used again, and what Envoy may repeat then.

const stack = await sharedStack()

interface Arrived {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly authorization: string
}

/** Of each path, what arrived, whether or not it was answered. */
const arrived: Arrived[] = []
const used = new Map<Socket, number>()
const waiting = new Map<string, IncomingMessage>()

/** Answers the first request on a connection, and ends the connection at the second: an idle time-out at the worst moment. */
const server = createServer((request, response) => {
  void serve(request, response)
})
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: path = '', headers, socket } = request
  const count = (used.get(socket) ?? 0) + 1
  used.set(socket, count)
  const body = await text(request).catch(() => '')
  arrived.push({ method, path, body, authorization: headers.authorization ?? '' })
  if (path.includes('/wait')) waiting.set(path, request)
  else if (count > 1 || path.includes('/never')) socket.destroy()
  else response.end('served')
}
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.close()
  server.closeAllConnections()
})

const { port } = server.address() as AddressInfo
const access = await stack.operator.makeAccess(`http://127.0.0.1:${port}/dead`)
let number = 0

/** A connection to the API that is idle now. */
async function leaveConnection(): Promise<void> {
  const before = arrived.length
  await send({ path: '/first' })
  assert.ok(arrived.length > before)
}

async function send(one: Partial<HttpCall>): Promise<{
  readonly answer: Awaited<ReturnType<typeof call>>
  readonly arrivals: readonly Arrived[]
}> {
  const path = `${one.path ?? '/call'}/${++number}`
  const answer = await call({
    to: stack.proxyUrl,
    ...one,
    path: `/${access.base_url}${path}`,
    headers: { ...access.headers, ...(one.headers as Record<string, string> | undefined) },
  })
  return { answer, arrivals: arrived.filter((each) => each.path.endsWith(path)) }
}

const REPEATED: readonly (Partial<HttpCall> & { readonly body?: string })[] = [
  { method: 'GET' },
  { method: 'HEAD' },
  { method: 'OPTIONS' },
  { method: 'DELETE' },
  { method: 'PUT', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
  { method: 'PUT', body: 'x'.repeat(65_536) },
]

for (const one of REPEATED)
  test(`repeated once: ${one.method}, body of ${one.body?.length ?? 0} bytes`, async () => {
    await leaveConnection()
    const { answer, arrivals } = await send(one)
    assert.equal(answer.status, 200)
    assert.equal(arrivals.length, 2, 'the API has closed the connection under the first')
    assert.deepEqual(arrivals[0]?.authorization, arrivals[1]?.authorization)
    for (const { body } of arrivals.slice(1)) assert.equal(body, one.body ?? '')
  })

const NOT_REPEATED: readonly (readonly [string, Partial<HttpCall>])[] = [
  ['POST', { method: 'POST', body: '{"pay":1}' }],
  ['PATCH', { method: 'PATCH', body: '{"a":1}' }],
  ['POST without a body', { method: 'POST' }],
  ['LOCK', { method: 'LOCK' }],
  [
    'GET that some APIs read as POST',
    { method: 'GET', headers: { 'x-http-method-override': 'POST' } },
  ],
  ['PUT of a large body', { method: 'PUT', body: 'x'.repeat(65_537) }],
  ['PUT of unknown length', { method: 'PUT', body: 'x', is_chunked: true }],
  ['POST with our own header', { method: 'POST', headers: { 'x-agw-retry': 'reset' } }],
  ['POST with it in other letters', { method: 'POST', headers: { X_Agw_Retry: 'reset' } }],
  [
    "POST with Envoy's header",
    { method: 'POST', headers: { 'x-envoy-retry-on': 'reset,5xx', 'x-envoy-max-retries': '3' } },
  ],
]

for (const [what, one] of NOT_REPEATED)
  test(`never repeated: ${what}`, async () => {
    await leaveConnection()
    const { answer, arrivals } = await send(one)
    assertRefusal(answer, 502, 'upstream_reset')
    assert.equal(arrivals.length, 1)
  })

test('an API that never answers is asked twice, and no more', async () => {
  const { answer, arrivals } = await send({ path: '/never' })
  assertRefusal(answer, 502, 'upstream_reset')
  assert.equal(arrivals.length, 2)
})

test('a killed call is not repeated', async () => {
  const other = await stack.operator.makeAccess(`http://127.0.0.1:${port}/wait`)
  const open = openCall(stack.proxyUrl, `${other.base_url}/killed`, other.headers)
  const request = await until('it has arrived', () => waiting.get('/wait/killed') ?? null)
  const receipt = await stack.operator.send('POST', `/admin/agents/${other.agent.agent_id}/kill`)
  assert.equal(receipt.complete, true)
  request.socket.destroy()
  assert.equal((await open.ended).reason, 'agent_killed')
  // A later call of another agent has been answered, so a repetition would be there.
  await leaveConnection()
  assert.equal(arrived.filter(({ path }) => path === '/wait/killed').length, 1)
})
