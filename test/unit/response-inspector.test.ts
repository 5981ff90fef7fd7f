import assert from 'node:assert/strict'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { test } from 'node:test'
import type { PooledResult, ScanPool } from '../../core/inspection/scan-pool.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import { mergeSettings } from '../../core/decision/merge-settings.ts'
import type { Finding } from '../../core/scanner/finding.ts'
import type { ScanResult } from '../../core/scanner/scan-request.ts'
import { Secret } from '../../core/keys/secret.ts'
import { echoForms } from '../../ext-proc/response/echo-forms.ts'
import { type InspectionOrder, inspectResponse } from '../../ext-proc/response/inspect-response.ts'
import {
  type BodyVerdict,
  NOTHING_REMOVED,
  type ResponseInspector,
} from '../../ext-proc/verdict/response-inspector.ts'
import { found } from './decision-kit.ts'
import { aPlace } from './place-kit.ts'
import { aScope } from './policy-kit.ts'

const PATH = '/https://api.example.com/v1/things'
const LIMIT_BYTES = 100_000
const SEARCH_ONLY = { allow: ['search'], deny: [] }
const SCANS = { ...SCOPE_DEFAULTS.injection_detection, scan_responses: true }

interface Looks {
  readonly scans?: boolean
  readonly mode?: 'block' | 'alert'
  readonly lists_tools?: boolean
  readonly limit_bytes?: number
  readonly is_get?: boolean
  readonly over_limit?: 'refuse' | 'pass_unscanned'
  readonly query_secret?: string
  readonly echo_secrets?: readonly string[]
  readonly guarded?: readonly string[]
  readonly onUnauthorized?: () => void
  /** What the scan of a whole body answers. */
  readonly result?: PooledResult
  /** Texts of a stream that are busy to be scanned. */
  readonly is_busy?: boolean
}

const CLEAN = found({ outcome: 'clean', may_kill: false, reported: null })
const [BAD] = (found({}) as Extract<ScanResult, { kind: 'scanned' }>).findings

function anInspector(looks: Looks) {
  const findings: unknown[] = []
  const unscanned: number[] = []
  const scanned: string[] = []
  const pool: Pick<ScanPool, 'scanResponse' | 'scanTexts'> = {
    scanResponse: ({ body }) => {
      scanned.push(String(body))
      return looks.result ?? CLEAN
    },
    scanTexts: (texts) => {
      const isHead = texts.every(({ location }) => /^response\.(?:headers|trailers)/.test(location))
      if (looks.is_busy === true && !isHead) return null
      return texts.map(({ bytes }): readonly Finding[] => {
        if (!isHead) scanned.push(String(bytes))
        return BAD !== undefined && bytes.includes('bad') ? [BAD] : []
      })
    },
  }
  const injection_detection = {
    ...(looks.scans === true ? SCANS : SCOPE_DEFAULTS.injection_detection),
    mode: looks.mode ?? ('block' as const),
  }
  const { over_limit = 'refuse' } = looks
  const scope = aScope({ mcp_tools: SEARCH_ONLY, injection_detection, over_limit })
  const order: InspectionOrder = {
    place: aPlace(PATH, undefined, {
      called: { authority: 'gateway.example.com', scheme: 'http', forwarded_host: null },
      gateway: { hosts: ['127.0.0.1'], ports: [8080], proxy_url: null },
    }),
    onLeftOut: () => undefined,
    settings: mergeSettings([scope]),
    pool: pool as ScanPool,
    owner: { organization_id: 'org_default', agent_id: 'agt_a', isGone: () => false },
    limit_bytes: looks.limit_bytes ?? LIMIT_BYTES,
    echo_forms: echoForms(
      looks.query_secret === undefined ? null : new Secret(looks.query_secret),
      (looks.guarded ?? []).map((text) => new Secret(text)),
    ),
    echo_secrets: looks.echo_secrets ?? [],
    onUnauthorized: looks.onUnauthorized ?? null,
    lists_tools: looks.lists_tools ?? false,
    is_get: looks.is_get ?? false,
    asks_events: false,
    onUnscanned: (limit) => void unscanned.push(limit),
    onFinding: (data) => void findings.push(data['pattern_name']),
  }
  return { inspector: inspectResponse(order), findings, scanned, unscanned }
}

