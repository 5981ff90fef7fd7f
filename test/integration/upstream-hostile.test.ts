import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { scripted } from '../kit/test-upstream/plain-routes.ts'
import { startRawUpstream } from '../kit/start-raw-upstream.ts'

// What an API must not do to the gateway or to its other callers, on the wire.

const stack = await sharedStack()
const answers = new Map<string, string>()
const raw = await startRawUpstream(
  (head) => answers.get(/^\S+ \/v1\/(\d+)/.exec(head)?.[1] ?? '') ?? '',
)
after(() => raw.stop())
const open = await stack.operator.makeAccess(`${raw.origin}/v1`)

const onlyGet = await (async () => {
  const agent = await stack.operator.makeAgent()
  await stack.operator.makeScope(agent.agent_id, open.integration.integration_id, {
    rules: [{ methods: ['GET'], paths: ['/**'] }],
  })
  return { headers: { authorization: `Bearer ${agent.api_key}` } }
})()

/** Calls the raw upstream, which answers with these bytes. */
const answeredWith = (bytes: string, http_version: '1.1' | '2' = '1.1') => {
  const number = String(answers.size)
  answers.set(number, bytes)
  return stack.callAs(open, `/${number}`, { http_version })
}

const EMPTY = 'content-length: 0\r\n\r\n'
const broken: Readonly<Record<string, string>> = {
  'a header of 90,000 bytes': `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(90_000)}\r\n${EMPTY}`,
  'a header of a megabyte': `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(1 << 20)}\r\n${EMPTY}`,
  'headers of 150,000 bytes together': `HTTP/1.1 200 OK\r\n${`x-a: ${'a'.repeat(3_000)}\r\n`.repeat(50)}${EMPTY}`,
  '150 headers': `HTTP/1.1 200 OK\r\n${'x-a: a\r\n'.repeat(150)}${EMPTY}`,
  '5,000 headers': `HTTP/1.1 200 OK\r\n${'x-a: a\r\n'.repeat(5_000)}${EMPTY}`,
  'a header name of 100,000 bytes': `HTTP/1.1 200 OK\r\n${'x'.repeat(100_000)}: a\r\n${EMPTY}`,
  'an invalid status line': `HTTX/1.1 200 OK\r\n${EMPTY}`,
  'a Transfer-Encoding that is not chunked': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n',
  'two Content-Lengths': `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${EMPTY}`,
  'a NUL in a header': `HTTP/1.1 200 OK\r\nx-a: a\0b\r\n${EMPTY}`,
  'a control character in a header': `HTTP/1.1 200 OK\r\nx-a: a\x01b\r\n${EMPTY}`,
  'a blank in a header name': `HTTP/1.1 200 OK\r\nx a: b\r\n${EMPTY}`,
}

for (const [name, bytes] of Object.entries(broken))
  test(`a response that cannot be read is 502 upstream_reset: ${name}`, async () => {
    for (const http_version of ['1.1', '2'] as const) {
      const answer = await answeredWith(bytes, http_version)
      assertRefusal(answer, 502, 'upstream_reset', { base_url: open.base_url })
    }
  })

for (const [name, lines] of Object.entries({
  'to WebSocket': 'connection: upgrade\r\nupgrade: websocket\r\n\r\n',
  'with a body behind it': 'connection: upgrade\r\nupgrade: x\r\n\r\nGET / HTTP/1.1\r\n\r\n',
  'without a word': '\r\n',
  'with a length': 'content-length: 2\r\n\r\nok',
}))
  test(`an unasked 101 is 502 upstream_reset: ${name}`, async () => {
    for (const http_version of ['1.1', '2'] as const) {
      const answer = await answeredWith(
        `HTTP/1.1 101 Switching Protocols\r\n${lines}`,
        http_version,
      )
      assertRefusal(answer, 502, 'upstream_reset', { base_url: open.base_url })
    }
  })

for (const status of ['2000 OK', '1999 X'])
  test(`a status that HTTP does not have is 502 upstream_reset: ${status}`, async () => {
    assertRefusal(await answeredWith(`HTTP/1.1 ${status}\r\n${EMPTY}`), 502, 'upstream_reset')
  })

test('a response header that is too large is 502 upstream_reset over HTTP/2 to the API as well', async () => {
  const access = await stack.operator.makeAccess(stack.ownBaseUrl('https2'))
  const many = Array.from({ length: 150 }, (_, i) => [`x-${i}`, 'a'] as const)
  for (const path of [
    '/large-header?bytes=200000',
    scripted({ status: 200, headers: many, pieces: [], is_chunked: false }),
  ]) {
    const answer = await stack.callAs(access, path)
    assertRefusal(answer, 502, 'upstream_reset')
  }
})

