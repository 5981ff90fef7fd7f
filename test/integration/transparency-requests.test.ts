import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { findPathOverrides } from '../../core/request/find-path-overrides.ts'
import { NO_OVERRIDES } from '../../core/request/overrides.ts'
import { call } from '../kit/call.ts'
import type { HttpCall } from '../kit/call.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { repetitions } from '../kit/repetitions.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { bigBody } from '../kit/test-upstream/big-body.ts'
import type { ReceivedRequest } from '../kit/test-upstream/received-request.ts'

const stack = await sharedStack()
const BODY_LIMIT_BYTES = 8_388_608

/** Each kind of upstream connection; and once with a policy that makes the gateway hold the body. */
const ways = await Promise.all(
  (['https', 'https2', 'http'] as const).flatMap((over) =>
    [false, true].map(async (is_held) => {
      const base_url = stack.ownBaseUrl(over)
      const scope = is_held ? { mcp_tools: { allow: ['*'], deny: ['no_such_tool'] } } : {}
      return { over, is_held, access: await stack.operator.makeAccess(base_url, { scope }) }
    }),
  ),
)

const letters = 'abcdefghijklmnopqrstuvwxyz'
const tokenName = fc.string({
  unit: fc.constantFrom(...`${letters}0123456789-_`.split('')),
  minLength: 1,
  maxLength: 12,
})
const headerName = fc.oneof(
  { weight: 3, arbitrary: tokenName.map((text) => `x-t-${text}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'Accept',
      'Accept-Encoding',
      'Accept-Language',
      'User-Agent',
      'Cookie',
      'Range',
      'If-None-Match',
      'Origin',
      'Idempotency-Key',
      'Cache-Control',
      'Prefer',
      'Content-Type',
      'Content-Language',
      'X-Api-Version',
      'DNT',
      'Traceparent',
      'Priority',
    ),
  },
)
/** Visible ASCII and the upper half of latin1, with spaces and tabs inside. */
const headerValue = fc
  .string({
    unit: fc
      .oneof(
        { weight: 20, arbitrary: fc.integer({ min: 0x21, max: 0x7e }) },
        { weight: 2, arbitrary: fc.constant(0x20) },
        { weight: 1, arbitrary: fc.integer({ min: 0xa1, max: 0xff }) },
      )
      .map((code) => String.fromCharCode(code)),
    maxLength: 60,
  })
  .map((text) => text.trim())

const header = fc
  .tuple(headerName, headerValue)
  // An empty Cookie says nothing, and HTTP/2 does not carry it.
  .map(([name, value]) => [name, name === 'Cookie' ? `c=${value}` : value] as const)

const segment = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom(...`${letters}ABC0123456789-_~!$&'()*+,=:@`.split('')),
      },
      { weight: 1, arbitrary: fc.constantFrom('%20', '%2F', '%C3%A9', '%e2%82%ac', '%25z', '%3F') },
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => `s${parts.join('')}`)
/** A path that names another path for some servers, such as `/s&q=`, is decided as both. */
const segments = fc
  .array(segment, { maxLength: 5 })
  .filter((parts) => findPathOverrides(parts.map(decodeURIComponent)) === NO_OVERRIDES)
/** The query is the API's own language: all that HTTP lets through, well-formed or not. */
const query = fc.string({
  unit: fc.constantFrom(...`${letters}0123456789-._~!$&'()*+,;=:@/?%[]|{}"<>^\`\\`.split('')),
  maxLength: 60,
})

const bodyLength = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 4096 }) },
  { weight: 3, arbitrary: fc.integer({ min: 4097, max: 300_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 1_048_576, 1_048_577, BODY_LIMIT_BYTES) },
)
const asked = fc.record({
  way: fc.nat(ways.length - 1),
  http_version: fc.constantFrom('1.1' as const, '2' as const),
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'),
  segments,
  has_slash: fc.boolean(),
  query: fc.option(query, { nil: null }),
  headers: fc.uniqueArray(header, {
    maxLength: 12,
    // Only some headers may be said twice; ours may.
    selector: ([name]) => (name.startsWith('x-t-') ? Symbol(name) : name),
  }),
  body_bytes: fc.option(bodyLength, { nil: null, freq: 3 }),
  is_chunked: fc.boolean(),
})