/** The verdict on headers that were scanned at once. */
function judged(inspector: ResponseInspector, headers: readonly Header[], end = false) {
  const verdict = inspector.headers(headers, end)
  assert.ok(!(verdict instanceof Promise))
  return verdict
}

const response = (headers: Readonly<Record<string, string>> = {}): readonly Header[] =>
  Object.entries({ ':status': '200', ...headers }).map(([name, value]) => ({ name, value }))
const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream' }

test('a response is looked at only where something may be found in it', () => {
  const rows: readonly (readonly [Looks, sees: boolean, reads: boolean])[] = [
    [{}, false, false],
    [{ scans: true }, true, true],
    [{ lists_tools: true }, true, true],
    [{ query_secret: 's' }, true, false],
    [{ onUnauthorized: () => undefined }, true, false],
  ]
  for (const [looks, sees, reads] of rows) {
    const { inspector } = anInspector(looks)
    assert.deepEqual([inspector.sees_every_response, inspector.may_read_body], [sees, reads])
    const verdict = judged(inspector, response(JSON_TYPE))
    assert.equal(verdict.kind === 'pass' && verdict.body, reads ? 'whole_or_beginning' : 'unseen')
  }
})

test('a response that leads back to the gateway is refused, whatever else it is looked at for', () => {
  const location = { ':status': '302', location: 'http://gateway.example.com/x' }
  for (const looks of [{}, { scans: true }, { query_secret: 's' }]) {
    const verdict = judged(anInspector(looks).inspector, response(location))
    assert.ok(verdict.kind === 'deny')
    assert.equal(verdict.denial.reason, 'redirect_refused')
  }
})

test('a guarded credential is redacted in headers in every encoding, and kept out of trailers', () => {
  const { inspector } = anInspector({ guarded: [SECRET_TOKEN, 'short'] })
  const forms = [...ECHOES, ...ADDRESS_ECHOES]
  assert.ok(new Set(forms).size >= 23)
  for (const value of forms) {
    const header = { 'x-echo': `<${value}>`, 'www-authenticate': `Bearer error="${value}"` }
    const verdict = judged(inspector, response({ ...header, 'x-other': 'short' }))
    assert.ok(verdict.kind === 'pass')
    const [, echo, challenge, other] = verdict.headers.map((one) => one.value)
    assert.ok(echo?.includes('[redacted]') === true, value)
    assert.ok(challenge?.includes('[redacted]') === true, value)
    assert.equal(other, 'short')
    assert.deepEqual(inspector.trailers([{ name: 'x-t', value }]), {
      kind: 'pass',
      remove: ['x-t'],
    })
  }
})

test('headers and trailers are scanned too', async () => {
  const { inspector, findings } = anInspector({ scans: true })
  const bad = response({ ...JSON_TYPE, 'x-note': 'bad' })
  for (const end of [false, true]) {
    const verdict = judged(inspector, bad, end)
    assert.ok(verdict.kind === 'deny')
    assert.equal(verdict.denial.reason, 'security_block')
  }
  const trailers = await inspector.trailers([{ name: 'x-sum', value: 'bad' }])
  assert.ok(trailers.kind === 'deny')
  assert.equal(judged(inspector, response({ 'x-note': 'good', date: 'bad' })).kind, 'pass')
  assert.deepEqual(findings, [])
  const alerting = anInspector({ scans: true, mode: 'alert' })
  assert.equal(judged(alerting.inspector, bad).kind, 'pass')
  assert.equal(alerting.findings.length, 1)
  assert.equal(judged(anInspector({}).inspector, bad).kind, 'pass')
})

test('a credential in the query is redacted in headers and kept out of trailers', () => {
  const { inspector } = anInspector({ query_secret: 'top secret' })
  const headers = response({ 'x-url': 'https://x/?key=top%20secret', 'x-other': 'a' })
  const verdict = judged(inspector, headers)
  assert.ok(verdict.kind === 'pass')
  assert.deepEqual(
    verdict.headers.map(({ value }) => value),
    ['200', 'https://x/?key=[redacted]', 'a'],
  )
  const trailers = [
    { name: 'x-t', value: 'top+secret' },
    { name: 'x-u', value: 'top' },
  ]
  assert.deepEqual(inspector.trailers(trailers), { kind: 'pass', remove: ['x-t'] })
  assert.deepEqual(anInspector({ scans: true }).inspector.trailers(trailers), NOTHING_REMOVED)
})

