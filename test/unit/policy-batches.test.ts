import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainCall } from '../../admin/try/explain-call.ts'
import { scopeDetails } from '../../core/decision/scope-details.ts'
import { readBody } from '../../core/inspection/read-body.ts'
import { describeParts, isBatchPath } from '../../core/request/batch.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { decideScope } from '../../core/decision/decide-scope.ts'
import { findOverrides } from '../../core/request/find-overrides.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { joinOverrides } from '../../core/request/overrides.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'
import { aScope, anAgent, anIntegration, targetOf } from './policy-kit.ts'

const BASE = 'https://x/v1'
const TABLE = compileIntegrations([
  anIntegration(BASE, { integration_id: 'int_a' }),
  anIntegration('https://x/v2', { integration_id: 'int_b' }),
  anIntegration('https://y', { integration_id: 'int_c' }),
])
const RULES = [
  {
    methods: ['POST'],
    paths: ['/batch', '/$batch', '/composite/**', '/monitors', '/Bulk', '/', '/files'],
  },
  { methods: ['GET'], paths: ['/items/*', '/batch'] },
]
const scopesOf = (allow_batches: boolean) =>
  compileScopes([aScope({ rules: RULES, allow_batches })])

interface Call {
  readonly path?: string
  readonly type?: string
  readonly allow_batches?: boolean
  readonly method?: string
}

/** `allowed`, or the member that decided and why. */
function judge(
  body: string | Buffer,
  { path = '/batch', type = 'application/json', allow_batches = false, method = 'POST' }: Call = {},
): string {
  const target = targetOf(`${BASE}${path}`)
  const { integration } = matchIntegration(TABLE, target)
  assert.ok(integration !== null)
  const { facts } = readBody(
    Buffer.from(body),
    {
      content_type: type,
      content_encoding: null,
      limit_bytes: 8_388_608,
      identity: null,
      asks_overrides: true,
      is_batch_path: isBatchPath(target.segments),
      keeps_body: true,
      json_rpc: null,
      scan: null,
    },
    null,
    new SearchBudget(),
  )
  const asked = { method, target, integration }
  const said = joinOverrides(findOverrides([], target.raw_query), facts.overrides)
  const decision = decideScope(scopesOf(allow_batches), TABLE, asked, said)
  const explained = explainCall({
    method,
    url: `${BASE}${path}`,
    headers: { 'content-type': type },
    body: body.toString(),
    agent: { agent: anAgent(), killed_at: null, scopes: scopesOf(allow_batches) },
    integrations: TABLE,
    now_ms: 0,
  })
  // Text alone can be explained.
  if (typeof body === 'string')
    assert.equal(explained.answer === 'allowed', decision.kind === 'allowed', body)
  if (decision.kind === 'allowed') return 'allowed'
  const { override, batch, attempted_action } = scopeDetails(integration, decision)
  return `${String(override)}: ${String(batch ?? attempted_action)}`
}

const requests = (...parts: object[]): string => JSON.stringify({ requests: parts })
const get = (url: string) => ({ id: '1', method: 'GET', url })
const drop = (url: string) => ({ id: '2', method: 'DELETE', url })

