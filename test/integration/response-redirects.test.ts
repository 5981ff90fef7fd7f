import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { startRawUpstream } from '../kit/start-raw-upstream.ts'
import { until } from '../kit/until.ts'

// One origin for all APIs must not join what the web keeps apart. What a value means is in test/unit/response-*.

const stack = await sharedStack()
const answers = new Map<string, string>()
const raw = await startRawUpstream(
  (head) => answers.get(/^\S+ \S*\/(\d+)(?:\?\S*)? HTTP/.exec(head)?.[1] ?? '') ?? '',
)
after(() => raw.stop())
const open = await stack.operator.makeAccess(`${raw.origin}/v1`)

/** Calls the API, which answers with a status and these header lines. */
function answeredWith(
  status: number,
  lines: readonly string[],
  { access = open, ...more }: { access?: typeof open } & Partial<Parameters<typeof call>[0]> = {},
) {
  const number = String(answers.size)
  const noBody = status === 204 || status === 304
  answers.set(
    number,
    `HTTP/1.1 ${status} X\r\n${lines.map((line) => `${line}\r\n`).join('')}${noBody ? '' : 'content-length: 2\r\n'}\r\n${noBody ? '' : 'ok'}`,
  )
  return call({
    to: stack.proxyUrl,
    path: `/${access.base_url}/${number}`,
    headers: access.headers,
    ...more,
  })
}
const cookiesOf = (answer: { headers: ReadonlyArray<readonly [string, string]> }): string[] =>
  answer.headers.flatMap(([name, value]) => (name.toLowerCase() === 'set-cookie' ? [value] : []))

const linksOf = (from: number, count: number): string =>
  `Link: ${Array.from({ length: count }, (_, i) => `<${from + i}>`).join()}`

const proxy = new URL(stack.proxyUrl)
const refused: readonly (readonly [status: number, lines: readonly string[], reason: string])[] = [
  [307, ['Location: /http://other.test/v1/secret'], 'target_path'],
  [302, ['LOCATION: /HTTPS:/other.test/'], 'target_path'],
  [201, ['Location: ../../../http://other.test/'], 'target_path'],
  [200, ['Location: /%68ttp%3a//other.test/'], 'target_path'],
  [404, ['Location: \\http://other.test/'], 'target_path'],
  [308, ['Location: /\thttp://other.test/'], 'target_path'],
  [302, ['Location: /\xefttp/../http://other.test/'], 'target_path'],
  [302, [`Location: http://127.0.0.1:${proxy.port}/http://other.test/`], 'gateway_address'],
  [302, [`Location: //localhost:${proxy.port}/admin/agents`], 'gateway_address'],
  [302, [`Location: http://2130706433:${proxy.port}/`], 'gateway_address'],
  [302, [`Location: http://[::ffff:7f00:1]:${proxy.port}/`], 'gateway_address'],
  [302, [`Location: ${stack.apiUrl}/`], 'gateway_address'],
  [302, ['Location: http:/other.test/'], 'unreadable'],
  [302, ['Location: http://[bad/'], 'unreadable'],
  [200, ['Content-Location: /http://other.test/'], 'target_path'],
  [200, ['Refresh: 0; url=/http://other.test/'], 'target_path'],
  [200, ['Link: </v1/2>; rel=next', 'Link: </http://other.test/>; rel=prev'], 'target_path'],
  [204, ['Location: /http://other.test/'], 'target_path'],
  [304, ['Content-Location: /http://other.test/'], 'target_path'],
  [201, ['Location: /v1/..%2f..%2fother.test/'], 'target_path'],
  [302, [`Location: http://127.0.0.1:1/`], 'gateway_address'],
  [302, ['Location: url:/http://other.test/'], 'target_path'],
  [200, ['Link: <x</http://other.test/>; rel=next'], 'target_path'],
  [401, ['WWW-Authenticate: Bearer resource_metadata="/http://other.test/"'], 'target_path'],
  [
    401,
    [`WWW-Authenticate: Bearer realm="${stack.proxyUrl}/http://other.test/"`],
    'gateway_address',
  ],
  [407, ['Proxy-Authenticate: Bearer realm="/http://other.test/"'], 'target_path'],
  [201, ['OData-EntityId: /http://other.test/'], 'target_path'],
  [200, ['X-Storage-Url: /http://other.test/'], 'target_path'],
  // Followed by the clients of Azure and of Google.
  [202, ['Operation-Location: /http://other.test/'], 'target_path'],
  [201, [`Azure-AsyncOperation: ${stack.proxyUrl}/http://other.test/`], 'gateway_address'],
  [200, ['X-Goog-Upload-URL: /%68ttp://other.test/'], 'target_path'],
  [200, ['X-Goog-Upload-Control-URL: /http://other.test/'], 'target_path'],
  // A few headers of many references each would hold the processor for seconds.
  [200, [linksOf(0, 200), linksOf(200, 57)], 'too_many'],
]