test('a 401 says that the token is no longer taken; no other status does', () => {
  for (const [status, told] of [
    ['401', 1],
    ['403', 0],
    ['200', 0],
  ] as const) {
    let count = 0
    const { inspector } = anInspector({ onUnauthorized: () => void count++ })
    judged(inspector, response({ ':status': status }))
    assert.equal(count, told, status)
  }
})

/** How a body is held, by what its headers say of it. */
const READINGS: readonly (readonly [
  headers: Readonly<Record<string, string>>,
  looks: Looks,
  body: string,
])[] = [
  [JSON_TYPE, { scans: true }, 'whole_or_beginning'],
  [{ ...JSON_TYPE, 'content-length': '9' }, { scans: true }, 'whole'],
  [{ ...JSON_TYPE, trailer: 'x-sum' }, { scans: true }, 'whole'],
  [{ 'content-type': 'text/plain' }, { scans: true }, 'whole_or_beginning'],
  [{}, { scans: true }, 'chunks'],
  [{ 'content-type': 'image/png' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'image/png', 'content-length': '65536' }, { scans: true }, 'whole'],
  [{ 'content-type': 'image/png', 'content-length': '65537' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'image/png; charset=x' }, { scans: true }, 'whole_or_beginning'],
  [{ 'content-type': 'image/png, text/plain' }, { scans: true }, 'whole_or_beginning'],
  [{ 'content-type': 'multipart/x-mixed-replace' }, { scans: true }, 'chunks'],
  [EVENTS, { scans: true }, 'chunks'],
  [{ ...EVENTS, 'content-encoding': 'gzip' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'image/png' }, { lists_tools: true }, 'whole_or_beginning'],
  [EVENTS, { lists_tools: true }, 'chunks'],
  [{ ...EVENTS, 'content-encoding': 'gzip' }, { lists_tools: true }, 'chunks'],
  [{ ...EVENTS, 'content-encoding': 'zstd' }, { lists_tools: true }, 'refused'],
  [{ ...EVENTS, 'content-encoding': 'gzip, br' }, { lists_tools: true }, 'refused'],
  [EVENTS, { is_get: true }, 'chunks'],
  [EVENTS, {}, 'unseen'],
  [{ ...EVENTS, 'content-encoding': 'gzip' }, {}, 'unseen'],
  [{ ...EVENTS, 'content-encoding': 'gzip' }, { is_get: true }, 'chunks'],
  [{ ...EVENTS, 'content-encoding': 'br' }, { is_get: true }, 'chunks'],
  [{ ...EVENTS, 'content-encoding': 'DEFLATE' }, { is_get: true }, 'chunks'],
  [{ ...EVENTS, 'content-encoding': 'zstd' }, { is_get: true }, 'refused'],
  [{ ...EVENTS, 'content-encoding': 'gzip, gzip' }, { is_get: true }, 'refused'],
  [{ 'content-type': 'text/event-stream; charset=utf-7' }, { is_get: true }, 'refused'],
  [{ 'content-type': 'application/json; a=text/event-stream' }, { is_get: true }, 'chunks'],
  [JSON_TYPE, { is_get: true }, 'unseen'],
  [{ 'content-type': 'application/x-ndjson' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'application/x-ndjson', 'content-length': '100' }, { scans: true }, 'whole'],
  [{ 'content-type': 'application/ndjson; charset=utf-8' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'application/jsonl' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'application/json-seq' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'application/stream+json' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'application/x-json-stream' }, { scans: true }, 'chunks'],
  [{ 'content-type': 'application/x-ndjson' }, { lists_tools: true }, 'whole_or_beginning'],
  [{ 'content-type': 'application/problem+json' }, { scans: true }, 'whole_or_beginning'],
  [{ ...EVENTS, 'content-encoding': 'identity' }, { lists_tools: true }, 'chunks'],
  [{ 'content-type': 'multipart/x-mixed-replace' }, { lists_tools: true }, 'refused'],
]

test('the headers decide how a body is buffered', () => {
  for (const [headers, looks, body] of READINGS) {
    const verdict = judged(anInspector(looks).inspector, response(headers))
    assert.equal(verdict.kind === 'pass' ? verdict.body : 'refused', body, JSON.stringify(headers))
  }
})