test('each part of a JSON batch must be allowed, whatever its API names it', () => {
  const rows: [body: string, path: string, expected: string][] = [
    [requests(get('/items/1')), '/batch', 'allowed'],
    [requests(get('/items/1'), drop('/items/1')), '/batch', 'requests[1].method: DELETE /items/1'],
    [requests(get('/keys')), '/batch', 'requests[0].url: GET /keys'],
    [requests(get('items/1')), '/$batch', 'allowed'],
    [requests(get('/v1/items/1?a=b')), '/$batch', 'allowed'],
    [requests(get('https://x/v1/items/1')), '/$batch', 'allowed'],
    [requests(get('https://X:443/v1/items/1')), '/$batch', 'allowed'],
    [requests(get('https://x/v2/items/1')), '/$batch', 'requests[0].url: elsewhere'],
    [requests(get('/v2/items/1')), '/$batch', 'requests[0].url: elsewhere'],
    [requests(get('https://y/items/1')), '/$batch', 'requests[0].url: elsewhere'],
    [requests(get('//y/items/1')), '/$batch', 'requests[0].url: elsewhere'],
    [requests(get('/items/1'), get('https://z/')), '/monitors', 'requests[1].url: elsewhere'],
    [requests(get('../v2/items/1')), '/$batch', 'requests[0].url: elsewhere'],
    [requests(get('/items/..%2fkeys')), '/$batch', 'requests[0].url: elsewhere'],
    [requests(get('/items/1%2fsecret')), '/$batch', 'requests[0].url: GET /items/1%2fsecret'],
    [requests(get('/items/1?_method=DELETE')), '/$batch', 'requests[0].url: DELETE /items/1'],
    [
      requests(get('/items/1%26_method=DELETE')),
      '/$batch',
      'requests[0].url: DELETE /items/1%26_method=DELETE',
    ],
    [
      requests({ ...get('/items/1'), headers: { 'X-HTTP-Method-Override': 'DELETE' } }),
      '/$batch',
      'requests[0].headers.X-HTTP-Method-Override: DELETE /items/1',
    ],
    [
      requests({ ...get('/items/1'), headers: [{ name: 'X-HTTP-Method', value: 'PUT' }] }),
      '/$batch',
      'requests[0].headers.X-HTTP-Method: PUT /items/1',
    ],
    [
      requests({ ...get('/items/1'), headers: ['X-Method-Override: PUT'] }),
      '/$batch',
      'requests[0].headers.X-Method-Override: PUT /items/1',
    ],
    [
      requests({ ...get('/items/1'), headers: { Host: 'y' } }),
      '/$batch',
      'requests[0].headers.Host: elsewhere',
    ],
    [
      requests({ ...get('/items/1'), body: { _method: 'DELETE' } }),
      '/$batch',
      'requests[0].body._method: DELETE /items/1',
    ],
    [
      requests({ ...get('/items/1'), body: 'a=b&method=delete' }),
      '/$batch',
      'requests[0].body: DELETE /items/1',
    ],
    [
      requests({ ...get('/items/1'), body: JSON.parse(requests(drop('/items/1'))) }),
      '/$batch',
      'requests[0].method: DELETE /items/1',
    ],
    [
      requests({ ...get('/items/1'), method: 'delete' }),
      '/$batch',
      'requests[0].method: DELETE /items/1',
    ],
    [
      '{"requests":[{"method":"GET","method":"DELETE","url":"/items/1"}]}',
      '/$batch',
      'requests[0].method: DELETE /items/1',
    ],
    [
      '{"requests":[{"\\u006dethod":"DELETE","ur\\u006c":"/items/1"}]}',
      '/$batch',
      'requests[0].method: DELETE /items/1',
    ],
    [
      '{"requests":[{"method":"DELETE","url":"/items/1"}],"requests":[]}',
      '/$batch',
      'requests[0].method: DELETE /items/1',
    ],
    [
      '{"batch":[{"method":"DELETE","relative_url":"items/1"}]}',
      '/',
      'batch[0].method: DELETE /items/1',
    ],
    ['{"batch":[{"method":"GET","relative_url":"items/1"}]}', '/', 'allowed'],
    [
      '{"compositeRequest":[{"method":"PATCH","url":"/v1/items/1","referenceId":"a"}]}',
      '/composite/x',
      'compositeRequest[0].method: PATCH /items/1',
    ],
    [
      '{"graphs":[{"graphId":"1","compositeRequest":[{"method":"DELETE","url":"/v1/items/1"}]}]}',
      '/composite/graph',
      'compositeRequest[0].method: DELETE /items/1',
    ],
    [
      '{"batchRequests":[{"method":"PATCH","url":"v1/items/1","richInput":{"Name":"x"}}]}',
      '/composite/batch',
      'batchRequests[0].method: PATCH /items/1',
    ],
    [
      '{"data":{"actions":[{"method":"delete","relative_path":"/items/1"}]}}',
      '/batch',
      'actions[0].method: DELETE /items/1',
    ],
    [
      '{"operations":[{"method":"POST","path":"/keys","body":"{}"}]}',
      '/monitors',
      'operations[0].path: POST /keys',
    ],
    [
      '{"schemas":["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],"Operations":[{"method":"DELETE","path":"/Users/1"}]}',
      '/Bulk',
      'Operations[0].path: DELETE /Users/1',
    ],
    [
      '{"resourceType":"Bundle","type":"batch","entry":[{"resource":{},"request":{"method":"DELETE","url":"items/1"}}]}',
      '/',
      'entry[0].method: DELETE /items/1',
    ],
    [
      '{"requests":[{"httpMethod":"DELETE","relativeUrl":"/items/1"}]}',
      '/monitors',
      'requests[0].httpMethod: DELETE /items/1',
    ],
    ['[{"method":"DELETE","to":"/items/1","id":0}]', '/batch', '[0].method: DELETE /items/1'],
    [
      '{"atomic:operations":[{"op":"remove","href":"/items/1"}]}',
      '/',
      'atomic:operations[0].op: DELETE /items/1',
    ],
    ['{"requests":[{"path":"/items/1"},{"path":"/keys"}]}', '/batch', 'requests[0]: POST /items/1'],
    [
      '{"defaults":{"method":"DELETE"},"requests":[{"path":"/items/1"}]}',
      '/batch',
      'requests[0]: POST /items/1',
    ],
    [
      '{"requests":{"a":{"method":"DELETE","url":"/items/1"}}}',
      '/monitors',
      'requests[0].method: DELETE /items/1',
    ],
    ['{"requests":["DELETE /items/1"]}', '/batch', 'requests[0]: DELETE /items/1'],
    [
      requests(get('/items/1')) + requests(drop('/items/1')),
      '/batch',
      'requests[0].method: DELETE /items/1',
    ],
    [`\ufeff${requests(drop('/items/1'))}`, '/batch', 'requests[0].method: DELETE /items/1'],
  ]
  for (const [body, path, expected] of rows)
    assert.deepEqual([body, path, judge(body, { path })], [body, path, expected])
  const file = { type: 'application/octet-stream' }
  assert.equal(judge(requests(drop('/items/1')), file), 'requests[0].method: DELETE /items/1')
  assert.equal(judge(requests(drop('/items/1')), { ...file, path: '/monitors' }), 'allowed')
  const wide = Buffer.from(requests(drop('/items/1')), 'utf16le')
  assert.equal(judge(wide), 'body: unread')
  assert.equal(judge(wide, { allow_batches: true }), 'requests[0].method: DELETE /items/1')
})

