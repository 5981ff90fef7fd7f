import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpCall } from '../kit/call.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { rawHttp2 } from '../kit/raw-http2.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import type { ReceivedRequest } from '../kit/test-upstream/received-request.ts'

const stack = await sharedStack()
const { operator } = stack

/** GET below /public is all that the agent may do here. */
const access = await operator.makeAccess(stack.ownBaseUrl('http'), {
  rules: [{ methods: ['GET'], paths: ['/public/**'] }],
})
const base = new URL(access.base_url)
const key = access.headers.authorization
stack.dns.set('private.test', ['10.0.0.7'])
stack.dns.set('link-local.test', ['169.254.169.254'])
stack.dns.set('private6.test', ['fd00::7'])
stack.dns.set('mapped.test', ['::ffff:0a00:0007'])
for (const name of ['private.test', 'link-local.test', 'private6.test', 'mapped.test']) {
  const { integration_id } = await operator.makeIntegration(
    `http://${name}:${stack.api.ports.http}`,
  )
  await operator.makeScope(access.agent.agent_id, integration_id)
}

/** The path as the most eager upstream might read it: decoded until stable, parameters cut off, dots and slashes resolved. */
function lenientPath(raw: string): string {
  let path = raw.split('?')[0] ?? ''
  for (let round = 0; round < 10; round++) {
    const before = path
    path = path.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (path === before) break
  }
  const segments: string[] = []
  for (const part of path.replaceAll('\\', '/').split('/')) {
    const segment = part.split(';')[0] ?? ''
    if (segment === '..') segments.pop()
    else if (segment !== '.' && segment !== '') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

/** Nothing arrived but what the scope allows, however eagerly it is read, and at the integration's own host. */
function assertWithinScope(received: readonly ReceivedRequest[]): void {
  for (const one of received) {
    const what = `${one.method} ${one.host} ${one.path}`
    assert.equal(one.method, 'GET', what)
    assert.equal(one.host, base.host, what)
    assert.ok(lenientPath(one.path).startsWith(`${base.pathname}/public/`), what)
    assert.equal(one.header('authorization'), `Bearer ${STORED_CREDENTIAL}`, what)
    assert.ok(!JSON.stringify(one.headers).includes(access.agent.api_key), what)
  }
}

test('the allowed call passes, so that the attempts below fail for their own reason', async () => {
  const sent = stack.api.mark()
  const answer = await stack.callAs(access, '/public/a')
  assert.equal(answer.status, 200)
  assert.equal(sent().length, 1)
  assertWithinScope(sent())
})

const up = base.pathname
const paths: Record<string, string> = {
  'dot segments': `/${access.base_url}/public/../secret`,
  'dot segments at the end': `/${access.base_url}/public/..`,
  'encoded dots': `/${access.base_url}/public/%2e%2e/secret`,
  'half-encoded dots': `/${access.base_url}/public/.%2E/secret`,
  'an encoded slash and dots': `/${access.base_url}/public/..%2fsecret`,
  'encoded slashes and dots': `/${access.base_url}/public/%2e%2e%2fsecret`,
  'a climb behind an encoded slash': `/${access.base_url}/public/a%2f..%2f..%2fsecret`,
  'doubly encoded dots and slash': `/${access.base_url}/public/%252e%252e%252fsecret`,
  'triply encoded dots and slash': `/${access.base_url}/public/%25252e%25252e%25252fsecret`,
  'fivefold encoding': `/${access.base_url}/public/%252525252e%252525252e/secret`,
  'a backslash': `/${access.base_url}/public\\..\\secret`,
  'an encoded backslash': `/${access.base_url}/public/..%5csecret`,
  'a parameter behind dots': `/${access.base_url}/public/..;/secret`,
  'a parameter before dots': `/${access.base_url}/public/;/../secret`,
  'an encoded parameter': `/${access.base_url}/public/..%3b/secret`,
  'parameters that make a segment empty': `/${access.base_url}/;x/secret`,
  'empty segments': `/${access.base_url}//secret`,
  'an overlong UTF-8 dot': `/${access.base_url}/public/%c0%ae%c0%ae/secret`,
  'a NUL': `/${access.base_url}/secret%00/public/a`,
  'a line break': `/${access.base_url}/public/a%0d%0aX-Injected:1`,
  '%u escapes': `/${access.base_url}/public/%u002e%u002e/secret`,
  'a lone percent sign': `/${access.base_url}/public/%/../secret`,
  'another case of the allowed path': `/${access.base_url}/PUBLIC/../secret`,
  'an upper-case spelling of a path that no rule has': `/${access.base_url}/SECRET`,
  'a fragment': `/${access.base_url}/public/a#/../../secret`,
  'a question mark that is encoded': `/${access.base_url}/secret%3f/public/a`,
  'the base URL as a mere prefix': `/${access.base_url}x/public/a`,
  'user info': `/http://${base.host}@evil.test/public/a`,
  'user info with the host behind it': `/http://evil.test@${base.host}${up}/public/a`,
  'a password in the target': `/http://u:p@${base.host}${up}/public/a`,
  'a backslash before the host': `/http://evil.test\\@${base.host}${up}/public/a`,
  'another port': `/http://${base.hostname}:${stack.api.ports.http2}${up}/public/a`,
  'no port': `/http://${base.hostname}${up}/public/a`,
  'a port with a sign': `/http://${base.hostname}:+${base.port}${up}/public/a`,
  'a port with a zero': `/http://${base.hostname}:0${base.port}${up}/public/a`,
  'the other scheme': `/https://${base.host}${up}/public/a`,
  'a mixed-case host': `/hTTp://API.Test:${base.port}${up}/public/a`,
  'a trailing dot': `/http://api.test.:${base.port}${up}/public/a`,
  'two trailing dots': `/http://api.test..:${base.port}${up}/public/a`,
  'an encoded host': `/http://%61pi.test:${base.port}${up}/public/a`,
  'a full-width host': `/http://\uff41pi.test:${base.port}${up}/public/a`,
  'one slash after the colon': `/http:/${base.host}${up}/public/a`,
  'three slashes': `/http:///${base.host}${up}/public/a`,
  'no slash': `/http:${base.host}${up}/public/a`,
  'the loopback address': `/http://127.0.0.1:${base.port}${up}/public/a`,
  localhost: `/http://localhost:${base.port}${up}/public/a`,
  'a short IPv4 address': `/http://127.1:${base.port}${up}/public/a`,
  'a decimal IPv4 address': `/http://2130706433:${base.port}${up}/public/a`,
  'a hexadecimal IPv4 address': `/http://0x7f000001:${base.port}${up}/public/a`,
  'an octal IPv4 address': `/http://0177.0.0.1:${base.port}${up}/public/a`,
  'IPv6 loopback': `/http://[::1]:${base.port}${up}/public/a`,
  'IPv4 inside IPv6': `/http://[::ffff:127.0.0.1]:${base.port}${up}/public/a`,
  'a zone in an IPv6 address': `/http://[fe80::1%25lo]:${base.port}${up}/public/a`,
  'a name of a private address': `/http://private.test:${base.port}/public/a`,
  'a name of a link-local address': `/http://link-local.test:${base.port}/public/a`,
  'a name of a private IPv6 address': `/http://private6.test:${base.port}/public/a`,
  'a name of a private IPv4 address inside IPv6': `/http://mapped.test:${base.port}/public/a`,
  'a whole URL in the query': `/?url=http://${base.host}${up}/secret`,
  'a path that the admin service has': '/admin/agents',
  'the admin service behind dots': `/admin/../${access.base_url}/secret`,
}

for (const [name, path] of Object.entries(paths)) {
  test(`past the scope by the target: ${name}`, async () => {
    const sent = stack.api.mark()
    const wire = Buffer.from(path, 'utf8').toString('latin1')
    const { answers } = await rawHttp(
      stack.proxyUrl,
      `GET ${wire} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${key}\r\n\r\n`,
    )
    assert.ok((answers[0]?.status ?? 0) >= 200, 'no answer')
    assertWithinScope(sent())
    if (sent().length === 0) assert.ok((answers[0]?.status ?? 0) >= 400)

    const again = stack.api.mark()
    await rawHttp2(stack.proxyUrl, {
      headers: [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':authority', 'gateway'],
        [':path', wire],
        ['authorization', key],
      ],
    })
    assertWithinScope(again())
  })
}

const secret = `/${access.base_url}/secret`
const allowed = `/${access.base_url}/public/a`
const verdict = {
  'x-agw-pass': stack.verdictSecret,
  'x-agw-up': 'http',
  'x-agw-host': base.host,
}
const headers: Record<
  string,
  { readonly path: string; readonly method?: string; readonly headers: HttpCall['headers'] }
> = {
  'verdict headers of somebody who knows the secret': {
    path: secret,
    headers: { ...access.headers, ...verdict },
  },
  'verdict headers without a key': { path: '/secret', headers: verdict },
  'verdict headers at the admin route': {
    path: '/admin/agents',
    headers: { ...access.headers, ...verdict },
  },
  'verdict headers that Connection nominates': {
    path: secret,
    headers: { ...access.headers, ...verdict, connection: 'x-agw-pass, x-agw-up, x-agw-host' },
  },
  'verdict headers with underscores': {
    path: secret,
    headers: {
      ...access.headers,
      x_agw_pass: stack.verdictSecret,
      x_agw_up: 'http',
      x_agw_host: base.host,
    },
  },
  'verdict headers twice': {
    path: secret,
    headers: [
      ['Authorization', key],
      ...Object.entries(verdict),
      ...Object.entries(verdict).map(([name, value]) => [name.toUpperCase(), value] as const),
    ],
  },
  'another target host': {
    path: allowed,
    headers: { ...access.headers, 'x-agw-host': 'evil.test' },
  },
  'another Host': { path: allowed, headers: { ...access.headers, host: 'evil.test' } },
  'another Host that the agent may reach': {
    path: secret,
    headers: { ...access.headers, host: base.host },
  },
  'X-Forwarded-Host': {
    path: allowed,
    headers: { ...access.headers, 'x-forwarded-host': 'evil.test' },
  },
  'X-Original-URL': {
    path: allowed,
    headers: { ...access.headers, 'x-original-url': `${up}/secret` },
  },
  'X-Rewrite-URL': {
    path: allowed,
    headers: { ...access.headers, 'x-rewrite-url': `${up}/secret` },
  },
  'X-HTTP-Method-Override': {
    path: allowed,
    headers: { ...access.headers, 'x-http-method-override': 'DELETE' },
  },
  'X-Envoy-Original-Path': {
    path: secret,
    headers: { ...access.headers, 'x-envoy-original-path': allowed },
  },
  'two Authorization headers': {
    path: allowed,
    headers: [
      ['Authorization', 'Bearer other'],
      ['Authorization', key],
    ],
  },
  'an invalid method': { path: allowed, method: 'FETCH', headers: access.headers },
  'a method in lower case': { path: allowed, method: 'get', headers: access.headers },
  TRACE: { path: allowed, method: 'TRACE', headers: access.headers },
  'Connection that nominates the credential': {
    path: allowed,
    headers: { ...access.headers, connection: 'authorization, via, host' },
  },
}

for (const [name, one] of Object.entries(headers)) {
  test(`past the scope by the header: ${name}`, async () => {
    const sent = stack.api.mark()
    const lines = [
      `${one.method ?? 'GET'} ${one.path} HTTP/1.1`,
      ...(Object.keys(one.headers ?? {}).includes('host') ? [] : ['Host: gateway']),
      ...(Array.isArray(one.headers) ? one.headers : Object.entries(one.headers ?? {})).map(
        ([header, value]) => `${header}: ${value}`,
      ),
    ]
    const { answers } = await rawHttp(stack.proxyUrl, `${lines.join('\r\n')}\r\n\r\n`)
    assert.ok((answers[0]?.status ?? 0) >= 200, 'no answer')
    assertWithinScope(sent())
    for (const received of sent()) {
      const names = received.headers.map(([header]) => header.toLowerCase().replaceAll('_', '-'))
      assert.deepEqual(
        names.filter((header) => /^x-(agw|forwarded|envoy)-/.test(header)),
        [],
      )
    }
  })
}

const smuggled = `GET ${secret} HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}\r\nX-Smuggled: 1\r\n\r\n`
const toUpstream = `GET ${up}/secret HTTP/1.1\r\nHost: ${base.host}\r\n\r\n`
const head = (line: string, ...rest: string[]): string =>
  `${[line, 'Host: gateway', `Authorization: ${key}`, ...rest].join('\r\n')}\r\n\r\n`
const get = `GET ${allowed} HTTP/1.1`
const shapes: Record<string, string> = {
  'Content-Length and Transfer-Encoding': `${head(get, `Content-Length: ${toUpstream.length + 5}`, 'Transfer-Encoding: chunked')}0\r\n\r\n${toUpstream}`,
  'Transfer-Encoding and a shorter Content-Length': `${head(get, 'Transfer-Encoding: chunked', 'Content-Length: 4')}${toUpstream.length.toString(16)}\r\n${toUpstream}\r\n0\r\n\r\n`,
  'two Content-Lengths': `${head(get, 'Content-Length: 0', `Content-Length: ${toUpstream.length}`)}${toUpstream}`,
  'a list of Content-Lengths': `${head(get, `Content-Length: 0, ${toUpstream.length}`)}${toUpstream}`,
  'a signed Content-Length': `${head(get, `Content-Length: +${toUpstream.length}`)}${toUpstream}`,
  'a hexadecimal Content-Length': `${head(get, 'Content-Length: 0x0')}${toUpstream}`,
  'Transfer-Encoding that is not the last coding': `${head(get, 'Transfer-Encoding: chunked, gzip')}0\r\n\r\n${toUpstream}`,
  'Transfer-Encoding twice': `${head(get, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${toUpstream}`,
  'a folded Transfer-Encoding': `${head(get, 'Transfer-Encoding:\r\n chunked')}0\r\n\r\n${toUpstream}`,
  'Transfer-Encoding with a space before the colon': `${head(get, 'Transfer-Encoding : chunked')}0\r\n\r\n${toUpstream}`,
  'Transfer-Encoding with a vertical tab': `${head(get, 'Transfer-Encoding: \x0bchunked')}0\r\n\r\n${toUpstream}`,
  'an obsolete fold': `${head(get, `X-A: b\r\n GET ${secret} HTTP/1.1`)}`,
  'a fold in the first header': `${get}\r\n X-A: b\r\nHost: gateway\r\nAuthorization: ${key}\r\n\r\n`,
  'a bare line feed': `${get}\nHost: gateway\nAuthorization: ${key}\nX-A: b\r\n\r\n`,
  'a carriage return in a value': `${head(get, `X-A: b\rX-Smuggled: 1`)}`,
  'a NUL in a value': `${head(get, 'X-A: b\0c')}`,
  'a chunk extension with a line feed': `${head(`POST ${allowed} HTTP/1.1`, 'Transfer-Encoding: chunked')}1;a=\nx\r\nx\r\n0\r\n\r\n`,
  'a chunk size too large': `${head(get, 'Transfer-Encoding: chunked')}ffffffffffffffffff\r\nx\r\n0\r\n\r\n`,
  'a request behind a GET with a body': `${head(get, `Content-Length: ${smuggled.length}`)}${smuggled}`,
  'a second request in the pipeline that is not allowed': `${head(get)}${smuggled}`,
  'the absolute form of the gateway': `${head(`GET http://gateway${secret} HTTP/1.1`)}`,
  'the absolute form of the upstream': `${head(`GET http://${base.host}${up}/secret HTTP/1.1`)}`,
  'the absolute form of an allowed call': `${head(`GET http://gateway${allowed} HTTP/1.1`)}`,
  'an asterisk': head('OPTIONS * HTTP/1.1'),
  CONNECT: head(`CONNECT ${base.host} HTTP/1.1`),
  'CONNECT with a path': head(`CONNECT ${allowed} HTTP/1.1`),
  'an upgrade with a body': `${head(`GET ${allowed} HTTP/1.1`, 'Connection: Upgrade', 'Upgrade: websocket', `Content-Length: ${toUpstream.length}`)}${toUpstream}`,
  'an upgrade to HTTP/2': head(
    get,
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  ),
  'HTTP/1.0': `GET ${secret} HTTP/1.0\r\nHost: a\r\nAuthorization: ${key}\r\n\r\n`,
  'HTTP/0.9': `GET ${secret}\r\n`,
  'no Host': `${get}\r\nAuthorization: ${key}\r\n\r\n`,
  'two Hosts': `${head(get, `Host: ${base.host}`)}`,
  'a space in the target': head(`GET ${allowed} ${secret} HTTP/1.1`),
  'oversized headers': head(get, `X-Large: ${'x'.repeat(120_000)}`),
  'too many headers': head(get, ...Array.from({ length: 300 }, (_, i) => `X-${i}: 1`)),
  'a trailer that names a verdict': `${head(`GET ${allowed} HTTP/1.1`, 'Transfer-Encoding: chunked', 'Trailer: x-agw-pass')}0\r\nx-agw-pass: ${stack.verdictSecret}\r\nx-a: b\r\n\r\n`,
}

for (const [name, bytes] of Object.entries(shapes)) {
  test(`past the scope by the shape: ${name}`, async () => {
    const sent = stack.api.mark()
    await rawHttp(stack.proxyUrl, bytes, 2)
    for (const received of sent()) await received.ended
    assertWithinScope(sent())
    // Whatever stands behind the first request is its body, a second one of ours, or refused: never a call of its own.
    assert.ok(sent().length <= 1)
    for (const received of sent()) {
      assert.equal(received.header('x-smuggled'), undefined)
      assert.deepEqual(received.trailers, [])
    }
  })
}

const pseudo = (more: ReadonlyArray<readonly [string, string]>, path = allowed) => [
  [':method', 'GET'] as const,
  [':scheme', 'http'] as const,
  [':authority', 'gateway'] as const,
  [':path', path] as const,
  ['authorization', key] as const,
  ...more,
]
const http2: Record<string, ReadonlyArray<readonly [string, string]>> = {
  'two paths': [[':path', secret] as const, ...pseudo([])],
  'a path after a header': pseudo([[':path', secret]]),
  'two methods': [[':method', 'DELETE'] as const, ...pseudo([])],
  'no path': pseudo([]).filter(([name]) => name !== ':path'),
  'an empty path': pseudo([], ''),
  'a path without a slash': pseudo([], `${access.base_url}/public/a`),
  'a path with a line break': pseudo(
    [],
    `${allowed} HTTP/1.1\r\nX-Smuggled: 1\r\n\r\nGET ${secret}`,
  ),
  'a path with a space': pseudo([], `${allowed} HTTP/1.1`),
  'a method with a line break': pseudo([]).map(
    ([name, value]) => [name, name === ':method' ? 'GET /secret HTTP/1.1\r\nX: ' : value] as const,
  ),
  'an authority with a path': pseudo([]).map(
    ([name, value]) => [name, name === ':authority' ? `${base.host}/secret` : value] as const,
  ),
  'an authority and another host': pseudo([['host', base.host]]),
  'another scheme': pseudo([]).map(
    ([name, value]) => [name, name === ':scheme' ? 'https' : value] as const,
  ),
  'an invalid scheme': pseudo([]).map(
    ([name, value]) => [name, name === ':scheme' ? 'http://evil' : value] as const,
  ),
  'an unknown pseudo-header': [[':agw', '1'] as const, ...pseudo([])],
  ':status in a request': [[':status', '200'] as const, ...pseudo([])],
  'extended CONNECT': [
    [':method', 'CONNECT'],
    [':protocol', 'websocket'],
    [':scheme', 'http'],
    [':authority', base.host],
    [':path', allowed],
    ['authorization', key],
  ],
  CONNECT: [
    [':method', 'CONNECT'],
    [':authority', base.host],
    ['authorization', key],
  ],
  'Transfer-Encoding': pseudo([['transfer-encoding', 'chunked']]),
  Connection: pseudo([['connection', 'authorization']]),
  'an upper-case header name': pseudo([['X-Agw-Pass', stack.verdictSecret]]),
  'a header name with a line break': pseudo([['x-a\r\nx-smuggled', '1']]),
  'a header value with a line break': pseudo([['x-a', 'b\r\nx-smuggled: 1']]),
  'a header name with a colon': pseudo([['x-a:b', '1']]),
  'verdict headers': pseudo(Object.entries(verdict), secret),
  'a Content-Length that is not the body': pseudo([['content-length', '5']]),
}

for (const [name, fields] of Object.entries(http2)) {
  test(`past the scope by HTTP/2: ${name}`, async () => {
    const sent = stack.api.mark()
    await rawHttp2(stack.proxyUrl, { headers: fields })
    for (const received of sent()) await received.ended
    assertWithinScope(sent())
    for (const received of sent()) assert.equal(received.header('x-smuggled'), undefined)
  })
}

test('past the address filter by a name that changes its address', async () => {
  const name = 'rebinding.test'
  stack.dns.set(name, ['127.0.0.1'])
  const rebinding = await operator.makeAccess(`http://${name}:${stack.api.ports.http}`)
  const ask = () => stack.callAs(rebinding, '/x')
  assert.equal((await ask()).status, 200)
  stack.dns.set(name, ['169.254.169.254'])
  // Whatever the name says from now on: either the address that was checked is used, or the new one is refused.
  for (let i = 0; i < 5; i++) {
    const sent = stack.api.mark()
    const answer = await ask()
    assert.ok(answer.status === 200 ? sent().length === 1 : answer.status === 502)
  }
})