for (const [status, lines, reason] of refused)
  test(`502 redirect_refused: ${status} ${JSON.stringify(lines.join(', '))}`, async () => {
    for (const http_version of ['1.1', '2'] as const) {
      const answer = await answeredWith(status, lines, { http_version })
      assertRefusal(answer, 502, 'redirect_refused', { base_url: open.base_url, reason })
      assert.equal(answer.header('location'), undefined)
    }
  })

test('a refused redirect is logged before its answer, and counted', async () => {
  const access = await stack.operator.makeAccess(`${raw.origin}/v1/logged`)
  answers.set(
    '',
    `HTTP/1.1 302 X\r\nlocation: /http://other.test/x?token=1\r\ncontent-length: 0\r\n\r\n`,
  )
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${stack.apiUrl}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.includes('reason="redirect_refused"'))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  const before = await counted()
  const answer = await stack.callAs(access, '/x')
  assertRefusal(answer, 502, 'redirect_refused')
  const { data } = await stack.operator.send(
    'GET',
    `/admin/activity?agent_id=${access.agent.agent_id}&decision=blocked`,
  )
  assert.equal(data.length, 1)
  assert.equal(data[0].reason, 'redirect_refused')
  assert.equal(data[0].status, 502)
  assert.deepEqual(data[0].data, {
    base_url: access.base_url,
    header: 'location',
    reason: 'target_path',
    leads_to: '/http://other.test/x',
  })
  await until('the refusal is counted', async () => (await counted()) > before)
})

test('a relative redirect leads to the same API, and works', async () => {
  for (const http_version of ['1.1', '2'] as const) {
    const after = await answeredWith(200, ['x-reached: yes'], { http_version })
    assert.equal(after.status, 200)
    const number = String(answers.size - 1)
    for (const reference of [
      `/v1/${number}`,
      number,
      `./${number}`,
      `//${new URL(raw.origin).host}/v1/${number}`,
    ]) {
      const answer = await answeredWith(307, [`Location: ${reference}`], { http_version })
      assert.equal(answer.status, 307)
      assert.equal(answer.header('location'), `/${raw.origin}/v1/${number}`)
      const reached = await call({
        to: stack.proxyUrl,
        path: answer.header('location') ?? '',
        headers: open.headers,
        http_version,
      })
      assert.equal(reached.header('x-reached'), 'yes')
    }
  }
})