test('what cannot be read is refused unless the scope allows batches, and what can be read never depends on it', () => {
  const unread: [body: string, name: string][] = [
    [requests(get('/items/@{a.id}')), 'requests[0].url'],
    [requests(get('/items/{result=a:$.id}')), 'requests[0].url'],
    [requests(get('$1/orders')), 'requests[0].url'],
    [requests(get('/items/$0.id')), 'requests[0].url'],
    [requests(get(''), get('/items/1')), 'requests[0].url'],
    [requests(get('/items/1'), { method: 'GET' }), 'requests[1].url'],
    [requests(get('/items/1'), { method: ['GET'], url: '/items/1' }), 'requests[1].method'],
    [requests({ ...get('/items/1'), method: '{{m}}' }, get('/items/1')), 'requests[0].method'],
    [requests({ method: 'POST', url: '/batch', body: 'x' }), 'requests[0].url'],
    [requests(get(`/items/${'x'.repeat(3_000)}`)), 'requests[0].url'],
    ["{'requests':[{'method':'DELETE','url':'/items/1'}]}", 'body'],
    ['{/**/"requests":[{"method":"DELETE","url":"/items/1"}],}', 'body'],
    [requests(...Array.from({ length: 201 }, () => get('/items/1'))), 'requests'],
  ]
  for (const [body, name] of unread) {
    assert.equal(judge(body), `${name}: unread`, body.slice(0, 80))
    assert.equal(judge(body, { allow_batches: true }), 'allowed', body.slice(0, 80))
  }
  const full = Array.from({ length: 200 }, () => get('/items/1'))
  assert.equal(judge(requests(...full)), 'allowed')
  assert.equal(
    judge(requests(...full.slice(1), drop('/items/1'))),
    'requests[199].method: DELETE /items/1',
  )
  const allow_batches = true
  assert.equal(
    judge(requests(drop('/items/1')), { allow_batches }),
    'requests[0].method: DELETE /items/1',
  )
  assert.equal(judge(requests(get('https://y/')), { allow_batches }), 'requests[0].url: elsewhere')
})

const CRLF = (text: string): string => text.replaceAll('\n', '\r\n')
const http = (request: string, head = 'Content-Type: application/http'): string =>
  CRLF(`--b\n${head}\n\n${request}\n`)

