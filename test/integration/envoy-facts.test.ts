import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { fromRoot } from '../../core/system/root.ts'
import { call, closeConnections } from '../kit/call.ts'
import { startDnsServer } from '../kit/dns-server.ts'
import { freePort } from '../kit/free-port.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { passTo } from '../kit/pass-to.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { type KitEnvoy, startEnvoy } from '../kit/start-envoy.ts'
import {
  type Behaviour,
  headerValue,
  type KitProcessor,
  type KitStream,
  startProcessor,
} from '../kit/start-processor.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// What this gateway relies on in Envoy, each on the real one, so that an upgrade that changes it is noticed.

const SECRET = 'a-secret-of-this-boot-and-of-no-other'
const HELD_LIMIT_BYTES = 65_536

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly raw: readonly string[]
  readonly body_bytes: number
  readonly trailers: IncomingMessage['trailers']
}

const folder = tempFolder('facts')
const processorAddress = `unix:${join(folder, 'processor.sock')}`
const seen: Seen[] = []
const cut: string[] = []
let host = ''
let envoy: KitEnvoy
let processor: KitProcessor
/** What the processor does in the test that runs; each sets its own. */
let behave: Behaviour = () => {}
/** Ends the stream of the upstream that waits for it. */
let finishStream = (): void => {}

const upstream = createServer((request, response) => {
  let body_bytes = 0
  request.on('data', (part: Buffer) => {
    body_bytes += part.length
  })
  request.on('end', () => {
    const { method = '', url = '', headers, rawHeaders: raw, trailers } = request
    seen.push({ method, url, headers, raw, body_bytes, trailers })
    response.on('close', () => {
      if (!response.writableFinished) cut.push(url)
    })
    if (url.startsWith('/wait')) return
    if (url.startsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: one\n\n')
      if (url.startsWith('/stream/two')) finishStream = () => response.end('data: poison\n\n')
      return
    }
    if (url.startsWith('/trailers')) {
      response.writeHead(200, { trailer: 'x-sum, x-agw-reason' })
      response.write('body')
      response.addTrailers({ 'x-sum': '1', 'x-agw-reason': 'forged' })
      response.end()
      return
    }
    const forged = { 'x-agw-reason': 'forged', 'x-agw-request-id': 'forged', 'x-agw-more': '1' }
    const asked = new URL(url, 'http://upstream').searchParams.get('headers')
    if (asked !== null) {
      const lines = Buffer.from(asked, 'base64url').toString('latin1')
      const rest = 'content-length: 6\r\nconnection: close\r\n\r\nanswer'
      response.socket?.end(`HTTP/1.1 ${lines}\r\n${rest}`, 'latin1')
      return
    }
    response.writeHead(200, { ...forged, server: 'theirs', 'x-theirs': '1' })
    response.end('answer')
  })
})
upstream.keepAliveTimeout = 60_000

const admin = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'set-cookie': 'session=1', 'content-type': 'application/json' })
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
})

before(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => admin.listen(join(folder, 'admin.sock'), resolve))
  host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
  processor = await startProcessor(processorAddress, (stream, message, kind) =>
    behave(stream, message, kind),
  )
  envoy = await start({}, { envoy_admin_socket: join(folder, 'envoy-admin.sock') })
})

after(async () => {
  closeConnections()
  closeOpenCalls()
  await envoy.stop()
  processor.stop()
  upstream.closeAllConnections()
  upstream.close()
  admin.closeAllConnections()
  admin.close()
})

const start = (
  env: Record<string, string>,
  facts: Parameters<typeof startEnvoy>[1] = {},
): Promise<KitEnvoy> =>
  startEnvoy(
    {
      ENVOY_BIN: process.env['ENVOY_BIN'],
      AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'],
      AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      AGW_MAX_BODY_BYTES: String(HELD_LIMIT_BYTES),
      AGW_HELD_BODY_TIMEOUT: '2s',
      ...env,
    },
    {
      ext_proc_addresses: [processorAddress],
      verdict_secret: SECRET,
      admin_socket: join(folder, 'admin.sock'),
      message_timeout_ms: 1_500,
      ...facts,
    },
  )

/** Answers that a call needs whatever it is about. */
const answerTrailers: Behaviour = (stream, message, kind) => {
  if (kind === 'response_headers') stream.send({ response_headers: {} })
  if (kind === 'response_trailers') stream.send({ response_trailers: {} })
  if (kind !== 'request_trailers') return
  const remove_headers = message['trailers'].headers.map(({ key }: { key: string }) => key)
  stream.send({ request_trailers: { header_mutation: { remove_headers } } })
}