test('a redirect to another integration passes where a scope allows the GET that follows; its links are left out', async () => {
  const other = await stack.operator.makeIntegration(`${raw.origin}/v1/neighbour`, {
    auth: { type: 'bearer', token: 'stored-for-the-neighbour' },
  })
  const redirects = [
    'Location: /v1/neighbour/x',
    'Location: neighbour/x',
    `Location: ${raw.origin}/v1/neighbour/x`,
  ]
  for (const line of [...redirects, `Location: ${raw.origin}/v1/Neighbour/x`]) {
    const answer = await answeredWith(307, [line])
    assertRefusal(answer, 502, 'redirect_refused', { reason: 'other_integration' })
  }
  for (const line of ['Link: </v1/neighbour/x>; rel=next', 'Content-Location: neighbour/x']) {
    const answer = await answeredWith(200, [line])
    assert.equal(answer.status, 200)
    const [name = ''] = line.toLowerCase().split(':')
    assert.equal(answer.header(name), undefined)
    const entry = await until('the entry says so', async () => {
      const id = answer.header('x-agw-request-id')
      const { data } = await stack.operator.send('GET', `/admin/activity?request_id=${id}`)
      return data[0]
    })
    assert.deepEqual(entry.data.headers_left_out, [name])
  }
  await stack.operator.makeScope(open.agent.agent_id, other.integration_id)
  for (const line of redirects) {
    const answer = await answeredWith(307, [line])
    assert.equal(answer.header('location'), `/${raw.origin}/v1/neighbour/x`)
    const refusedPut = await answeredWith(307, [line], { method: 'PUT' })
    assertRefusal(refusedPut, 502, 'redirect_refused', { reason: 'other_integration' })
  }
  const [redirect = ''] = redirects
  // What the URL names, or a header that clients repeat, could be done in place of the GET.
  for (const [line, headers] of [
    [`${redirect}?_method=DELETE`, {}],
    [`${redirect}?batch=[{"method":"DELETE","relative_url":"me"}]`, {}],
    [redirect, { 'x-http-method-override': 'DELETE' }],
  ] as const) {
    const answer = await answeredWith(307, [line], { headers: { ...open.headers, ...headers } })
    assertRefusal(answer, 502, 'redirect_refused', { reason: 'other_integration' })
  }
  const passed = await answeredWith(307, ['Location: /v1/neighbourhood'])
  assert.equal(passed.header('location'), `/${raw.origin}/v1/neighbourhood`)
})

test('URLs that a client follows become URLs of the gateway; other references pass as they are', async () => {
  const lines = [
    'Content-Location: /v1/7.json',
    'Link: </v1/2>; rel="next"',
    'Link: <https://elsewhere.test/>; rel="help"',
    'Refresh: 5; url=/v1/7',
  ]
  const answer = await answeredWith(201, lines)
  assert.equal(answer.status, 201)
  for (const line of lines) {
    const [name = '', value] = line.split(/: (.*)/)
    const found = answer.headers.filter(([key]) => key === name.toLowerCase())
    assert.ok(
      found.some(([, one]) => one === value),
      line,
    )
  }
  assert.equal(answer.header('x-agw-look'), undefined)
  const next = `${raw.origin}/v1/2?page=2`
  const followed = await answeredWith(201, [
    'Location: https://elsewhere.test/x?y#z',
    `Link: <${next}>; rel="next", <https://elsewhere.test/>; rel="help"`,
    `X-Goog-Upload-URL: ${next}`,
  ])
  const below = (url: string): string => `${stack.proxyUrl}/${url}`
  assert.equal(followed.header('location'), below('https://elsewhere.test/x?y#z'))
  assert.equal(
    followed.header('link'),
    `<${below(next)}>; rel="next", <https://elsewhere.test/>; rel="help"`,
  )
  assert.equal(followed.header('x-goog-upload-url'), below(next))
})

test('headers that act on the whole origin are dropped, in headers and trailers', async () => {
  const names = [
    'accept-ch',
    'accept-ch-lifetime',
    'alt-svc',
    'alternate-protocol',
    'clear-site-data',
    'attribution-reporting-register-os-source',
    'attribution-reporting-register-os-trigger',
    'attribution-reporting-register-source',
    'attribution-reporting-register-trigger',
    'critical-ch',
    'edge-control',
    'expect-ct',
    'idp-signin-status',
    'nel',
    'origin-agent-cluster',
    'origin-isolation',
    'public-key-pins',
    'public-key-pins-report-only',
    'report-to',
    'reporting-endpoints',
    'sec-session-challenge',
    'sec-session-registration',
    'secure-session-challenge',
    'secure-session-registration',
    'service-worker-allowed',
    'set-cookie2',
    'set-login',
    'shared-storage-write',
    'strict-transport-security',
    'surrogate-control',
    'use-as-dictionary',
    'x-accel-redirect',
    'x-archive-files',
    'x-envoy-degraded',
    'x-envoy-immediate-health-check-fail',
    'x-lighttpd-send-file',
    'x-lighttpd-send-tempfile',
    'x-litespeed-location',
    'x-litespeed-purge',
    'x-litespeed-purge2',
    'x-reproxy-file',
    'x-reproxy-url',
    'x-sendfile',
    'x-sendfile-temporary',
    'x-sendfile2',
  ]
  const number = String(answers.size)
  const lines = names.map((name) => `${name}: /http://other.test/\r\n`).join('')
  answers.set(
    number,
    `HTTP/1.1 200 OK\r\n${lines}x-accel-buffering: no\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${lines}x-kept: yes\r\n\r\n`,
  )
  for (const http_version of ['1.1', '2'] as const) {
    const answer = await stack.callAs(open, `/${number}`, {
      http_version,
      headers: { te: 'trailers' },
    })
    assert.equal(answer.header('x-accel-buffering'), 'no')
    const seen = answer.headers.map(([name]) => name.toLowerCase())
    seen.push(...Object.keys(answer.trailers))
    assert.deepEqual(
      names.filter((name) => seen.includes(name)),
      [],
    )
  }
})

