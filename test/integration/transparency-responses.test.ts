import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { HttpAnswer } from '../kit/call.ts'
import { call } from '../kit/call.ts'
import { repetitions } from '../kit/repetitions.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { bigBody } from '../kit/test-upstream/big-body.ts'
import { scripted } from '../kit/test-upstream/plain-routes.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const ways = await Promise.all(
  (['https', 'https2', 'http'] as const).map(async (over) => ({
    over,
    access: await stack.operator.makeAccess(stack.ownBaseUrl(over)),
  })),
)
const [overTls = assert.fail()] = ways

interface Asked {
  readonly path: string
  readonly method?: string
  readonly http_version?: '1.1' | '2'
  readonly limit_ms?: number
  readonly onData?: (part: Buffer) => void
}

const through = (asked: Asked, access = overTls.access): Promise<HttpAnswer> =>
  call({
    ...asked,
    to: stack.proxyUrl,
    path: `/${access.base_url}${asked.path}`,
    headers: access.headers,
  })

/** What may differ (docs/guides/transparency.md): our id, hop-by-hop headers and framing, the case of names, Date. */
const DIFFERENT = new Set([
  'x-agw-request-id',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
])

/** A line of its own, behind what the API says of its own limits. */
const isOurLimit = (name: string, value: string): boolean =>
  /^ratelimit(-policy)?$/.test(name) && value.startsWith('"scope";')

/** A URL that a client follows is one of the gateway. */
const belowGateway = (url: string): string => `${stack.proxyUrl}/${new URL(url).href}`

function rewritten(name: string, value: string): string {
  if (name === 'location' || name === 'content-location') return belowGateway(value)
  return name === 'link'
    ? value.replace(/<([^>]*)>/, (_, url: string) => `<${belowGateway(url)}>`)
    : value
}

/** @param isDirect the answer did not come through the gateway, which rewrites URLs that a client follows */
function comparable(answer: HttpAnswer, isDirect = false): object {
  const headers = answer.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .map(([name, value]) => [name, isDirect ? rewritten(name, value) : value] as const)
    .filter(([name, value]) => !DIFFERENT.has(name) && !isOurLimit(name, value))
  const names = [...new Set(headers.map(([name]) => name))].sort()
  return {
    status: answer.status,
    headers: names.map((name) => [name, headers.flatMap(([k, v]) => (k === name ? [v] : []))]),
    body_bytes: answer.body.length,
    body_sha256: createHash('sha256').update(answer.body).digest('hex'),
    trailers: answer.trailers,
  }
}

const headerName = fc.oneof(
  fc
    .string({
      unit: fc.constantFrom(...'abcdefghijk0123456789-_'.split('')),
      minLength: 1,
      maxLength: 12,
    })
    .map((t) => `x-t-${t}`),
  fc.constantFrom(
    'Content-Type',
    'ETag',
    'Retry-After',
    'Cache-Control',
    'Vary',
    'Server',
    'WWW-Authenticate',
    'X-Request-Id',
    'RateLimit',
  ),
)
/** What the gateway judges is rewritten where it leads to elsewhere; test/unit/response-references.test.ts has the rest. */
const elsewhere = fc.webUrl({ withQueryParameters: true, withFragments: true })
const leading = fc.oneof(
  fc.tuple(fc.constantFrom('Location', 'Content-Location'), elsewhere),
  fc.tuple(
    fc.constant('Link'),
    elsewhere.map((url) => `<${url}>; rel="next"`),
  ),
)
const headerValue = fc
  .string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  })
  .map((text) => text.trim())

const TICKS = 61
/** Under way while the other tests of this file run. */
let ticking: ReadonlyArray<Promise<{ readonly events: string[]; readonly pieces: number }>> = []

/** Of Envoy, before the long streams. */
let pids: number[] = []