test('events may be shortened, so they lose their length; bytes keep it', () => {
  const kept = (headers: Readonly<Record<string, string>>): boolean => {
    const verdict = judged(
      anInspector({ scans: true }).inspector,
      response({ 'content-length': '70000', ...headers }),
    )
    return verdict.kind === 'pass' && verdict.headers.some(({ name }) => name === 'content-length')
  }
  assert.equal(kept(EVENTS), false)
  assert.equal(kept({ 'content-type': 'image/png' }), true)
})

/** What becomes of a body: what goes out of it, or why it does not. */
async function outcomeOf(
  inspector: ResponseInspector,
  headers: Readonly<Record<string, string>>,
  ...chunks: readonly (string | Buffer)[]
): Promise<string[]> {
  judged(inspector, response(headers))
  const outcomes: string[] = []
  for (const [i, chunk] of chunks.entries()) {
    const bytes = Buffer.from(chunk as string)
    const verdict = await inspector.body(bytes, i === chunks.length - 1)
    outcomes.push(describe(verdict))
    if (verdict.kind === 'deny') break
  }
  inspector.close()
  return outcomes
}

function describe(verdict: BodyVerdict): string {
  if (verdict.kind === 'pass')
    return verdict.body === null ? 'unchanged' : `as ${verdict.body.toString()}`
  const { reason, details } = verdict.denial
  const { pattern_name } = details as { readonly pattern_name?: string }
  return `refused: ${pattern_name ?? reason}${verdict.before === null ? '' : ` after ${verdict.before.toString()}`}`
}

/** What the scan of a whole body answers, and what becomes of the body. */
const RESULTS: readonly (readonly [
  name: string,
  result: PooledResult,
  outcome: string,
  finding: readonly string[],
])[] = [
  ['clean', CLEAN, 'unchanged', []],
  ['a finding that is refused', found({}), 'refused: a_pattern', []],
  ['a finding that alerts', found({ outcome: 'detected' }), 'unchanged', ['a_pattern']],
  ['a finding that is logged', found({ outcome: 'logged' }), 'unchanged', ['a_pattern']],
  [
    'an encoding that cannot be undone',
    { kind: 'unsupported_encoding', content_encoding: 'x' },
    'refused: unreadable_response',
    [],
  ],
  [
    'too much when it is inflated',
    { kind: 'too_large', limit_bytes: 1 },
    'refused: response_too_large',
    [],
  ],
  ['no thread for it', { kind: 'busy', by: 'all' }, 'refused: unreadable_response', []],
]

for (const [name, result, outcome, finding] of RESULTS)
  test(`a whole body, ${name}: ${outcome}`, async () => {
    const { inspector, findings } = anInspector({ scans: true, result })
    assert.deepEqual(await outcomeOf(inspector, JSON_TYPE, '{"a":1}'), [outcome])
    assert.deepEqual(findings, finding)
  })

test('an empty body is not looked at', async () => {
  const { inspector, scanned } = anInspector({ scans: true, result: found({}), lists_tools: true })
  assert.deepEqual(await outcomeOf(inspector, JSON_TYPE, ''), ['unchanged'])
  assert.deepEqual(scanned, [])
})

const tools = (...names: readonly string[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: names.map((name) => ({ name })) } })

/** A body that may hold a list of tools, of which `search` alone is allowed. */
const LISTS: readonly (readonly [body: string | Buffer, more: object, outcome: string])[] = [
  [tools('search'), {}, 'unchanged'],
  [tools('search', 'drop'), {}, `as ${tools('search')}`],
  [gzipSync(tools('drop', 'search')), { 'content-encoding': 'gzip' }, `as ${tools('search')}`],
  [
    gzipSync(tools('drop')).subarray(5),
    { 'content-encoding': 'gzip' },
    'refused: unreadable_response',
  ],
  [tools('drop'), { 'content-encoding': 'x' }, 'refused: unreadable_response'],
  [`${tools('drop')} ]`, {}, 'refused: unreadable_response'],
  ['{"a":1}', {}, 'unchanged'],
  ['text', {}, 'unchanged'],
]

test('of a list of tools those that the agent may not call are cut', async () => {
  for (const [body, more, outcome] of LISTS) {
    const { inspector } = anInspector({ lists_tools: true })
    assert.deepEqual(await outcomeOf(inspector, { ...JSON_TYPE, ...more }, body), [outcome])
  }
})