test('each request in a multipart batch must be allowed', () => {
  const mixed = 'multipart/mixed; boundary=b'
  const one = http('GET /v1/items/1 HTTP/1.1\nAccept: */*\n\n')
  const rows: [body: string, type: string, expected: string][] = [
    [`${one}--b--`, mixed, 'allowed'],
    [
      `${one}${http('DELETE /v1/items/1 HTTP/1.1\n\n')}--b--`,
      mixed,
      'part[1].method: DELETE /items/1',
    ],
    [http('DELETE items/1 HTTP/1.1\n\n'), mixed, 'part[0].method: DELETE /items/1'],
    [http('DELETE /v1/items/1\n\n'), mixed, 'part[0].method: DELETE /items/1'],
    [
      http('\n\nDELETE https://x/v1/items/1 HTTP/1.1\n\n'),
      mixed,
      'part[0].method: DELETE /items/1',
    ],
    [http('GET /v2/items/1 HTTP/1.1\n\n'), mixed, 'part[0].path: elsewhere'],
    [http('GET /v1/items/1 HTTP/1.1\nHost: y\n\n'), mixed, 'part[0].host: elsewhere'],
    [http('GET /v1/items/1 HTTP/1.1\nHost: x\n\n'), mixed, 'allowed'],
    [
      http('GET /v1/items/1 HTTP/1.1\nX-HTTP-Method-Override: DELETE\n\n'),
      mixed,
      'part[0].x-http-method-override: DELETE /items/1',
    ],
    [http('GET /v1/items/1 HTTP/1.1\n\n_method=DELETE'), mixed, 'part[0].body: DELETE /items/1'],
    [
      http('DELETE /v1/items/1 HTTP/1.1\n\n', 'content-type : Application / HTTP;msgtype=request'),
      mixed,
      'part[0].method: DELETE /items/1',
    ],
    [
      http('DELETE /v1/items/1 HTTP/1.1\n\n', 'Content-Type: application/x-arango-batchpart'),
      mixed,
      'part[0].method: DELETE /items/1',
    ],
    [
      http('DELETE /v1/items/1 HTTP/1.1\n\n', 'Content-ID: 1'),
      mixed,
      'part[0].method: DELETE /items/1',
    ],
    [
      CRLF(
        '--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: application/http\nContent-ID: 1\n\nPATCH items/1 HTTP/1.1\n\n{}\n--c--\n--b--',
      ),
      mixed,
      'part[0].method: PATCH /items/1',
    ],
    [
      one.replaceAll('\r\n', '\n').replace('GET', 'DELETE'),
      mixed,
      'part[0].method: DELETE /items/1',
    ],
    [
      http('R0VUIC8=', 'Content-Type: application/http\nContent-Transfer-Encoding: base64'),
      mixed,
      'part[0].request line: unread',
    ],
    [http('nothing of the kind'), mixed, 'part[0].request line: unread'],
    [
      http('GET /v1/items/1 HTTP/1.1\n\nGET /v1/items/2 HTTP/1.1\n\n'),
      mixed,
      'part[0].second request: unread',
    ],
    [
      CRLF(
        '--b\nContent-Disposition: form-data; name="batch"\n\n[{"method":"DELETE","relative_url":"items/1"}]\n--b--',
      ),
      'multipart/form-data; boundary=b',
      'batch[0].method: DELETE /items/1',
    ],
    [
      CRLF('--b\nContent-Disposition: form-data; name="note"\n\nGET /keys HTTP/1.1\n--b--'),
      'multipart/form-data; boundary=b',
      'allowed',
    ],
  ]
  for (const [body, type, expected] of rows)
    assert.deepEqual([body, judge(body, { path: '/$batch', type })], [body, expected])
  const many = http('GET /v1/items/1 HTTP/1.1\n\n').repeat(201)
  assert.equal(judge(many, { type: mixed }), 'multipart: unread')
})