test('streams of events begin at once', async () => {
  pids = await stack.pids('envoy')
  const begun: Promise<void>[] = []
  ticking = (['1.1', '2'] as const).map(async (http_version) => {
    let pieces = 0
    let begin = (): void => {}
    begun.push(new Promise((resolve) => void (begin = resolve)))
    const answer = await through({
      path: `/sse?ticks=${TICKS}&interval_ms=1000`,
      http_version,
      limit_ms: 180_000,
      onData: () => {
        pieces++
        begin()
      },
    })
    return { events: answer.body.toString().trimEnd().split('\n\n'), pieces }
  })
  await Promise.all(begun)
})

test('what the caller receives is what the upstream sent, apart from the documented differences', async () => {
  const script = fc.record({
    status: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          200,
          201,
          202,
          206,
          301,
          307,
          400,
          401,
          403,
          404,
          409,
          422,
          429,
          500,
          502,
          503,
          504,
        ),
      },
      {
        weight: 1,
        arbitrary: fc.integer({ min: 200, max: 599 }).filter((s) => ![204, 205, 304].includes(s)),
      },
    ),
    headers: fc.uniqueArray(fc.oneof(fc.tuple(headerName, headerValue), leading), {
      maxLength: 10,
      selector: ([name]) => name,
    }),
    pieces: fc.array(fc.oneof(fc.nat(2000), fc.nat(200_000)), { maxLength: 4 }),
    is_chunked: fc.boolean(),
  })
  const asked = fc.record({
    script,
    way: fc.nat(ways.length - 1),
    method: fc.constantFrom('GET', 'POST', 'DELETE'),
    http_version: fc.constantFrom('1.1' as const, '2' as const),
  })
  await fc.assert(
    fc.asyncProperty(asked, async ({ script, way, method, http_version }) => {
      const { access } = ways[way] ?? assert.fail()
      const path = scripted(script)
      const { host, pathname } = new URL(access.base_url)
      const direct = await call({
        to: `http://127.0.0.1:${stack.api.ports.http}`,
        path: `${pathname}${path}`,
        method,
        headers: { Host: host },
      })
      const answer = await through({ path, method, http_version }, access)
      assert.deepEqual(comparable(answer), comparable(direct, true))
      assert.match(answer.header('x-agw-request-id') ?? '', /^[\w-]{8,}$/)
    }),
    { numRuns: repetitions(120), includeErrorInReport: true },
  )
})

test('the limit of the scope stands behind the limits of the API, on every allowed answer', async () => {
  const limited = await stack.makeAccess({
    scope: { rate_limiting: { requests_per_minute: 40 } },
  })
  const own: (readonly [string, string])[] = [
    ['RateLimit', '"hour";r=9;t=100'],
    ['RateLimit-Policy', '"hour";q=10;w=3600'],
  ]
  for (const [i, [status, headers]] of (
    [
      [200, own],
      [200, []],
      [404, own],
      [500, []],
      [429, own],
    ] as const
  ).entries()) {
    const path = scripted({ status, headers, pieces: [], is_chunked: false })
    const answer = await through({ path }, limited)
    assert.equal(answer.status, status)
    assert.equal(answer.header('x-agw-reason'), undefined)
    const values = (name: string): string[] =>
      answer.headers.flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []))
    const theirs = headers.map(([, value]) => value)
    assert.deepEqual(values('ratelimit-policy'), [...theirs.slice(1), '"scope";q=40;w=60'])
    const [ours = '', ...before] = values('ratelimit').reverse()
    assert.match(ours, new RegExp(`^"scope";r=${39 - i};t=\\d+$`))
    assert.deepEqual(before, theirs.slice(0, 1))
  }
})

test('trailers of a response go through, without those that speak in our name', async () => {
  for (const { over, access } of ways) {
    for (const http_version of ['1.1', '2'] as const) {
      const answer = await through({ path: '/trailers', http_version }, access)
      assert.equal(answer.body.toString(), 'before the trailers', over)
      assert.equal(answer.trailers['x-checksum'], 'abc123', `${over} to HTTP/${http_version}`)
      assert.equal(answer.trailers['x-agw-reason'], undefined)
    }
  }
})

