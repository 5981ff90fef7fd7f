import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Header } from '../../core/request/header.ts'
import { headerChanges } from '../../ext-proc/response/header-changes.ts'
import { ResponsePhase } from '../../ext-proc/response/response-phase.ts'
import type { Denial } from '../../ext-proc/verdict/denial.ts'
import {
  type BodyVerdict,
  type HeadersVerdict,
  type ResponseInspector,
  UNCHANGED,
} from '../../ext-proc/verdict/response-inspector.ts'
import { settle } from '../kit/fake-control-channel.ts'
import { FakeEnvoyStream } from '../kit/fake-envoy-stream.ts'

const HEADERS: readonly Header[] = [
  { name: ':status', value: '200' },
  { name: 'x-a', value: '1' },
]
const DENIAL: Denial = { reason: 'security_block', details: {} }

interface Answers {
  readonly headers?: Partial<Extract<HeadersVerdict, { kind: 'pass' }>> | 'deny' | 'throw'
  readonly body?: BodyVerdict | Error
  readonly trailers?: readonly string[]
}

/** A response whose inspector answers as the test says. Refusals are noted as `cut` or `answer`. */
function aResponse({ headers = {}, body = UNCHANGED, trailers = [] }: Answers = {}) {
  const envoy = new FakeEnvoyStream()
  const ends: string[] = []
  const inspector: ResponseInspector = {
    sees_every_response: true,
    may_read_body: true,
    headers: (given) => {
      if (headers === 'throw') throw new Error('on purpose')
      if (headers === 'deny') return { kind: 'deny', denial: DENIAL }
      return { kind: 'pass', headers: given, body: 'chunks', ...headers }
    },
    cleaned: (given) => given.filter(({ name }) => name !== 'x-secret'),
    body: async () => {
      if (body instanceof Error) throw body
      return body
    },
    trailers: () => ({ kind: 'pass', remove: trailers }),
    close: () => undefined,
  }
  const phase = new ResponsePhase(inspector, {
    write: (bytes) => envoy.write(bytes),
    refuse: async (_denial, isOut) => void ends.push(isOut ? 'cut' : 'answer'),
    fail: () => void ends.push('fail'),
  })
  return { phase, envoy, ends }
}

/** What Envoy does with headers by an answer: what is set and removed. */
function changesOf(message: any, kind: string): { set: string[]; remove: string[] } {
  const { set_headers = [], remove_headers = [] } = message[kind].response?.header_mutation ?? {}
  return {
    set: set_headers.map(({ header }: any) => `${header.key}: ${header.raw_value}`),
    remove: remove_headers,
  }
}

test('headers that do not change go on untouched, and say how the body is looked at', () => {
  for (const [body, mode] of [
    ['unseen', null],
    ['chunks', 1],
    ['whole', 2],
    ['whole_or_beginning', 3],
  ] as const) {
    const { phase, envoy } = aResponse({ headers: { body } })
    void phase.headers(HEADERS)
    const [message] = envoy.messages
    assert.deepEqual(changesOf(message, 'response_headers'), { set: [], remove: [] })
    assert.equal(message.mode_override === null, mode === null)
    if (mode !== null) assert.equal(message.mode_override.response_body_mode, mode)
  }
})

test('a header that changes is set, one that goes is removed, and a new route is not chosen', () => {
  const headers = [{ name: 'x-a', value: '2' }]
  const { phase, envoy } = aResponse({ headers: { headers } })
  void phase.headers(HEADERS)
  const [message] = envoy.messages
  assert.deepEqual(changesOf(message, 'response_headers'), { set: ['x-a: 2'], remove: [':status'] })
  assert.ok(!message.response_headers.response.clear_route_cache)
})

test('an error of a filter of the same Envoy is cleaned and not judged; that of an API is judged', async () => {
  for (const [status, code_details, isJudged] of [
    ['401', 'jwt_authn_access_denied{Jwt_is_missing}', false],
    ['503', 'upstream_reset_before_response_started', false],
    ['401', 'via_upstream', true],
    ['404', 'cache.response_from_cache_filter', true],
    ['302', 'oauth.missing_credentials', true],
    ['200', 'lua_response', true],
    // An older configuration of Envoy does not send them.
    ['401', '', true],
  ] as const) {
    const given = [
      { name: ':status', value: status },
      { name: 'x-secret', value: '1' },
    ]
    const { phase, envoy, ends } = aResponse({ headers: 'deny' })
    void phase.headers(given, code_details)
    await settle()
    assert.deepEqual(ends, isJudged ? ['answer'] : [], code_details)
    if (isJudged) continue
    const [message] = envoy.messages
    assert.deepEqual(changesOf(message, 'response_headers'), { set: [], remove: ['x-secret'] })
  }
})

test('headers that are refused are answered; an error of the inspector ends the call', async () => {
  for (const [headers, end] of [
    ['deny', 'answer'],
    ['throw', 'fail'],
  ] as const) {
    const { phase, envoy, ends } = aResponse({ headers })
    void phase.headers(HEADERS)
    await settle()
    assert.deepEqual(ends, [end])
    assert.deepEqual(envoy.sent, [])
  }
})

