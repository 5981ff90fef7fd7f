import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeHeaderValue } from '../../core/mcp/decode-header-value.ts'
import { readJsonRpc } from '../../core/mcp/read-json-rpc.ts'
import { readMcpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import type { ErrorBody } from '../../core/catalogue/reasons.ts'
import { writeError } from '../../ext-proc/verdict/write-error.ts'

type Headers = Readonly<Record<string, string>>

const listOf = (headers: Headers) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`
/** Header values come one character per byte. */
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

const META = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}'
const CALL = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"region":"eu","n":42,"deep":{"on":true,"list":[{"x":"ü"}]},"none":null},${META}}}`
const METHOD = { 'mcp-method': 'tools/call' }
const BOTH = { ...METHOD, 'mcp-name': 'read' }

const message = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })

test('headers of an MCP call that agree with the body pass', () => {
  const rows: [headers: Headers, body: string][] = [
    [{}, CALL],
    [METHOD, CALL],
    [BOTH, CALL],
    [{ ...BOTH, 'mcp-protocol-version': '2026-07-28' }, CALL],
    [{ 'mcp-protocol-version': '2025-11-25' }, message('ping', {})],
    [{ 'mcp-protocol-version': '2026-07-28' }, message('ping', {})],
    [{ 'mcp-session-id': 'x' }, 'no json'],
    [{ ...METHOD, 'mcp-name': base64('read') }, CALL],
    [{ ...METHOD, 'mcp-name': '  read\t' }, CALL],
    [{ ...METHOD, 'mcp-name': base64('größe') }, message('tools/call', { name: 'größe' })],
    [{ ...METHOD, 'mcp-name': latin1('größe') }, message('tools/call', { name: 'größe' })],
    [{ ...METHOD, 'mcp-name': 'read' }, CALL.replace('"read"', '"r\\u0065ad"')],
    [{ 'mcp-method': 'prompts/get', 'mcp-name': 'p' }, message('prompts/get', { name: 'p' })],
    [
      { 'mcp-method': 'resources/read', 'mcp-name': 'file:///a' },
      message('resources/read', { uri: 'file:///a', name: 'other' }),
    ],
    [{ 'mcp-method': 'tasks/get', 'mcp-name': 't1' }, message('tasks/get', { taskId: 't1' })],
    [{ 'mcp-method': 'tasks/update', 'mcp-name': 't1' }, message('tasks/update', { taskId: 't1' })],
    [{ 'mcp-method': 'x/own', 'mcp-name': 'n' }, message('x/own', { name: 'n' })],
    [{ 'mcp-method': 'x/own', 'mcp-name': 'n' }, message('x/own', { key: 'n' })],
    [{ 'mcp-method': 'server/discover' }, message('server/discover', {})],
    [{ ...BOTH, 'mcp-param-region': 'eu' }, CALL],
    [{ ...BOTH, 'mcp-param-n': '42' }, CALL],
    [{ ...BOTH, 'mcp-param-n': '42.0' }, CALL],
    [{ ...BOTH, 'mcp-param-on': 'true', 'mcp-param-x': base64('ü') }, CALL],
    [{ ...BOTH, 'mcp-param-a': 'eu', 'mcp-param-b': 'eu' }, CALL],
    [METHOD, '\ufeff' + CALL],
    [METHOD, `[${CALL},${CALL}]`],
  ]
  for (const [headers, body] of rows) {
    const read = readJsonRpc(Buffer.from(body), readMcpHeaders(listOf(headers)))
    assert.notEqual(read.kind, 'mismatch', JSON.stringify([headers, body, read]))
  }
})