/** Passes on the headers alone, to the same path at the upstream. */
const passing =
  (options: Parameters<typeof passTo>[3] = {}): Behaviour =>
  (stream, message, kind) => {
    answerTrailers(stream, message, kind)
    if (kind === 'request_headers')
      stream.send({ request_headers: passTo(host, pathOf(stream), SECRET, options) })
  }

/** Lets a CONNECT through to the cluster of that name. */
const tunnelling =
  (up: string): Behaviour =>
  (stream, message, kind) => {
    answerTrailers(stream, message, kind)
    if (kind !== 'request_headers') return
    const set_headers = [headerValue('x-agw-up', up), headerValue('x-agw-pass', SECRET)]
    const response = { header_mutation: { set_headers }, clear_route_cache: true }
    stream.send({ request_headers: { response } })
  }

const HOLD = {
  request_body_mode: 'BUFFERED',
  request_trailer_mode: 'SEND',
  response_header_mode: 'SKIP',
  response_body_mode: 'NONE',
  response_trailer_mode: 'SEND',
}

/** Asks for the body, and passes when it is there. */
const holding = (onBody?: (stream: KitStream) => object | null): Behaviour => {
  return (stream, message, kind) => {
    answerTrailers(stream, message, kind)
    if (kind === 'request_headers') stream.send({ request_headers: {}, mode_override: HOLD })
    if (kind === 'request_body')
      stream.send(onBody?.(stream) ?? { request_body: passTo(host, pathOf(stream), SECRET) })
  }
}

const refusal = (details: string, status = 403) => ({
  immediate_response: {
    status: { code: status },
    headers: { set_headers: [headerValue('content-type', 'application/json')] },
    body: Buffer.from('{"error":"ours"}'),
    details,
  },
})

const pathOf = (stream: KitStream): string => stream.headers[':path'] ?? '/'
const lastStream = (): KitStream | undefined => processor.streams.at(-1)
const send = (path: string, more: Partial<Parameters<typeof call>[0]> = {}) =>
  call({ to: envoy.url, path, ...more })

/** Runs it and answers what arrived at the upstream meanwhile. */
async function arriving<T>(act: () => Promise<T>): Promise<readonly [T, Seen[]]> {
  const from = seen.length
  const result = await act()
  return [result, seen.slice(from)]
}

test('a processor that ends early with OK, fails or is silent lets nothing through', async () => {
  const misbehaviours: Record<string, Behaviour> = {
    'ends early with OK': (stream) => stream.endOk(),
    fails: (stream) => stream.fail(),
    'is silent': () => {},
    'continues without a verdict': (stream) => stream.send({ request_headers: {} }),
    'ends with OK in place of an answer to the body': (stream, _message, kind) =>
      kind === 'request_headers'
        ? stream.send({ request_headers: {}, mode_override: HOLD })
        : stream.endOk(),
    'guesses the secret': (stream) =>
      stream.send({ request_headers: passTo(host, '/', 'another-secret') }),
  }
  for (const [name, misbehaviour] of Object.entries(misbehaviours)) {
    behave = misbehaviour
    const [answer, arrived] = await arriving(() => send('/x', { method: 'POST', body: 'text' }))
    assert.equal(answer.status, 503, name)
    assert.equal(answer.header('x-agw-reason'), 'gateway_unavailable', name)
    assert.equal(answer.json().request_id, answer.header('x-agw-request-id'), name)
    assert.deepEqual(arrived, [], name)
  }
})

test('an immediate response before the answer reaches the caller and ends the call upstream', async () => {
  behave = passing()
  const waiting = send('/wait/for-kill')
  await until('the call is upstream', () => seen.some(({ url }) => url === '/wait/for-kill'))
  lastStream()?.send(refusal('agw_agent_killed', 503))
  const answer = await waiting
  assert.equal(answer.status, 503)
  assert.deepEqual(answer.json(), { error: 'ours' })
  await until('the upstream call is cut', () => cut.includes('/wait/for-kill'))
})

test('an immediate response cuts a stream whose response has begun, on both protocols', async () => {
  behave = passing()
  for (const http_version of ['1.1', '2'] as const) {
    const path = `/stream/${http_version}`
    let begun = false
    const running = send(path, { http_version, onData: () => (begun = true) })
    const failed = assert.rejects(running)
    await until('the answer has begun', () => begun)
    lastStream()?.send(refusal('agw_agent_killed', 503))
    await failed
    await until('the upstream call is cut', () => cut.includes(path))
  }
})