/** What a browser, another client or a web server in front of the gateway would apply to all that has its origin. */
const ACTS_ON_ORIGIN = {
  'Accept-CH': 'Sec-CH-UA-Model',
  'Alt-Svc': 'h3="evil.test:443"; ma=86400',
  'Alternate-Protocol': '443:quic',
  'Clear-Site-Data': '"*"',
  'Critical-CH': 'Sec-CH-UA-Model',
  'Expect-CT': 'max-age=86400, enforce',
  NEL: '{"report_to":"x","max_age":86400,"include_subdomains":true}',
  'Origin-Agent-Cluster': '?1',
  'Public-Key-Pins': 'pin-sha256="x"; max-age=86400',
  'Public-Key-Pins-Report-Only': 'pin-sha256="x"; max-age=86400',
  'Report-To': '{"group":"x","max_age":86400,"endpoints":[{"url":"https://evil.test"}]}',
  'Reporting-Endpoints': 'x="https://evil.test"',
  'Service-Worker-Allowed': '/',
  'Set-Cookie2': 'a=b',
  'Set-Login': 'logged-in',
  'STRICT-TRANSPORT-SECURITY': 'max-age=31536000; includeSubDomains; preload',
  'Use-As-Dictionary': 'match="/*"',
  'X-Accel-Redirect': '/internal/secret',
  'X-Lighttpd-Send-File': '/etc/passwd',
  'X-Sendfile': '/etc/passwd',
} as const
/** In a trailer these have no use; some clients merge trailers into the headers. */
const LEADS_ELSEWHERE = {
  Location: '/http://other.test/',
  'Content-Location': '/http://other.test/',
  Link: '</http://other.test/>; rel=next',
  Refresh: '0; url=/http://other.test/',
  'Set-Cookie': 'a=b; Path=/',
} as const
const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

for (const http_version of ['1.1', '2'] as const) {
  test(`trailers neither act on the origin nor lead elsewhere (to HTTP/${http_version})`, async () => {
    const answer = await answeredWith(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${lines({ ...ACTS_ON_ORIGIN, ...LEADS_ELSEWHERE })}X-Checksum: abc\r\n\r\n`,
      http_version,
    )
    assert.equal(answer.body.toString(), 'ok')
    assert.deepEqual(answer.trailers, { 'x-checksum': 'abc' })
  })
}

const authorized = `Host: gateway\r\nAuthorization: ${open.headers.authorization}`

for (const coding of [
  'gzip',
  'gzip, chunked',
  'identity',
  'chunked, chunked',
  'chunked;q=1',
  'x',
  '',
])
  test(`a request with Transfer-Encoding: ${coding || '(empty)'} is 400`, async () => {
    const before = raw.heads.length
    const bytes = `POST /${open.base_url}/0 HTTP/1.1\r\n${authorized}\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`
    const [answer] = (await rawHttp(stack.proxyUrl, bytes)).answers
    assert.equal(answer?.status, 400)
    assert.equal(JSON.parse(answer?.body ?? '').error, 'bad_request')
    assert.match(answer?.head ?? '', /x-agw-reason: bad_request/)
    assert.equal(raw.heads.length, before)
  })

for (const method of ['TRACE', 'TRACK', 'trace', 'Track', 'tRaCe'])
  test(`${method} over HTTP/1.1 is 403`, async () => {
    const before = raw.heads.length
    const [answer] = (
      await rawHttp(
        stack.proxyUrl,
        `${method} /${open.base_url}/0 HTTP/1.1\r\n${authorized}\r\n\r\n`,
      )
    ).answers
    assert.equal(answer?.status, 403)
    const body = JSON.parse(answer?.body ?? '')
    assert.equal(body.error, 'permission_denied')
    assert.equal(body.details.reason, 'method_not_allowed')
    assert.equal(raw.heads.length, before)
  })

const CARRIED = ['FOO', 'foo', 'M-SEARCH', 'PURGE', 'PROPFIND', "a!#$%&'*+-.^_`|~9", 'PRI', 'get']
for (const method of CARRIED)
  test(`the method ${method} reaches the check of scopes, and the API where a rule allows it`, async () => {
    const number = String(answers.size)
    answers.set(number, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    const ask = (who: string) =>
      rawHttp(
        stack.proxyUrl,
        `${method} /${open.base_url}/${number} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${who}\r\n\r\n`,
      )
    const [answer] = (await ask(open.headers.authorization)).answers
    assert.equal(answer?.status, 200)
    assert.ok(raw.heads.at(-1)?.startsWith(`${method} /v1/${number} `), raw.heads.at(-1))
    const before = raw.heads.length
    const [refused] = (await ask(onlyGet.headers.authorization)).answers
    assert.equal(refused?.status, 403)
    assert.equal(JSON.parse(refused?.body ?? '').error, 'permission_denied')
    assert.equal(raw.heads.length, before)
  })
for (const method of ['A@B', '(A)', 'A/B', 'A,B', 'Ä', 'A"B', 'A:B'])
  test(`the method ${method}, which is no token, is 400`, async () => {
    const before = raw.heads.length
    const [answer] = (
      await rawHttp(
        stack.proxyUrl,
        `${method} /${open.base_url}/0 HTTP/1.1\r\n${authorized}\r\n\r\n`,
      )
    ).answers
    assert.equal(answer?.status, 400)
    assert.equal(JSON.parse(answer?.body ?? '').error, 'bad_request')
    assert.equal(raw.heads.length, before)
  })

test('QUERY needs a Content-Type, as its standard says; with one it is carried', async () => {
  const number = String(answers.size)
  answers.set(number, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  for (const [more, status] of [
    ['', 400],
    ['Content-Type: text/plain\r\n', 200],
  ] as const) {
    const bytes = `QUERY /${open.base_url}/${number} HTTP/1.1\r\n${authorized}\r\n${more}Content-Length: 2\r\n\r\nab`
    const [answer] = (await rawHttp(stack.proxyUrl, bytes)).answers
    assert.equal(answer?.status, status)
  }
})