test('cookies are for the API that sets them alone, in headers of their own', async () => {
  for (const http_version of ['1.1', '2'] as const) {
    const answer = await answeredWith(
      200,
      [
        'Set-Cookie: a=1; Path=/; Domain=127.0.0.1; Expires=Wed, 09 Jun 2027 10:18:14 GMT',
        'Set-Cookie: b=2; HttpOnly',
        'set-cookie: c=3; Path=/v1/x',
        'Set-Cookie: __Host-d=4; Secure; Path=/',
        'Set-Cookie: agw_session=5; Path=/',
        'Set-Cookie: __Host-agw_session=6; Secure; Path=/',
        'Set-Cookie: =agw_session=7; Path=/',
        'Set-Cookie: e=8, f=9; Max-Age=60',
        'Set-Cookie: g="10; Path=/',
      ],
      { http_version },
    )
    assert.equal(answer.status, 200)
    assert.deepEqual(cookiesOf(answer), [
      `a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/${raw.origin}/`,
      `b=2; HttpOnly; Path=/${raw.origin}/v1`,
      `c=3; Path=/${raw.origin}/v1/x`,
    ])
  }
})

test('a response whose cookies are all dropped has none', async () => {
  const answer = await answeredWith(200, ['Set-Cookie: agw_session=1; Path=/'])
  assert.equal(answer.status, 200)
  assert.deepEqual(cookiesOf(answer), [])
})

for (const [name, more] of Object.entries({
  scanned: { scope: { injection_detection: { scan_responses: true } } },
  'searched for a credential': {
    auth: { type: 'query', name: 'api_key', value: 'query-credential-of-redirects' },
  },
}))
  test(`a response that is ${name} is judged in the same way`, async () => {
    const access = await stack.operator.makeAccess(`${raw.origin}/v1/${name.slice(0, 4)}`, more)
    const blocked = await answeredWith(302, ['Location: /http://other.test/'], { access })
    assertRefusal(blocked, 502, 'redirect_refused')
    const passed = await answeredWith(302, ['Location: /x', 'Set-Cookie: a=1', 'Set-Cookie: b=2'], {
      access,
    })
    assert.equal(passed.header('location'), `/${raw.origin}/x`)
    assert.equal(cookiesOf(passed).length, 2)
    assert.equal(passed.header('x-agw-look'), undefined)
  })

test('a credential from the query is taken out of each value of a header, and of a redirect to the same API', async () => {
  const value = 'query-credential-in-headers'
  const access = await stack.operator.makeAccess(`${raw.origin}/v1/redacted`, {
    auth: { type: 'query', name: 'api_key', value },
  })
  const answer = await answeredWith(
    302,
    [`Location: /x?api_key=${value}`, `Set-Cookie: a=${value}`, 'Set-Cookie: b=2', `X-A: ${value}`],
    { access },
  )
  assert.equal(answer.header('location'), `/${raw.origin}/x?api_key=[redacted]`)
  assert.equal(answer.header('x-a'), '[redacted]')
  const path = `Path=/${raw.origin}/v1/redacted`
  assert.deepEqual(cookiesOf(answer), [`a=[redacted]; ${path}`, `b=2; ${path}`])
})