test('a header that disagrees with the body is named', () => {
  const rows: [headers: Headers, body: string | Buffer, header: string][] = [
    [{ 'mcp-method': 'ping' }, CALL, 'mcp-method'],
    [{ 'mcp-method': 'tools/list' }, CALL, 'mcp-method'],
    [{ 'mcp-method': 'Tools/Call' }, CALL, 'mcp-method'],
    [{ 'mcp-method': 'tools/call, ping' }, CALL, 'mcp-method'],
    [{ 'mcp-method': '' }, CALL, 'mcp-method'],
    [{ 'mcp-method': base64('tools/call') }, CALL, 'mcp-method'],
    [METHOD, message('ping', {}), 'mcp-method'],
    [METHOD, message('Tools/Call', { name: 'read' }), 'mcp-method'],
    [METHOD, '{"jsonrpc":"2.0","id":1,"result":{}}', 'mcp-method'],
    [METHOD, '{"a":1}', 'mcp-method'],
    [METHOD, 'no json', 'mcp-method'],
    [METHOD, '', 'mcp-method'],
    [METHOD, `${CALL},`, 'mcp-method'],
    [METHOD, `${CALL}\n${CALL}`, 'mcp-method'],
    [METHOD, Buffer.from(CALL, 'utf16le'), 'mcp-method'],
    [METHOD, `[${CALL},${message('ping', {})}]`, 'mcp-method'],
    [{ mcp_method: 'ping' }, CALL, 'mcp-method'],
    [{ ...METHOD, 'mcp-name': 'write' }, CALL, 'mcp-name'],
    [{ 'mcp-name': 'write' }, CALL, 'mcp-name'],
    [{ mcp_name: 'write' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': 'READ' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': '' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': '=?BASE64?cmVhZA==?=' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': '=?base64?cmVhZB==?=' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': '=?base64?cmVhZA?=' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': '=?base64?/w==?=' }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': base64(base64('read')) }, CALL, 'mcp-name'],
    [{ ...METHOD, 'mcp-name': 'read' }, message('tools/call', {}), 'mcp-name'],
    [{ ...METHOD, 'mcp-name': 'read' }, message('tools/call', { name: 5 }), 'mcp-name'],
    [{ ...METHOD, 'mcp-name': 'read' }, '{"method":"tools/call","params":["read"]}', 'mcp-name'],
    [
      { 'mcp-method': 'resources/read', 'mcp-name': 'file:///a' },
      message('resources/read', { uri: 'file:///b', name: 'file:///a' }),
      'mcp-name',
    ],
    [
      { 'mcp-method': 'resources/read', 'mcp-name': 'a' },
      '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a","URI":"b"}}',
      'mcp-name',
    ],
    [
      { 'mcp-method': 'tasks/cancel', 'mcp-name': 't1' },
      message('tasks/cancel', { taskId: 't2' }),
      'mcp-name',
    ],
    [{ 'mcp-method': 'x/own', 'mcp-name': 'n' }, message('x/own', { name: 'm' }), 'mcp-name'],
    [{ ...BOTH, 'mcp-protocol-version': '2025-11-25' }, CALL, 'mcp-protocol-version'],
    [
      { 'mcp-protocol-version': '2026-07-28' },
      CALL.replace(META, `${META.slice(0, -1)},"io.modelcontextprotocol/protocolVersion":"x"}`),
      'mcp-protocol-version',
    ],
    [
      { 'mcp-protocol-version': '2026-07-28' },
      CALL.replace('"2026-07-28"', '5'),
      'mcp-protocol-version',
    ],
    [{ ...BOTH, 'mcp-param-region': 'us' }, CALL, 'mcp-param-region'],
    [{ ...BOTH, 'mcp-param-region': 'EU' }, CALL, 'mcp-param-region'],
    [{ ...BOTH, 'mcp-param-n': '43' }, CALL, 'mcp-param-n'],
    [{ ...BOTH, 'mcp-param-n': '0x2a' }, CALL, 'mcp-param-n'],
    [{ ...BOTH, 'mcp-param-on': 'True' }, CALL, 'mcp-param-on'],
    [{ ...BOTH, 'mcp-param-x': '=?base64?!?=' }, CALL, 'mcp-param-x'],
    [{ ...BOTH, 'mcp-param-a': 'eu', 'mcp-param-b': 'us' }, CALL, 'mcp-param-b'],
    [{ ...BOTH, 'mcp-param-key': 'region' }, CALL, 'mcp-param-key'],
    [{ 'mcp-method': 'ping', 'mcp-param-region': 'eu' }, message('ping', {}), 'mcp-param-region'],
  ]
  for (const [headers, body, header] of rows) {
    const read = readJsonRpc(Buffer.from(body), readMcpHeaders(listOf(headers)))
    assert.deepEqual(
      [headers, String(body), read.kind === 'mismatch' ? read.header : read.kind],
      [headers, String(body), header],
    )
  }
})

test('the id of a message whose headers differ from it is known, so that the response can name it', () => {
  const headers = readMcpHeaders(listOf({ 'mcp-method': 'ping' }))
  const idOf = (body: string) => {
    const read = readJsonRpc(Buffer.from(body), headers)
    return read.kind === 'mismatch' ? read.id : read
  }
  assert.equal(idOf(CALL), '7')
  assert.equal(idOf(CALL.replace('7', '"a"')), '"a"')
  assert.equal(idOf(`[${CALL}]`), null)
  assert.equal(idOf('no json'), null)
})

test('a mirrored header that comes twice is noticed, and so is one in another spelling', () => {
  const twice = (first: string, second: string) =>
    readMcpHeaders([
      { name: first, value: 'a' },
      { name: second, value: 'a' },
    ])?.repeated
  assert.equal(twice('mcp-name', 'mcp-name'), 'mcp-name')
  assert.equal(twice('mcp-method', 'mcp_method'), 'mcp-method')
  assert.equal(twice('mcp-protocol-version', 'mcp-protocol-version'), 'mcp-protocol-version')
  assert.equal(twice('mcp-param-a', 'mcp-param_a'), 'mcp-param-a')
  assert.equal(twice('mcp-session-id', 'mcp-session-id'), 'mcp-session-id')
  assert.equal(twice('mcp-param-a', 'mcp-param-b'), null)
})

test('an MCP call is known by its headers, or by what every message of the protocol accepts', () => {
  const post = { ':method': 'POST', 'content-type': 'application/json' }
  const rows: [headers: Headers, isMcp: boolean][] = [
    [{ ...post, accept: 'application/json, text/event-stream' }, true],
    [{ ...post, accept: 'text/event-stream,application/json;q=0.5' }, true],
    [{ ...post, accept: 'application/json' }, false],
    [{ ...post, accept: 'text/event-stream' }, false],
    [{ ...post, accept: '*/*' }, false],
    [{ ...post }, false],
    [{ ':method': 'GET', accept: 'application/json, text/event-stream' }, false],
    [{ ':method': 'POST', accept: 'application/json, text/event-stream' }, false],
    [{ ':method': 'GET', 'mcp-session-id': 'x' }, true],
    [{ ':method': 'DELETE', 'mcp-protocol-version': '2025-06-18' }, true],
    [{ ...post, 'mcp-method': 'ping' }, true],
    [{ ...post, 'mc-method': 'ping', 'x-mcp': '1', 'mcp-anything': '2', mcp: '3' }, false],
  ]
  for (const [headers, isMcp] of rows)
    assert.deepEqual([headers, readMcpHeaders(listOf(headers)) !== null], [headers, isMcp])
})

test('a header value in Base64 is decoded in the one form that clients write', () => {
  const rows: [value: string, text: string | null][] = [
    ['', ''],
    ['plain', 'plain'],
    ['=?base64??=', ''],
    ['=?base64?=', '=?base64?='],
    ['=?base64?', '=?base64?'],
    [base64('Hello, 世界'), 'Hello, 世界'],
    [base64(' padded '), ' padded '],
    [base64('=?base64?literal?='), '=?base64?literal?='],
    [latin1('世界'), '世界'],
    ['\xff', null],
    ['=?base64?_w==?=', null],
    ['=?base64?YQ==\n?=', null],
  ]
  for (const [value, text] of rows)
    assert.deepEqual([value, decodeHeaderValue(value)], [value, text])
})

test('the refusal of an MCP call is a JSON-RPC error that holds the whole error body', () => {
  const denial = { reason: 'permission_denied', details: { reason: 'no_scope' } } as const
  const facts = { request_id: 'r' }
  const plain = writeError(denial, { facts, mcp: null, json_rpc_id: '5' })
  const error = JSON.parse(plain.body.toString()) as ErrorBody
  assert.equal(error.error, 'permission_denied')
  for (const [id, expected] of [
    ['"a\\u0062"', 'ab'],
    ['5', 5],
    [null, null],
  ] as const) {
    const refusal = writeError(denial, { facts, mcp: {}, json_rpc_id: id })
    assert.equal(refusal.status, plain.status)
    assert.deepEqual(refusal.headers, plain.headers)
    const { message, details, request_id } = error
    assert.deepEqual(JSON.parse(refusal.body.toString()), {
      jsonrpc: '2.0',
      id: expected,
      error: { code: 403, message, data: error },
      message,
      details,
      request_id,
    })
  }
  const killed = writeError(
    { reason: 'agent_killed', details: {}, status: 503 },
    { facts, mcp: {}, json_rpc_id: null },
  )
  assert.equal(JSON.parse(killed.body.toString()).error.code, 503)
})
