import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { forwardRequests } from '../../admin/gate/forward-request.ts'
import { removeDeadFolders } from '../../admin/gate/remove-dead-folders.ts'
import { isKillRequest } from '../../admin/kill/is-kill-request.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const socket = join(tempFolder('gate'), 'api.sock')
let behind: Server
let gate: Server
let gone: Server
/** What arrived behind the gate. */
let seen: { request: IncomingMessage; body: string } | null = null
let aborted: () => void = () => undefined

const listen = (server: Server, where: string | number): Promise<void> =>
  new Promise((resolve) => server.listen(where, resolve))
const portOf = (server: Server): number => (server.address() as AddressInfo).port

before(async () => {
  behind = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    if (request.url === '/follow') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      response.once('close', () => aborted())
      return
    }
    request.once('end', () => {
      seen = { request, body }
      if (request.url === '/cut') {
        response.writeHead(200)
        response.write('part', () => response.destroy())
      } else if (request.url === '/none') response.writeHead(204).end()
      else
        response
          .writeHead(201, 'Made So', ['X-Twice', '1', 'X-Twice', '2', 'Content-Length', '2'])
          .end('ok')
    })
  })
  gate = createServer(forwardRequests(socket))
  gone = createServer(forwardRequests(`${socket}.gone`))
  await Promise.all([listen(behind, socket), listen(gate, 0), listen(gone, 0)])
})

after(() => {
  for (const server of [gate, gone, behind]) {
    server.close()
    server.closeAllConnections()
  }
})

test('folders of killed processes are removed, and no others', async () => {
  const parent = tempFolder('leftovers')
  const past_s = Date.now() / 1000 - 60
  const servers: Server[] = []
  const make = async (name: string, how: 'dead' | 'alive' | 'new' | 'file' | 'empty' | 'left') => {
    const folder = join(parent, name)
    mkdirSync(folder)
    if (how === 'file') writeFileSync(join(folder, 'api.sock'), '')
    else if (how !== 'empty' && how !== 'left') {
      const server = createServer()
      servers.push(server)
      await listen(server, join(folder, 'bound.sock'))
      // Its server no longer finds and removes it.
      renameSync(join(folder, 'bound.sock'), join(folder, 'api.sock'))
      if (how !== 'alive') await new Promise((resolve) => server.close(resolve))
    }
    const changed_s = how === 'left' ? past_s - 600 : past_s
    if (how !== 'new') utimesSync(folder, changed_s, changed_s)
  }
  await make('agw-admin-aaaaaa', 'dead')
  await make('agw-admin-bbbbbb', 'alive')
  await make('agw-admin-cccccc', 'new')
  await make('agw-admin-dddddd', 'file')
  await make('agw-admin-eeeeee', 'empty')
  await make('agw-admin-hhhhhh', 'left')
  await make('agw-admin-too-long', 'dead')
  await make('other-ffffff', 'dead')
  symlinkSync(join(parent, 'other-ffffff'), join(parent, 'agw-admin-gggggg'))
  await removeDeadFolders(parent, Date.now())
  assert.deepEqual(readdirSync(parent).toSorted(), [
    'agw-admin-bbbbbb',
    'agw-admin-cccccc',
    'agw-admin-dddddd',
    'agw-admin-eeeeee',
    'agw-admin-gggggg',
    'agw-admin-too-long',
    'other-ffffff',
  ])
  for (const server of servers) server.close()
})

/** Bytes to a server, and all that comes back. */
const raw = (server: Server, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const client = connect(portOf(server), '127.0.0.1', () => client.write(text))
    let answer = ''
    client.setEncoding('latin1').on('data', (part: string) => (answer += part))
    client.once('close', () => resolve(answer))
    client.once('error', reject)
  })

for (const [method, url, expected] of [
  ['POST', '/admin/agents/agt_1/kill', true],
  ['POST', '/admin/agents/agt_1/reactivate', true],
  ['POST', '/admin/agents/a%2Fb/kill', true],
  ['POST', '/admin/agents/agt_1/kill?x=1', true],
  ['GET', '/admin/agents/agt_1/kill', false],
  ['POST', '/admin/agents/agt_1/kills', false],
  ['POST', '/admin/agents//kill', false],
  ['POST', '/admin/agents/agt_1/kill/x', false],
  ['POST', '/admin/agents/agt_1', false],
  ['POST', '/x/admin/agents/agt_1/kill', false],
  ['POST', '/admin/explain?/admin/agents/a/kill', false],
  ['POST', undefined, false],
] as const)
  test(`${method} ${url} is ${expected ? '' : 'not '}a kill or a reactivation`, () => {
    assert.equal(isKillRequest(method, url), expected)
  })

test('a request is passed on as it is, and so is the response', async () => {
  const answer = await raw(
    gate,
    'POST /a%20b?c=%64 HTTP/1.1\r\nHost: h\r\nX-Own: 1\r\nx-own: 2\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody',
  )
  assert.equal(seen?.request.method, 'POST')
  assert.equal(seen?.request.url, '/a%20b?c=%64')
  assert.equal(seen?.request.headers.host, 'h')
  assert.equal(seen?.request.headers['x-own'], '1, 2')
  assert.equal(seen?.body, 'body')
  assert.match(answer, /^HTTP\/1\.1 201 Made So\r\n/)
  assert.match(answer, /X-Twice: 1\r\nX-Twice: 2\r\n/)
  assert.equal(answer.match(/\r\ndate:/gi)?.length, 1)
  assert.ok(answer.endsWith('\r\n\r\nok'))
})

test('a body in chunks arrives whole, and a response without a body ends', async () => {
  const answer = await raw(
    gate,
    'POST /none HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  )
  assert.equal(seen?.body, 'abcde')
  assert.match(answer, /^HTTP\/1\.1 204 /)
})

test('the address of the client is the one of its connection, whatever the client says', async () => {
  await raw(
    gate,
    'GET / HTTP/1.1\r\nHost: h\r\nX-Agw-Client-Address: 1.2.3.4\r\nConnection: close\r\n\r\n',
  )
  assert.equal(seen?.request.headers['x-agw-client-address'], '::ffff:127.0.0.1')
})

test('a client that leaves ends its request, and a response that is cut is not passed on as whole', async () => {
  const left = new Promise<void>((resolve) => {
    aborted = resolve
  })
  const client = connect(portOf(gate), '127.0.0.1', () =>
    client.write('GET /follow HTTP/1.1\r\nHost: h\r\n\r\n'),
  )
  await new Promise((resolve) => client.once('data', resolve))
  client.destroy()
  await left
  const answer = await raw(gate, 'GET /cut HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
  assert.ok(answer.includes('part'))
  assert.ok(!answer.endsWith('0\r\n\r\n'))
})

test('while nothing listens behind the gate, the response is 503 with a reason', async () => {
  const answer = await raw(gone, 'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.1 503 /)
  assert.match(answer, /x-agw-reason: gateway_unavailable/i)
  assert.equal(JSON.parse(answer.slice(answer.indexOf('{'))).error, 'gateway_unavailable')
})