test('the stream to the processor lasts as long as the response only because of the trailer mode', async () => {
  const passHeaders = (response_trailer_mode: string): Behaviour => {
    const mode_override = { ...HOLD, request_body_mode: 'NONE', response_trailer_mode }
    return (stream) =>
      stream.send({ request_headers: passTo(host, pathOf(stream), SECRET), mode_override })
  }
  for (const [mode, lasts] of [
    ['SEND', true],
    ['SKIP', false],
  ] as const) {
    behave = passHeaders(mode)
    const opened = openCall(envoy.url, `stream/mode-${mode}`, {})
    await opened.answered
    const stream = lastStream()
    if (lasts) assert.equal(stream?.ended, false)
    else await until('Envoy has closed the stream', () => stream?.ended)
    opened.abort()
    await until('the stream ends with the call', () => stream?.ended)
  }
})

test('no call is lost to a processor that is down, also where it is one of three from the start', async () => {
  behave = passing()
  const nobody = `unix:${join(folder, 'nobody.sock')}`
  const nobodyElse = `unix:${join(folder, 'nobody-else.sock')}`
  const own = await start({}, { ext_proc_addresses: [nobody, nobodyElse, processorAddress] })
  for (let i = 0; i < 60; i++)
    assert.equal((await call({ to: own.url, path: '/x' })).status, 200, `call ${i}`)
  await own.stop()
})

test('no call is lost to the death of a processor between two calls', async () => {
  const addresses = [1, 2].map((n) => `unix:${join(folder, `dies-${n}.sock`)}`)
  const children = await Promise.all(addresses.map(processorProcess))
  const exited = Promise.all(children.slice(0, 1).map((child) => once(child, 'exit')))
  const own = await start({}, { ext_proc_addresses: addresses })
  for (let i = 0; i < 60; i++) {
    if (i === 20) {
      children[0]?.kill('SIGKILL')
      await exited
    }
    assert.equal((await call({ to: own.url, path: '/x' })).status, 200, `call ${i}`)
  }
  children[1]?.kill('SIGKILL')
  await own.stop()
})

test('a call that a processor could not take goes to another one, and not to the same again', async () => {
  behave = passing()
  const asked = new Map<string, number>()
  const address = `unix:${join(folder, 'refuses.sock')}`
  const refusing = await startProcessor(address, (stream) => {
    const id = stream.headers['x-call'] ?? ''
    asked.set(id, (asked.get(id) ?? 0) + 1)
    stream.refuse()
  })
  const own = await start({}, { ext_proc_addresses: [address, processorAddress] })
  for (let i = 0; i < 30; i++)
    assert.equal(
      (await call({ to: own.url, path: '/x', headers: { 'x-call': String(i) } })).status,
      200,
    )
  assert.ok(asked.size > 0)
  assert.deepEqual(Math.max(...asked.values()), 1)
  await own.stop()
  refusing.stop()
})

test('paths and queries reach the processor as they were sent', async () => {
  behave = passing()
  const paths = [
    '/https://api.example/v1/chat',
    '/https:/api.example/v1//chat',
    '/https://api.example/a/../b/./c',
    '/https://api.example/a%2Fb%2e%2e/%5c;x=1',
    '/https://api.example/v1?to=http://other.example/%20&a=1&a=2',
    '/https://api.example/%E2%82%AC?',
  ]
  for (const path of paths) {
    await send(path)
    assert.equal(lastStream()?.headers[':path'], path)
  }
})