for (const status of [204, 304]) {
  test(`a ${status} has no body and keeps its headers`, async () => {
    for (const { access } of ways) {
      for (const http_version of ['1.1', '2'] as const) {
        const answer = await through({ path: `/status/${status}`, http_version }, access)
        assert.equal(answer.status, status)
        assert.equal(answer.header('etag'), '"v1"')
        assert.equal(answer.body.length, 0)
      }
    }
  })
}

test('HEAD is answered with the headers of GET, the length included, and no body', async () => {
  for (const { access } of ways) {
    const answer = await through({ path: '/big?bytes=1234', method: 'HEAD' }, access)
    assert.equal(answer.status, 200)
    assert.equal(answer.header('content-length'), '1234')
    assert.equal(answer.body.length, 0)
  }
})

test('a compressed answer comes as it is', async () => {
  const answer = await through({ path: '/gzip' })
  assert.equal(answer.header('content-encoding'), 'gzip')
  assert.equal(gunzipSync(answer.body).toString(), 'compressed '.repeat(1000))
})

test('a download of 50 MB comes whole', async () => {
  const bytes = 50 * 1024 * 1024
  const expected = createHash('sha256')
  for (const part of bigBody(bytes)) expected.update(part)
  const digest = expected.digest('hex')
  for (const http_version of ['1.1', '2'] as const) {
    const answer = await through({ path: '/big', http_version })
    assert.equal(answer.body.length, bytes)
    assert.equal(createHash('sha256').update(answer.body).digest('hex'), digest)
  }
})

test('answers keep repeated headers, and lose what an upstream may not say in our name', async () => {
  const answer = await through({ path: '/odd-headers' })
  const values = (name: string) =>
    answer.headers.flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []))
  const { origin, pathname } = new URL(overTls.access.base_url)
  assert.deepEqual(values('set-cookie'), [
    `a=1; Path=/${origin}/`,
    `b=2; HttpOnly; Path=/${origin}${pathname}`,
  ])
  assert.deepEqual(values('x-mixed'), ['Value with  two spaces'])
  assert.deepEqual(values('x-empty'), [''])
  assert.deepEqual(
    values('x-latin'),
    ['caf\u00e9'].map((t) => Buffer.from(t).toString('latin1')),
  )
  assert.deepEqual(values('server'), ['stand-in/1.0'])
  assert.deepEqual(values('x-request-id'), ['the-upstreams-own'])
  assert.deepEqual(values('via'), ['1.1 theirs'])
  assert.deepEqual(values('x-agw-reason'), [])
  assert.deepEqual(values('x_agw_reason'), [])
  assert.equal(values('x-agw-request-id').length, 1)
  assert.notEqual(values('x-agw-request-id')[0], 'forged')
})

test('early hints are not carried, the final answer is (a documented difference)', async () => {
  const answer = await through({ path: '/early-hints' })
  assert.equal(answer.status, 200)
  assert.equal(answer.body.toString(), 'after the hints')
})

test('a stream of events that ticks for a minute comes tick by tick, and Envoy lives on', async () => {
  for (const { events, pieces } of await Promise.all(ticking)) {
    assert.equal(events.length, TICKS)
    events.forEach((event, i) => assert.match(event, new RegExp(`^id: ${i}\\ndata: `)))
    // Held back until the end, it would come in few pieces.
    assert.ok(pieces > TICKS / 2, `${TICKS} events came in ${pieces} pieces`)
  }
  // The processor's side of the streams ends a little after the caller has the last byte.
  await until('the edges hold no call of the agent', async () => {
    const path = `/admin/agents/${overTls.access.agent.agent_id}/kill-preview`
    return (await stack.operator.send('GET', path)).in_flight === 0
  })
  const after = await through({ path: '/after' })
  assert.equal(after.status, 200)
  assert.deepEqual(await stack.pids('envoy'), pids, 'Envoy was restarted')
})