test('a body that is cut has another length, encoding and digest', async () => {
  const { inspector } = anInspector({ lists_tools: true })
  judged(inspector, response(JSON_TYPE))
  const verdict = await inspector.body(Buffer.from(tools('search', 'drop')), true)
  assert.ok(verdict.kind === 'pass')
  assert.deepEqual(verdict.remove, ['content-encoding', 'etag', 'content-md5', 'digest'])
})

const event = (data: string): string => `data: ${data}\n\n`

const LONG = 'x'.repeat(LIMIT_BYTES + 1)
const TOO_LARGE = { reason: 'response_too_large', details: { limit_bytes: LIMIT_BYTES } }

test('a response over the limit is refused as one of an API that was called', async () => {
  for (const over_limit of ['refuse', 'pass_unscanned'] as const) {
    // A list of tools is filtered, so that none of it passes unread.
    const looks = over_limit === 'refuse' ? { scans: true } : { scans: true, lists_tools: true }
    const { inspector } = anInspector({ ...looks, over_limit })
    const declared = judged(
      inspector,
      response({ ...JSON_TYPE, 'content-length': String(LIMIT_BYTES + 1) }),
    )
    assert.deepEqual(declared, { kind: 'deny', denial: TOO_LARGE })
    // The answer to a HEAD, or a 304, has the length of a body that does not come.
    const head = judged(inspector, response({ ...JSON_TYPE, 'content-length': '900000' }), true)
    assert.equal(head.kind, 'pass')
    const other = anInspector({ ...looks, over_limit }).inspector
    assert.equal(judged(other, response(JSON_TYPE)).kind, 'pass')
    const verdict = await other.body(Buffer.from(LONG), true)
    assert.deepEqual(verdict, { kind: 'deny', denial: TOO_LARGE, before: null })
  }
  const inflates = anInspector({
    scans: true,
    result: { kind: 'too_large', limit_bytes: LIMIT_BYTES },
  })
  judged(inflates.inspector, response({ ...JSON_TYPE, 'content-encoding': 'gzip' }))
  const verdict = await inflates.inspector.body(Buffer.from('small'), true)
  assert.deepEqual(verdict, { kind: 'deny', denial: TOO_LARGE, before: null })
})

test('with pass_unscanned only the beginning of a longer response is scanned, which is noted', async () => {
  const looks = { scans: true, over_limit: 'pass_unscanned' } as const
  for (const more of [{ 'content-length': String(LIMIT_BYTES + 1) }, {}]) {
    const { inspector, unscanned } = anInspector(looks)
    const verdict = judged(inspector, response({ ...JSON_TYPE, ...more }))
    assert.equal(verdict.kind === 'pass' && verdict.body, 'chunks')
    assert.equal(describe(await inspector.body(Buffer.from('first '), false)), 'unchanged')
    assert.deepEqual(unscanned, [])
    assert.equal(describe(await inspector.body(Buffer.from(LONG), false)), 'unchanged')
    assert.equal(describe(await inspector.body(Buffer.from('bad'), true)), 'unchanged')
    assert.deepEqual(unscanned, [LIMIT_BYTES])
  }
  // What crosses the limit begins within it.
  const crossing = anInspector(looks)
  judged(crossing.inspector, response(JSON_TYPE))
  const refusal = await crossing.inspector.body(Buffer.from(`bad${LONG}`), false)
  assert.match(describe(refusal), /^refused: a_pattern/)
  assert.deepEqual(crossing.unscanned, [])
  const digits = Array.from(LONG + LONG, () => Math.floor(Math.random() * 10)).join('')
  for (const [text, expected] of [
    [`bad${digits}`, /^refused: a_pattern/],
    [`${digits}bad`, /^unchanged/],
  ] as const) {
    const result = { kind: 'too_large', limit_bytes: LIMIT_BYTES } as const
    const inflates = anInspector({ ...looks, result })
    judged(
      inflates.inspector,
      response({ ...JSON_TYPE, 'content-encoding': 'gzip', 'content-length': '90000' }),
    )
    assert.match(
      describe(await inflates.inspector.body(gzipSync(text), true)).slice(0, 99),
      expected,
    )
  }
  const short = anInspector(looks)
  const verdict = judged(
    short.inspector,
    response({ ...JSON_TYPE, 'content-length': String(LIMIT_BYTES) }),
  )
  assert.equal(verdict.kind === 'pass' && verdict.body, 'whole')
  const bad = anInspector(looks)
  judged(bad.inspector, response(JSON_TYPE))
  assert.match(describe(await bad.inspector.body(Buffer.from('bad'), true)), /^refused: a_pattern/)
})