test('addresses of this machine and of private networks are refused in every spelling', async () => {
  const dns = await startDnsServer({
    'private.test': ['10.1.2.3'],
    'loopback.test': ['127.0.0.1'],
    'mapped.test': ['::ffff:127.0.0.1'.replace('127.0.0.1', '7f00:1')],
    'local6.test': ['fd00::1'],
    'both.test': ['::1', '127.0.0.1'],
  })
  const own = await start({ AGW_EGRESS_ALLOW_CIDRS: '', AGW_DNS_RESOLVERS: dns.address })
  const port = host.split(':')[1]
  const names = [
    '127.0.0.1 localhost 127.1 127.0.0.1. 0x7f000001 2130706433 017700000001 0.0.0.0 10.0.0.1',
    '100.64.0.1 168.63.129.16 169.254.169.254 172.16.0.1 192.168.0.1 198.18.0.1 224.0.0.1',
    '[::1] [::] [::ffff:127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001::1]',
    '[fd00::1] [fe80::1] [ff02::1] [::127.0.0.1]',
    'private.test loopback.test mapped.test local6.test both.test',
  ]
  for (const name of names.join(' ').split(' ')) {
    behave = (stream, _message, kind) => {
      if (kind === 'request_headers')
        stream.send({ request_headers: passTo(`${name}:${port}`, '/x', SECRET) })
    }
    const [answer, arrived] = await arriving(() => call({ to: own.url, path: '/x' }))
    assert.equal(answer.status, 502, name)
    assert.equal(answer.json().error, 'upstream_unreachable', name)
    assert.deepEqual(answer.json().details, { base_url: `http://${name}:${port}` })
    assert.deepEqual(arrived, [], name)
  }
  await own.stop()
  await dns.stop()
})