/**
 * What a call through the gateway may not have in common with a direct one (docs/guides/transparency.md): the credential,
 * Via, hop-by-hop headers and the framing of the body, the case of header names.
 */
const DIFFERENT = new Set([
  'authorization',
  'via',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host', // compared separately: HTTP/2 has it in :authority
])

function comparable(received: ReceivedRequest | undefined, is_held: boolean): object {
  assert.ok(received !== undefined, 'nothing arrived')
  const headers = received.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !DIFFERENT.has(name))
    // Where answers are looked at, as for lists of tools, only what can be undone is accepted.
    .filter(([name]) => !(is_held && name === 'accept-encoding'))
  const names = [...new Set(headers.map(([name]) => name))].sort()
  return {
    method: received.method,
    host: received.host,
    path: received.path,
    headers: names.map((name) => [
      name,
      // Several lines of one header are one list (RFC 9110, 5.3), of Cookie one string (RFC 9113, 8.2.3).
      headers
        .flatMap(([key, value]) => (key === name ? [value] : []))
        .join(name === 'cookie' ? '; ' : ', '),
    ]),
    body_bytes: received.body_bytes,
    body_sha256: received.body_sha256,
    trailers: received.trailers,
  }
}

test('what the upstream receives is what a direct call would have sent, apart from the documented differences', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async (one) => {
      const { over, is_held, access } = ways[one.way] ?? assert.fail()
      const base = new URL(access.base_url)
      const path =
        [base.pathname, ...one.segments].join('/') +
        (one.has_slash ? '/' : '') +
        (one.query === null ? '' : `?${one.query}`)
      const isSafe = one.method === 'GET' || one.method === 'HEAD'
      const body =
        one.body_bytes === null || isSafe ? null : Buffer.concat([...bigBody(one.body_bytes)])
      const headers: Array<readonly [string, string]> = [...one.headers]
      const common = {
        method: one.method,
        ...(body === null ? {} : { body, is_chunked: one.is_chunked }),
      } satisfies Partial<HttpCall>

      const direct = stack.api.mark()
      await call({
        ...common,
        to: `http://127.0.0.1:${stack.api.ports.http}`,
        path,
        headers: [['Host', base.host], ...headers],
      })
      const [expected] = direct()

      const through = stack.api.mark()
      const answer = await call({
        ...common,
        to: stack.proxyUrl,
        path: `/${base.origin}${path}`,
        headers: [['Authorization', access.headers.authorization], ...headers],
        http_version: one.http_version,
      })
      const [received] = through()
      assert.equal(answer.status, 200, `${answer.body.toString()}`)
      assert.deepEqual(comparable(received, is_held), comparable(expected, is_held))
      assert.equal(received?.header('authorization'), `Bearer ${STORED_CREDENTIAL}`)
      assert.match(received?.header('via') ?? '', /^1\.1 agw-/)
      assert.equal(received?.http_version, over === 'https2' ? '2.0' : '1.1')
      assert.equal(through().length, 1)
    }),
    { numRuns: repetitions(300), includeErrorInReport: true },
  )
})

/** Held, it is read in full by the processor, which takes a second or more: once for each version of HTTP. */
const HELD_OVER = { '1.1': 'https', '2': 'https2' } as const

for (const http_version of ['1.1', '2'] as const) {
  for (const { over, is_held, access } of ways) {
    if (is_held && over !== HELD_OVER[http_version]) continue
    test(`a body of exactly the limit passes whole: HTTP/${http_version} to ${over}, ${is_held ? 'held' : 'streamed'}`, async () => {
      const body = Buffer.concat([...bigBody(BODY_LIMIT_BYTES)])
      const sent = stack.api.mark()
      const answer = await stack.callAs(access, '/echo', { method: 'POST', body, http_version })
      assert.equal(answer.status, 200, answer.body.toString())
      const [received] = sent()
      assert.equal(received?.body_sha256, createHash('sha256').update(body).digest('hex'))
    })
  }
}