test('a batch in a query or form is read like one in JSON', () => {
  const FORM = 'application/x-www-form-urlencoded'
  const list = encodeURIComponent('[{"method":"DELETE","relative_url":"items/1"}]')
  const safe = encodeURIComponent('[{"method":"GET","relative_url":"items/1"}]')
  const rows: [path: string, body: string, method: string, expected: string][] = [
    [`/batch?batch=${list}`, '', 'GET', 'batch[0].method: DELETE /items/1'],
    [`/batch?batch=${safe}`, '', 'GET', 'allowed'],
    ['/batch?urls=/items/1,/keys', '', 'GET', 'urls[1]: GET /keys'],
    ['/batch?urls=/items/1,/items/2', '', 'GET', 'allowed'],
    ['/', `batch=${list}`, 'POST', 'batch[0].method: DELETE /items/1'],
    ['/', `${'a=1&'.repeat(400)}b%61tch=${list}`, 'POST', 'batch[0].method: DELETE /items/1'],
    ['/', `batch=${safe}`, 'POST', 'allowed'],
    [
      '/',
      'requests[0][method]=DELETE&requests[0][path]=/items/1',
      'POST',
      'requests[0].method: DELETE /items/1',
    ],
    [
      '/',
      'requests%5B0%5D%5Bpath%5D=/keys&requests%5B0%5D%5Bmethod%5D=GET',
      'POST',
      'requests[0].path: GET /keys',
    ],
  ]
  for (const [path, body, method, expected] of rows)
    assert.deepEqual(
      [path, body, judge(body, { path, type: FORM, method })],
      [path, body, expected],
    )
})

test('what only looks like a batch passes', () => {
  const bodies: [body: string, path: string][] = [
    ['{"method":"GET","url":"https://status.example.com/health"}', '/monitors'],
    ['{"method":"DELETE","url":"/items/1"}', '/monitors'],
    ['{"httpMethod":"delete","_method":"getUser"}', '/monitors'],
    ['{"nodes":[{"name":"HTTP","parameters":{"method":"DELETE","url":"/items/1"}}]}', '/monitors'],
    [requests(drop('https://status.example.com/a'), get('https://y/health')), '/monitors'],
    ['{"requests":[{"method":"tools/call","params":{"url":"/keys"}}]}', '/monitors'],
    ['{"requests":[{"custom_id":"a","params":{"model":"m","messages":[]}}]}', '/batch'],
    ['{"requests":[{"image":{"source":{"imageUri":"https://y/a.png"}},"features":[]}]}', '/batch'],
    ['{"requests":[{"insertText":{"text":"DELETE /keys","location":{"index":1}}}]}', '/batch'],
    ['{"operations":[{"op":"remove","path":"/a/b"}]}', '/monitors'],
    [
      '{"batch":[{"type":"page","event":"x","properties":{"url":"https://z/","path":"/keys"}}]}',
      '/batch',
    ],
    ['{"logs":[{"method":"DELETE","path":"/keys","status":200}]}', '/monitors'],
    ['[{"request":{"verb":"DELETE","uri":"https://z/keys"},"response":{"status":200}}]', '/batch'],
    ['{"index":{"_index":"a"}}\n{"method":"DELETE","url":"/keys"}\n', '/Bulk'],
    ['{"input_file_id":"f","endpoint":"/v1/chat/completions","completion_window":"24h"}', '/batch'],
    [
      '{"messages":[{"role":"user","content":"{\\"requests\\":[{\\"method\\":\\"DELETE\\",\\"url\\":\\"/keys\\"}]}"}]}',
      '/monitors',
    ],
    ['{"actions":[{"type":"open","url":"/keys"}]}', '/monitors'],
  ]
  for (const [body, path] of bodies)
    assert.deepEqual([body, judge(body, { path })], [body, 'allowed'])
})

test('the entry lists the parts, without secrets', () => {
  const key = `sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}`
  const part = (value: string) => ({
    place: 'requests[0]',
    methods: [{ value: 'GET', name: 'method' }],
    addresses: [{ value, name: 'url' }],
    hosts: [],
    unread: null,
  })
  const shown = (...values: string[]) =>
    describeParts({
      lists: [{ is_certain: true, parts: values.map(part) }],
      defaults: [],
      unread: null,
    })
  assert.deepEqual(shown('/a?b=c', '/d'), ['GET /a', 'GET /d'])
  assert.ok(!shown(`/x/${key}`).join().includes(key))
  const many = shown(...Array.from({ length: 300 }, () => `/${'x'.repeat(500)}`))
  assert.ok(many.join().length < 10_000 && many.at(-1)?.endsWith(' more') === true)
})