test('an allowed range opens its addresses and no neighbour', async () => {
  const own = await start({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.1/32' })
  const port = host.split(':')[1]
  for (const [address, status] of [
    ['127.0.0.1', 200],
    ['127.0.0.2', 502],
    ['127.0.0.0', 502],
    ['[::ffff:127.0.0.1]', 502],
  ] as const) {
    behave = (stream, _message, kind) => {
      if (kind === 'request_headers')
        stream.send({ request_headers: passTo(`${address}:${port}`, '/x', SECRET) })
    }
    assert.equal((await call({ to: own.url, path: '/x' })).status, status, address)
  }
  await own.stop()
})

test('no allowed range opens a metadata address: no connection to it is tried', async () => {
  const dns = await startDnsServer({
    'imds.test': ['169.254.169.254'],
    'imds6.test': ['fd00:ec2::254'],
    'nat64.test': ['64:ff9b::a9fe:a9fe'],
  })
  const own = await start({
    AGW_EGRESS_ALLOW_CIDRS: '0.0.0.0/0,::/0,169.254.169.254/32',
    AGW_DNS_RESOLVERS: dns.address,
  })
  const ask = async (address: string): Promise<number> => {
    behave = (stream, _message, kind) => {
      if (kind === 'request_headers')
        stream.send({ request_headers: passTo(`${address}:${host.split(':')[1]}`, '/x', SECRET) })
    }
    return (await call({ to: own.url, path: '/x' })).status
  }
  const attempts = async (): Promise<string> =>
    await own.admin('/stats?filter=cluster.upstream_http.*upstream_cx_(total|connect_fail)$')
  assert.equal(await ask('127.0.0.1'), 200)
  const before = await attempts()
  assert.match(before, /upstream_cx_total: 1$/m)
  const names = [
    '169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 2852039166 0xa9fea9fe',
    '[fd00:ec2::254] [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::1]',
    'imds.test imds6.test nat64.test',
  ]
  for (const name of names.join(' ').split(' ')) assert.equal(await ask(name), 502, name)
  assert.equal(await attempts(), before)
  await own.stop()
  await dns.stop()
})

test('headers may be changed in the answer to the body, also those that choose the route', async () => {
  behave = holding((stream) => ({
    request_body: passTo(host, pathOf(stream), SECRET, {
      headers: { authorization: 'Bearer late' },
    }),
  }))
  const [answer, arrived] = await arriving(() => send('/late', { method: 'POST', body: 'text' }))
  assert.equal(answer.status, 200)
  assert.equal(arrived[0]?.headers.authorization, 'Bearer late')
  assert.equal(arrived[0]?.body_bytes, 4)
})

test('of a header only the raw value counts, and setting it replaces every value of the caller', async () => {
  behave = (stream, _message, kind) => {
    if (kind !== 'request_headers') return
    const pass = passTo(host, '/x', SECRET, { headers: { 'x-twice': 'ours' } }) as any
    pass.response.header_mutation.set_headers.push({ header: { key: 'x-text', value: 'text' } })
    stream.send({ request_headers: pass })
  }
  const headers = [
    ['x-twice', 'one'],
    ['x-twice', 'two'],
  ] as const
  const [, arrived] = await arriving(() => send('/x', { headers }))
  const twice = arrived[0]?.raw.filter((_text, i, raw) => raw[i - 1]?.toLowerCase() === 'x-twice')
  assert.deepEqual(twice, ['ours'])
  assert.equal(arrived[0]?.headers['x-text'] ?? '', '')
})

test('a processor cannot change the authority; trying is an error, not silence', async () => {
  behave = passing({ headers: { ':authority': host } })
  const [answer, arrived] = await arriving(() => send('/x', { headers: { host: 'evil.example' } }))
  assert.equal(answer.status, 503)
  assert.deepEqual(arrived, [])
})

test('the host comes from x-agw-host, and no header of ours goes upstream', async () => {
  behave = passing({ headers: { 'x-agw-agent-id': 'agt_1', 'x-agw-more': '1' } })
  const headers = {
    host: 'evil.example',
    'x-agw-host': 'evil.example',
    'x-agw-pass': SECRET,
    'x-agw-up': 'http',
    x_agw_pass: SECRET,
    'x-forwarded-for': '9.9.9.9',
    x_forwarded_host: 'evil.example',
    forwarded: 'for=9.9.9.9',
    'x-real-ip': '9.9.9.9',
    'x-envoy-retry-on': '5xx',
    'x-request-id': 'theirs',
    'proxy-authorization': 'Basic x',
    te: 'trailers',
    'x-mine': 'kept',
  }
  const [answer, arrived] = await arriving(() => send('/x', { headers }))
  assert.equal(answer.status, 200)
  const names = Object.keys(arrived[0]?.headers ?? {}).sort()
  assert.deepEqual(names, ['host', 'x-mine'])
  assert.equal(arrived[0]?.headers.host, host)
  const told = lastStream()?.headers ?? {}
  assert.notEqual(told['x-request-id'], 'theirs')
  assert.equal(answer.header('x-agw-request-id'), told['x-request-id'])
  assert.equal(told['x-agw-pass'], undefined)
  assert.equal(told['x-envoy-external-address'], '127.0.0.1')
})

test('a processor sees request trailers and can remove them, on both protocols', async () => {
  for (const http_version of ['1.1', '2'] as const)
    for (const behaviour of [passing(), holding()]) {
      behave = behaviour
      const trailers = { 'x-late': 'secret', authorization: 'Bearer evil' }
      const [answer, arrived] = await arriving(() =>
        send('/x', { method: 'POST', body: 'text', is_chunked: true, http_version, trailers }),
      )
      assert.equal(answer.status, 200)
      assert.ok(lastStream()?.received.includes('request_trailers'))
      assert.deepEqual(arrived[0]?.trailers, {})
      assert.equal(arrived[0]?.body_bytes, 4)
    }
})

test('a body streams through unless the processor asks for it, whatever its size', async () => {
  const large = Buffer.alloc(20 * 1024 * 1024, 97)
  for (const http_version of ['1.1', '2'] as const)
    for (const is_chunked of [true, false]) {
      behave = passing()
      const [answer, arrived] = await arriving(() =>
        send('/large', { method: 'POST', body: large, is_chunked, http_version }),
      )
      assert.equal(answer.status, 200)
      assert.equal(arrived[0]?.body_bytes, large.length)
      assert.equal(lastStream()?.body, null)
    }
})

test('a held body of the limit arrives whole, with and without a length', async () => {
  behave = holding()
  const body = Buffer.alloc(HELD_LIMIT_BYTES, 97)
  for (const http_version of ['1.1', '2'] as const)
    for (const is_chunked of [true, false]) {
      const [answer, arrived] = await arriving(() =>
        send('/held', { method: 'POST', body, is_chunked, http_version }),
      )
      assert.equal(answer.status, 200, `${http_version} ${is_chunked}`)
      assert.equal(lastStream()?.body?.length, body.length)
      assert.equal(arrived[0]?.body_bytes, body.length)
    }
})

test('a held body far over the limit is 413 even where it came in before it was asked for, and the processor ends it', async () => {
  behave = (stream, message, kind) => {
    if (kind !== 'request_headers') return holding()(stream, message, kind)
    // Asked for only once all that Envoy takes in is there.
    void until('Envoy reads no further', async () => {
      const paused = await counter('http.agents.downstream_flow_control_paused_reading_total')
      const resumed = await counter('http.agents.downstream_flow_control_resumed_reading_total')
      return paused > resumed
    }).then(() => {
      stream.send({ request_headers: {}, mode_override: HOLD })
      setTimeout(() => stream.send(refusal('held_body_timeout', 408)), 200)
    })
    return undefined
  }
  const body = Buffer.alloc(2 * 1024 * 1024, 97)
  const [answer, arrived] = await arriving(() =>
    send('/held', { method: 'POST', body, is_chunked: true }),
  )
  assert.equal(answer.status, 413)
  assert.deepEqual(answer.json().details, { limit_bytes: HELD_LIMIT_BYTES })
  assert.equal(answer.header('x-agw-reason'), 'request_too_large')
  assert.deepEqual(arrived, [])
})

test('upgrades, CONNECT, malformed and oversized requests are answered in our own words', async () => {
  behave = passing()
  const large = `x-large: ${'x'.repeat(70_000)}`
  const rows: ReadonlyArray<readonly [string, number, string]> = [
    [
      'GET /x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n',
      400,
      'upgrade_not_supported',
    ],
    [
      'POST /x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: other\r\ncontent-length: 1\r\n\r\na',
      400,
      'upgrade_not_supported',
    ],
    ['CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n', 400, 'upgrade_not_supported'],
    ['GET /x HTTP/1.1\r\n\r\n', 400, 'bad_request'],
    [
      'POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'bad_request',
    ],
    [`GET /x HTTP/1.1\r\nhost: x\r\n${large}\r\n\r\n`, 431, 'headers_too_large'],
  ]
  for (const [bytes, status, reason] of rows) {
    const [{ answers }, arrived] = await arriving(() => rawHttp(envoy.url, bytes))
    const name = bytes.slice(0, 60)
    assert.equal(answers[0]?.status, status, name)
    const body = JSON.parse(answers[0]?.body ?? '')
    assert.equal(body.error, reason, name)
    assert.equal(typeof body.request_id, 'string')
    assert.match(answers[0]?.head ?? '', new RegExp(`x-agw-reason: ${reason}`))
    assert.deepEqual(arrived, [], name)
  }
})

test('an offer of h2c is ignored, and does not go upstream', async () => {
  behave = passing()
  const head =
    'POST /x HTTP/1.1\r\nhost: x\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n'
  const bytes = `${head}http2-settings: AAMAAABk\r\ncontent-length: 4\r\n\r\ntext`
  const [{ answers }, arrived] = await arriving(() => rawHttp(envoy.url, bytes))
  assert.equal(answers[0]?.status, 200)
  assert.equal(arrived[0]?.headers.upgrade, undefined)
  assert.equal(arrived[0]?.body_bytes, 4)
})

test('a passed call may wait for its answer longer than a body may be held', async () => {
  behave = passing()
  const own = await start({ AGW_HELD_BODY_TIMEOUT: '200ms', AGW_UPSTREAM_IDLE_TIMEOUT: '800ms' })
  const begun_ms = performance.now()
  const answer = await call({ to: own.url, path: '/wait/long' })
  assert.equal(answer.json().error, 'upstream_timeout')
  assert.ok(performance.now() - begun_ms > 700)
  await own.stop()
})

test('a decision may take longer than an upstream may be silent, and than a message if the processor says so', async () => {
  const deciding =
    (decide: Behaviour, isLong: boolean): Behaviour =>
    (stream, message, kind) => {
      if (!kind.startsWith('request')) return decide(stream, message, kind)
      if (isLong) stream.send({ override_message_timeout: { seconds: 3 } })
      setTimeout(() => decide(stream, message, kind), 900)
      return undefined
    }
  const env = { AGW_UPSTREAM_IDLE_TIMEOUT: '300ms', AGW_HELD_BODY_TIMEOUT: '500ms' }
  const own = await start({ ...env, AGW_APPROVAL_MAX_WAIT: '4s' }, { message_timeout_ms: 600 })
  const send = (method: string, body?: string) =>
    call({ to: own.url, path: '/x', method, ...(body === undefined ? {} : { body }) })
  behave = deciding(passing(), true)
  assert.equal((await send('GET')).status, 200)
  behave = deciding(holding(), true)
  assert.equal((await send('POST', 'text')).status, 200)
  behave = deciding(passing(), false)
  assert.equal((await send('GET')).header('x-agw-reason'), 'gateway_unavailable')
  await own.stop()
})

/** What the processor notes of a call whose response it wants to see; the route makes a header of it. */
const LOOK = {
  fields: { agw: { structValue: { fields: { l: { stringValue: '1' } } } } },
}
/** Passes a call whose response the processor sees, and answers that as the test says. */
const looking =
  (onResponse: (stream: KitStream, message: any, kind: string) => void): Behaviour =>
  (stream, message, kind) => {
    if (kind === 'request_headers')
      stream.send({
        request_headers: passTo(host, pathOf(stream), SECRET),
        dynamic_metadata: LOOK,
      })
    else onResponse(stream, message, kind)
  }

test('a response can be scanned: JSON is buffered and replaced, an event stream is cut in time', async () => {
  const scanning = (response_body_mode: string): Behaviour =>
    looking((stream, message, kind) => {
      if (kind === 'response_headers') {
        const mode_override = { ...HOLD, request_body_mode: 'NONE', response_body_mode }
        stream.send({ response_headers: {}, mode_override })
      }
      if (kind !== 'response_body') return
      const found = /answer|poison/.test(message['body'].toString())
      stream.send(found ? refusal('agw_security_block') : { response_body: {} })
    })
  behave = scanning('BUFFERED')
  const held = await send('/x')
  assert.equal(held.status, 403)
  assert.deepEqual(held.json(), { error: 'ours' })
  behave = scanning('STREAMED')
  let text = ''
  await assert.rejects(
    send('/stream/two', {
      onData: (part) => {
        text += part.toString()
        finishStream()
      },
    }),
  )
  assert.equal(text, 'data: one\n\n')
})

test("Envoy's own answers come to a processor that asked to see the response", async () => {
  behave = (stream, _message, kind) => {
    if (kind === 'request_headers')
      stream.send({
        request_headers: passTo('127.0.0.1:1', '/', SECRET),
        dynamic_metadata: LOOK,
      })
    if (kind === 'response_headers') stream.send({ response_headers: {} })
  }
  const answer = await send('/x')
  assert.equal(answer.status, 502)
  assert.deepEqual(lastStream()?.received, ['request_headers', 'response_headers'])
})

/** A response of the upstream's with these lines. */
const answered = (lines: string, status = '200 OK'): string =>
  `/x?headers=${Buffer.from(`${status}${lines === '' ? '' : `\r\n${lines}`}`, 'latin1').toString('base64url')}`

test('a processor sees the responses that lead elsewhere or set a cookie, and those it asked for', async () => {
  const rows: ReadonlyArray<readonly [lines: string, isSeen: boolean, status?: string]> = [
    ['', false],
    ['content-type: text/plain\r\netag: "1"\r\nlocations: /x\r\nx-location: /x', false],
    ['location: /x', true],
    ['LOCATION:', true],
    ['location: \xff\xfe', true, '302 Found'],
    ['location: /x', true, '201 Created'],
    ['content-location: /x', true],
    ['refresh: 0; url=/x', true],
    ['link: </x>', true],
    ['set-cookie: a=b', true],
    ['set-cookie:', true],
    ['x-agw-look: 1', false],
    ['location: /x', true, '103 Early Hints\r\n\r\nHTTP/1.1 302 Found'],
    ['', false, '103 Early Hints\r\nlocation: /x\r\n\r\nHTTP/1.1 200 OK'],
    ['', true, '2000 OK'],
  ]
  for (const [lines, isSeen, status] of rows) {
    behave = passing()
    const named = `${status ?? '200'}: ${lines}`
    const expected = ['request_headers', ...(isSeen ? ['response_headers'] : [])]
    const path = answered(lines, status)
    const asked = rawHttp(envoy.url, `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await until(named, () => lastStream()?.headers[':path'] === path && lastStream()?.ended)
    await asked
    assert.deepEqual(lastStream()?.received, expected, named)
  }
  behave = looking((stream) => stream.send({ response_headers: {} }))
  await send('/plain')
  assert.deepEqual(lastStream()?.received, ['request_headers', 'response_headers'])
})

test('a processor that fails or is silent before it has answered for a response lets nothing of it through', async () => {
  const path = answered('location: /http://other.test/', '302 Found')
  for (const [name, misbehaviour] of Object.entries({
    fails: (stream: KitStream) => stream.fail(),
    'is silent': () => {},
    'asks for a change that Envoy refuses': (stream: KitStream) =>
      stream.send({
        response_headers: {
          response: { header_mutation: { set_headers: [headerValue(':status', 'x\n')] } },
        },
      }),
  })) {
    behave = (stream, message, kind) => {
      if (kind === 'response_headers') misbehaviour(stream)
      else passing()(stream, message, kind)
    }
    const answer = await send(path)
    assert.equal(answer.status, 503, name)
    assert.equal(answer.header('x-agw-reason'), 'gateway_unavailable', name)
    assert.equal(answer.header('location'), undefined)
  }
})

test('several headers of one name can be set, the first in place of all and the others behind it', async () => {
  behave = (stream, message, kind) => {
    if (kind !== 'response_headers') return passing()(stream, message, kind)
    const set_headers = [
      headerValue('set-cookie', 'a=1'),
      { ...headerValue('set-cookie', 'b=2'), append: { value: true } },
      { ...headerValue('set-cookie', 'c=3'), append: { value: true } },
    ]
    return stream.send({ response_headers: { response: { header_mutation: { set_headers } } } })
  }
  const answer = await send(answered('set-cookie: x\r\nset-cookie: y'))
  const cookies = answer.headers.filter(([name]) => name === 'set-cookie')
  assert.deepEqual(
    cookies.map(([, value]) => value),
    ['a=1', 'b=2', 'c=3'],
  )
})

test('/admin reaches the admin service without the processor and without cookies either way', async () => {
  behave = (stream) => stream.send(refusal('agw_permission_denied'))
  for (const path of ['/admin', '/admin?a=1', '/admin/', '/admin/agents?limit=1']) {
    const streams = processor.streams.length
    const answer = await send(path, { headers: { cookie: 'session=1', authorization: 'Bearer t' } })
    assert.equal(answer.status, 200, path)
    assert.equal(answer.json().url, path)
    assert.equal(answer.json().headers.cookie, undefined)
    assert.equal(answer.json().headers.authorization, 'Bearer t')
    assert.equal(answer.json().headers['x-envoy-external-address'], '127.0.0.1')
    assert.equal(answer.header('set-cookie'), undefined)
    assert.equal(processor.streams.length, streams)
  }
  for (const path of [
    '/administration',
    '/ADMIN/agents',
    '//admin/agents',
    '/%61dmin/agents',
    '/x/../admin/agents',
  ])
    assert.equal((await send(path)).status, 403, path)
})

test('a listener with a certificate speaks HTTP/2 and HTTP/1.1 by negotiation', async () => {
  behave = passing()
  const { cert_file, key_file, ca } = await makeCertificates(['127.0.0.1'])
  const own = await start({ AGW_TLS_CERT_FILE: cert_file, AGW_TLS_KEY_FILE: key_file })
  for (const protocol of ['h2', 'http/1.1']) {
    const socket = connectTls({ host: '127.0.0.1', port: own.port, ca, ALPNProtocols: [protocol] })
    await once(socket, 'secureConnect')
    assert.equal(socket.alpnProtocol, protocol)
    socket.destroy()
  }
  const session = connectHttp2(`https://127.0.0.1:${own.port}`, { ca })
  const [headers] = await once(session.request({ ':path': '/x' }), 'response')
  assert.equal(headers[':status'], 200)
  session.close()
  await own.stop()
})

test('the forward proxy with TLS takes a CONNECT over HTTP/1.1, whatever else the client offers', async () => {
  const { cert_file, key_file, ca } = await makeCertificates(['127.0.0.1'])
  const port = await freePort()
  const own = await start({
    AGW_TLS_CERT_FILE: cert_file,
    AGW_TLS_KEY_FILE: key_file,
    AGW_FORWARD_TLS: 'on',
    AGW_FORWARD_PORT: String(port),
  })
  const connectIn = async (ALPNProtocols: readonly string[]): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: [...ALPNProtocols] })
    await once(socket, 'secureConnect')
    assert.equal(socket.alpnProtocol, 'http/1.1')
    socket.write('CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n')
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return head.toString().split('\r\n')[0] ?? ''
  }
  behave = tunnelling('tunnel')
  assert.match(await connectIn(['h2', 'http/1.1']), /^HTTP\/1\.1 200 /)
  behave = tunnelling('other')
  assert.match(await connectIn(['http/1.1']), /^HTTP\/1\.1 503 /)
  const plain = connect(port, '127.0.0.1')
  plain.write('CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n')
  let text = ''
  plain.on('data', (part: Buffer) => (text += part.toString('latin1')))
  await once(plain, 'close')
  assert.doesNotMatch(text, /HTTP\/1/)
  await own.stop()
})

async function counter(name: string): Promise<number> {
  const text = await envoy.admin(`/stats?usedonly&filter=^${name.replaceAll('.', '\\.')}$`)
  return Number(/: (\d+)/.exec(text)?.[1] ?? 0)
}

async function processorProcess(address: string) {
  const child = fork(fromRoot('dist', 'test', 'kit', 'processor-process.js'), [
    address,
    host,
    SECRET,
  ])
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the processor did not start'))),
  ])
  return child
}