test('what Envoy sends before the end, within the limit, is refused: the rest would pass unseen', async () => {
  for (const [headers, end, outcome] of [
    [{}, true, /^unchanged$/],
    [{}, false, /^refused: unreadable_response/],
    // Trailers were announced, so Envoy was asked for the whole body.
    [{ trailer: 'x-sum' }, false, /^unchanged$/],
  ] as const) {
    const { inspector } = anInspector({ scans: true })
    judged(inspector, response({ ...JSON_TYPE, ...headers }))
    assert.match(describe(await inspector.body(Buffer.from('good'), end)), outcome)
  }
})

/** A stream of events, chunk by chunk, and what goes out. */
const STREAMS: readonly (readonly [
  name: string,
  looks: Looks,
  chunks: readonly string[],
  outcomes: readonly string[],
])[] = [
  ['good ones', { scans: true }, [event('a'), event('b')], ['unchanged', 'unchanged']],
  [
    'a bad one',
    { scans: true },
    [event('a'), event('good') + event('bad') + event('b')],
    ['unchanged', `refused: a_pattern after ${event('good')}`],
  ],
  [
    'a bad one in two chunks',
    { scans: true },
    ['data: b', 'ad\n\n'],
    ['as ', 'refused: a_pattern'],
  ],
  ['a bad one that alerts', { scans: true, mode: 'alert' }, [event('bad')], ['unchanged']],
  [
    'no thread for it',
    { scans: true, is_busy: true },
    [event('a')],
    ['refused: unreadable_response'],
  ],
  [
    'a list of tools',
    { lists_tools: true },
    [event(tools('search', 'drop'))],
    [`as ${event(tools('search'))}`],
  ],
  [
    'a list in two chunks',
    { lists_tools: true },
    [event(tools('drop')).slice(0, 30), event(tools('drop')).slice(30)],
    ['as ', `as ${event(tools())}`],
  ],
  [
    'a list that is not readable',
    { lists_tools: true },
    [event(`${tools('drop')} ]`)],
    ['refused: unreadable_response'],
  ],
  [
    'a list before a bad one',
    { scans: true, lists_tools: true },
    [event(tools('drop')) + event('bad')],
    [`refused: a_pattern after ${event(tools())}`],
  ],
]

for (const [name, looks, chunks, outcomes] of STREAMS)
  test(`a stream of events with ${name}`, async () => {
    const { inspector } = anInspector(looks)
    assert.deepEqual(await outcomeOf(inspector, EVENTS, ...chunks), outcomes)
  })

const ENDPOINT = 'event: endpoint\ndata: /v1/messages\n\n'
const OWN_ENDPOINT = 'event: endpoint\ndata: /https://api.example.com/v1/messages\n\n'
const FOREIGN_ENDPOINT = 'event: endpoint\ndata: /https://other.example.com/v1\n\n'
const ENCODINGS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
}

/** A compressed stream of events, and the text that goes out; `cut` where the stream ends in a refusal. */
const COMPRESSED: readonly (readonly [
  name: string,
  looks: Looks,
  text: string,
  out: string,
  cut: string,
])[] = [
  ['of a GET', { is_get: true }, event('a') + event('b'), event('a') + event('b'), ''],
  ['with an endpoint of the API', { is_get: true }, ENDPOINT, OWN_ENDPOINT, ''],
  [
    'with an endpoint elsewhere',
    { is_get: true },
    event('a') + FOREIGN_ENDPOINT,
    event('a'),
    'redirect_refused',
  ],
  [
    'with a list of tools',
    { lists_tools: true },
    event(tools('search', 'drop')),
    event(tools('search')),
    '',
  ],
  [
    'with an attack',
    { is_get: true, scans: true },
    event('a') + event('bad'),
    event('a'),
    'security_block',
  ],
  [
    'with a list and an attack',
    { lists_tools: true, scans: true },
    event(tools('drop')) + event('bad'),
    event(tools()),
    'security_block',
  ],
]