const replaced: BodyVerdict = { kind: 'pass', body: Buffer.from('new'), remove: ['etag'] }

test('a whole body that is replaced gets its length, and loses what no longer holds', async () => {
  const { phase, envoy } = aResponse({ headers: { body: 'whole' }, body: replaced })
  void phase.headers(HEADERS)
  phase.body(Buffer.from('the old one'), true)
  await settle()
  const message = envoy.messages[1]
  assert.equal(message.response_body.response.body_mutation.body.toString(), 'new')
  assert.deepEqual(changesOf(message, 'response_body'), {
    set: ['content-length: 3'],
    remove: ['etag'],
  })
})

test('a chunk that is replaced has no length of its own', async () => {
  const { phase, envoy } = aResponse({ body: { ...replaced, remove: [] } })
  void phase.headers(HEADERS)
  phase.body(Buffer.from('x'), false)
  await settle()
  const message = envoy.messages[1]
  assert.equal(message.response_body.response.body_mutation.body.toString(), 'new')
  assert.deepEqual(changesOf(message, 'response_body'), { set: [], remove: [] })
})

/** How a body is looked at, whether it is its end that is refused, what may go out before, and what does. */
const REFUSED: readonly (readonly [
  body: 'whole' | 'chunks',
  end: boolean,
  before: string | null,
  out: string | null,
  ends: string,
])[] = [
  ['whole', true, null, null, 'answer'],
  ['chunks', false, 'good', 'good', 'cut'],
  ['chunks', false, '', null, 'cut'],
  ['chunks', false, null, null, 'cut'],
  ['chunks', true, 'good', null, 'cut'],
]

for (const [body, end, before, out, how] of REFUSED)
  test(`${body} refused at ${end ? 'the end' : 'a chunk'} with ${before ?? 'nothing'} before it: ${out ?? 'nothing'} goes out`, async () => {
    const verdict: BodyVerdict = {
      kind: 'deny',
      denial: DENIAL,
      before: before === null ? null : Buffer.from(before),
    }
    const { phase, envoy, ends } = aResponse({ headers: { body }, body: verdict })
    void phase.headers(HEADERS)
    phase.body(Buffer.from('good and bad'), end)
    await settle()
    assert.deepEqual(ends, [how])
    const sent = envoy.messages.slice(1)
    assert.deepEqual(
      sent.map(({ response_body }) => response_body.response.body_mutation.body.toString()),
      out === null ? [] : [out],
    )
  })

test('an error in looking at the body ends the call, and nothing of the chunk goes out', async () => {
  const { phase, envoy, ends } = aResponse({ body: new Error('on purpose') })
  void phase.headers(HEADERS)
  phase.body(Buffer.from('x'), false)
  await settle()
  assert.deepEqual(ends, ['fail'])
  assert.equal(envoy.sent.length, 1)
})

test('trailers are answered after the chunks before them, without those that must not go out', async () => {
  const { phase, envoy } = aResponse({ trailers: ['x-t'] })
  void phase.headers(HEADERS)
  phase.body(Buffer.from('x'), false)
  phase.trailers([{ name: 'x-t', value: '1' }])
  await settle()
  assert.deepEqual(envoy.sent.slice(1), ['go on response_body', 'go on response_trailers'])
  const { header_mutation } = envoy.messages[2].response_trailers
  assert.deepEqual(header_mutation.remove_headers, ['x-t'])
})

test('an answer of Envoy itself has no inspector, and passes', async () => {
  const envoy = new FakeEnvoyStream()
  const phase = new ResponsePhase(null, {
    write: (bytes) => envoy.write(bytes),
    refuse: async () => assert.fail('nothing is refused'),
    fail: () => assert.fail('nothing fails'),
  })
  void phase.headers(HEADERS)
  phase.body(Buffer.from('x'), true)
  phase.trailers([])
  await settle()
  assert.deepEqual(envoy.sent, [
    'go on response_headers',
    'go on response_body',
    'go on response_trailers',
  ])
})

const list = (text: string): Header[] =>
  text
    .split(' ')
    .filter((pair) => pair !== '')
    .map((pair) => ({ name: pair.slice(0, 1), value: pair.slice(2) }))

test('what makes one list of headers of another: all of a name are set where one of them differs', () => {
  const rows: readonly (readonly [before: string, after: string, set: string, remove: string])[] = [
    ['a=1 b=2', 'a=1 b=3', 'b=3', ''],
    ['a=1 b=2', 'a=1', '', 'b'],
    ['a=1 a=2 b=3', 'a=2 b=3', 'a=2', ''],
    ['a=1 a=2', 'a=1 a=3', 'a=1 a=3', ''],
    ['a=1 a=2', 'a=2 a=1', 'a=2 a=1', ''],
    ['a=1 a=2 b=3', 'b=4', 'b=4', 'a'],
  ]
  for (const [before, after, set, remove] of rows)
    assert.deepEqual(
      headerChanges(list(before), list(after)),
      { set: list(set), remove: remove === '' ? [] : [remove] },
      `${before} to ${after}`,
    )
  const same = list('a=1')
  assert.equal(headerChanges(same, same), null)
  assert.equal(headerChanges(same, list('a=1')), null)
})