for (const [name, looks, text, out, cut] of COMPRESSED)
  for (const [encoding, compress] of Object.entries(ENCODINGS))
    for (const size of [1, 7, 1_000])
      test(`a stream in ${encoding} ${name}, in pieces of ${size}, goes out as it is read`, async () => {
        const { inspector } = anInspector(looks)
        const headers = {
          ...EVENTS,
          'content-encoding': encoding,
          'content-length': '9',
          etag: '"e"',
        }
        const verdict = judged(inspector, response(headers))
        assert.ok(verdict.kind === 'pass')
        assert.deepEqual(
          verdict.headers.map((header) => header.name),
          [':status', 'content-type'],
        )
        const bytes = compress(Buffer.from(text))
        let sent = ''
        let reason = ''
        // The end comes as an empty piece.
        for (let at = 0; at < bytes.length + size && reason === ''; at += size) {
          const piece = bytes.subarray(at, at + size)
          const one = await inspector.body(piece, at >= bytes.length)
          if (one.kind === 'deny') reason = one.denial.reason
          sent += String(one.kind === 'deny' ? (one.before ?? '') : (one.body ?? piece))
        }
        inspector.close()
        assert.deepEqual([sent, reason], [out, cut])
      })

test('a compressed event stream that is invalid or a decompression bomb is cut', async () => {
  const bomb = gzipSync(Buffer.alloc(9 << 20))
  for (const [looks, reason] of [
    [{ is_get: true }, 'redirect_refused'],
    [{ lists_tools: true }, 'security_block'],
  ] as const)
    for (const bytes of [Buffer.from(event('a')), bomb]) {
      const { inspector } = anInspector(looks)
      judged(inspector, response({ ...EVENTS, 'content-encoding': 'gzip' }))
      const verdict = await inspector.body(bytes, false)
      assert.equal(verdict.kind === 'deny' && verdict.denial.reason, reason)
      assert.equal(verdict.kind === 'deny' && verdict.before, null)
      inspector.close()
    }
})

test('events of a long chunk are filtered in turns of the event loop, as those of a short one', async () => {
  const event = (name: string): string =>
    `data: {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"${name}"}]}}\n\n`
  const { inspector } = anInspector({ lists_tools: true })
  judged(inspector, response(EVENTS))
  let turns = 0
  const count = (): void => void turns++
  const waiting = Array.from({ length: 4 }, () => setImmediate(count))
  const chunk = Buffer.from(`${event('search')}${event('drop')}`.repeat(2_000))
  const verdict = await inspector.body(chunk, true)
  assert.ok(turns > 0)
  for (const one of waiting) clearImmediate(one)
  const out = verdict.kind === 'pass' ? String(verdict.body) : ''
  assert.equal(out.split('"search"').length - 1, 2_000)
  assert.ok(!out.includes('"drop"'))
})

test('an answer to tools/list that is longer than any model reads is refused', async () => {
  const text = `{"result":{"tools":[{"name":"search","description":"${'x'.repeat(1 << 20)}"}]}}`
  for (const [is_get, expected] of [
    [false, 'refused: response_too_large'],
    [true, 'pass'],
  ] as const) {
    const { inspector } = anInspector({ lists_tools: true, is_get, limit_bytes: 1 << 23 })
    const body = Buffer.from(text)
    judged(inspector, response({ ...JSON_TYPE, 'content-length': String(body.length) }))
    const verdict = await inspector.body(body, true)
    assert.equal(
      verdict.kind === 'deny' ? `refused: ${verdict.denial.reason}` : verdict.kind,
      expected,
    )
  }
})

const SECRET_TOKEN = 'sk_live/0123+abc"d&=='
const base64 = (text: string): string => Buffer.from(text).toString('base64')
/** What an API makes of a credential that it repeats. */
const ECHOES: readonly string[] = [
  SECRET_TOKEN,
  `Bearer ${SECRET_TOKEN}`,
  JSON.stringify({ authorization: `Bearer ${SECRET_TOKEN}` }),
  JSON.stringify(SECRET_TOKEN).replaceAll('/', '\\/'),
  // .NET, Go, a page, and an older .NET.
  '"sk_live/0123\\u002Babc\\u0022d\\u0026=="',
  '"sk_live/0123+abc\\"d\\u0026=="',
  '"sk_live/0123+abc\\"d\\u0026\\u003d\\u003d"',
  'sk_live/0123+abc&quot;d&amp;==',
  'sk_live%2f0123%2babc%22d%26%3d%3d',
  encodeURIComponent(SECRET_TOKEN),
  ...['', 'a', 'ab'].flatMap((before) => [
    base64(`${before}${SECRET_TOKEN}`),
    Buffer.from(`${before}${SECRET_TOKEN}x`).toString('base64url'),
  ]),
]

/** With a user, followed by more, in an address that is a parameter of another, and where the beginning alone is escaped. */
const ADDRESS_ECHOES = [
  base64(`user:${SECRET_TOKEN}`),
  ...['', 'a', 'ab'].map((before) => base64(`${before}${SECRET_TOKEN} and more`)),
  encodeURIComponent(encodeURIComponent(SECRET_TOKEN)),
  `%73${SECRET_TOKEN.slice(1)}`,
  ...['', 'a', 'ab', 'user:'].map((before) => encodeURIComponent(base64(before + SECRET_TOKEN))),
]

test('a body that repeats the credential is withheld, in whatever form, also compressed', async () => {
  for (const echo of ECHOES)
    for (const encoding of ['', 'gzip']) {
      const text = Buffer.from(`{"headers": ${echo}}`)
      const body = encoding === '' ? text : gzipSync(text)
      const { inspector } = anInspector({ echo_secrets: [SECRET_TOKEN] })
      const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
      const asked = judged(
        inspector,
        response(encoding === '' ? headers : { ...headers, 'content-encoding': encoding }),
      )
      assert.equal(asked.kind === 'pass' && asked.body, 'whole')
      const verdict = await inspector.body(body, true)
      assert.equal(verdict.kind === 'deny' && verdict.denial.reason, 'credential_echoed', echo)
      assert.equal(verdict.kind === 'deny' && verdict.before, null)
      inspector.close()
    }
})

test('a stream is cut before the credential, however it is split; all else passes without a delay', async () => {
  const types = ['text/event-stream', 'application/octet-stream', 'application/x-ndjson']
  for (const [i, echo] of ECHOES.entries())
    for (const size of [1, 3, 7, 1000]) {
      const { inspector } = anInspector({ echo_secrets: [SECRET_TOKEN] })
      judged(inspector, response({ 'content-type': types[i % types.length] ?? '' }))
      const bytes = Buffer.from(`data: one sk_live/012 Bear\n\ndata: ${echo} end\n\n`)
      let [out, reason] = ['', '']
      for (let at = 0; at < bytes.length && reason === ''; at += size) {
        const chunk = bytes.subarray(at, at + size)
        const verdict = await inspector.body(chunk, at + size >= bytes.length)
        out += String(verdict.kind === 'deny' ? (verdict.before ?? '') : (verdict.body ?? chunk))
        if (verdict.kind === 'deny') ({ reason } = verdict.denial)
      }
      assert.equal(reason, 'credential_echoed', `${echo} by ${size}`)
      assert.ok(out.startsWith('data: one sk_live/012 Bear\n\ndata: '), out)
      // The first characters may be out before it is known what follows.
      for (let from = 0; from + 4 <= echo.length; from++)
        if (SECRET_TOKEN.includes(echo.slice(from, from + 4)))
          assert.ok(
            !out.slice(34).includes(echo.slice(from, from + 4)),
            `${echo} by ${size}: ${out}`,
          )
      inspector.close()
    }
  const { inspector } = anInspector({ echo_secrets: [SECRET_TOKEN] })
  judged(inspector, response({ 'content-type': 'text/event-stream' }))
  for (const text of ['data: s', 'k_', 'data: sk_liv', 'e/0123', '+ab: no\n\n', 'sk_live/0123']) {
    const verdict = await inspector.body(Buffer.from(text), false)
    assert.equal(verdict.kind, 'pass')
  }
  const last = await inspector.body(Buffer.from('!'), true)
  assert.equal(last.kind === 'pass' && String(last.body ?? '!'), 'sk_live/0123!')
})

test('a large body is searched in turns of the event loop, and a short secret is not searched for', async () => {
  const { inspector } = anInspector({ echo_secrets: [SECRET_TOKEN] })
  judged(inspector, response({ 'content-type': 'application/zip', 'content-length': '9000000' }))
  let turns = 0
  const count = (): void => void turns++
  setImmediate(count)
  const body = Buffer.alloc(1 << 20, 'sk_live/')
  const verdict = await inspector.body(body, false)
  assert.ok(turns > 0)
  assert.equal(verdict.kind, 'pass')
  const short = anInspector({ echo_secrets: ['short'] }).inspector
  judged(short, response({ 'content-type': 'text/event-stream' }))
  assert.equal((await short.body(Buffer.from('short'), true)).kind, 'pass')
})
