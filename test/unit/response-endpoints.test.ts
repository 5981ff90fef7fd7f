import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EndpointFilter, namesEndpoint } from '../../ext-proc/response/endpoint-filter.ts'
import type { CallPlace } from '../../ext-proc/response/judge-reference.ts'
import { SeededRandom } from '../kit/seeded-random.ts'
import { aPlace } from './place-kit.ts'

const PATH = '/https://api.example.com/v1/sse?session=1'

const placeOf = (path = PATH): CallPlace => aPlace(path)

const bytes = (text: string): Buffer =>
  /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : Buffer.from(text)

/** What goes out of a stream, and why it ends; the pieces are as large as `size`. */
function filtered(stream: string, size = Number.POSITIVE_INFINITY, path = PATH): [string, unknown] {
  const all = bytes(stream)
  const filter = new EndpointFilter(placeOf(path))
  let out = ''
  for (let at = 0; at < all.length; at += size) {
    const end = at + size >= all.length
    const pushed = filter.push(all.subarray(at, Math.min(at + size, all.length)), end)
    out += pushed.out.toString('latin1')
    if (pushed.denial !== null) {
      assert.equal(pushed.denial.reason, 'redirect_refused')
      assert.equal(pushed.denial.details['header'], 'endpoint event')
      return [out, pushed.denial.details['reason']]
    }
  }
  return [out, null]
}

const endpoint = (data: string): string => `event: endpoint\ndata: ${data}\n\n`
const below = (path: string): string => endpoint(`/https://api.example.com${path}`)

/** What an API names, and what the client gets. */
const SAME_API: readonly (readonly [string, string])[] = [
  ['/v1/messages?session_id=1', '/v1/messages?session_id=1'],
  ['messages?session_id=1', '/v1/messages?session_id=1'],
  ['./messages', '/v1/messages'],
  ['../messages', '/messages'],
  ['?session_id=2', '/v1/sse?session_id=2'],
  ['https://api.example.com/v1/messages', '/v1/messages'],
  ['HTTPS://API.example.com:443/v1/messages', '/v1/messages'],
  ['//api.example.com/v1/messages', '/v1/messages'],
  ['https://user:pass@api.example.com/v1/messages', '/v1/messages'],
  [' /v1/messages ', '/v1/messages'],
  ['/v1/messages?next=https://other.example/', '/v1/messages?next=https://other.example/'],
  ['/v1/caf\u00e9', '/v1/caf%E9'],
]

for (const [data, path] of SAME_API)
  test(`an endpoint of the same API becomes a path of the gateway: ${data}`, () => {
    for (const size of [1, 7, 1000])
      assert.deepEqual(filtered(endpoint(data), size), [below(path), null])
  })

const ELSEWHERE: readonly (readonly [string, string])[] = [
  ['/http://other.test/mcp', 'target_path'],
  ['/https:/other.test/mcp', 'target_path'],
  ['/HTTPS://other.test/mcp', 'target_path'],
  ['/%68ttps://other.test/mcp', 'target_path'],
  ['/https%3a//other.test/mcp', 'target_path'],
  ['../../https://other.test/mcp', 'target_path'],
  ['/v1/../http://other.test/', 'target_path'],
  ['\\http://other.test/', 'target_path'],
  ['/\thttp://other.test/', 'target_path'],
  ['https://api.example.com/http://other.test/', 'target_path'],
  ['http://gw.test:8080/http://other.test/', 'gateway_address'],
  ['//gw.test:8080/https://other.test/', 'gateway_address'],
  ['http://127.0.0.1:8080/admin/agents', 'gateway_address'],
  ['http://2130706433:8081/', 'gateway_address'],
  ['https://other.test/mcp', 'other_origin'],
  ['http://api.example.com/v1/messages', 'other_origin'],
  ['https://api.example.com:8443/v1/messages', 'other_origin'],
  ['https://api.example.com.other.test/', 'other_origin'],
  ['//other.test/mcp', 'other_origin'],
  ['ws://api.example.com/', 'other_origin'],
  ['file:///etc/passwd', 'other_origin'],
  ['https:/other.test/', 'unreadable'],
  ['http://[bad/', 'unreadable'],
]

for (const [data, reason] of ELSEWHERE)
  test(`an endpoint elsewhere ends the stream before its event: ${JSON.stringify(data)}`, () => {
    const before = ': hello\n\n'
    for (const size of [1, 7, 1000])
      assert.deepEqual(filtered(before + endpoint(data) + endpoint('/v1/x'), size), [
        before,
        reason,
      ])
  })

const OTHER = '/https://other.test/mcp'

/** Events that some client takes for an endpoint, and the standard perhaps not. */
const HIDDEN: Readonly<Record<string, string>> = {
  'no blank': `event:endpoint\ndata:${OTHER}\n\n`,
  'carriage returns': `event: endpoint\rdata: ${OTHER}\r\r`,
  'both line ends': `event: endpoint\r\ndata: ${OTHER}\r\n\r\n`,
  'data first': `data: ${OTHER}\nevent: endpoint\n\n`,
  'other fields between': `event: endpoint\nid: 1\n: note\ndata: ${OTHER}\nretry: 5\n\n`,
  'a name before': `event: message\nevent: endpoint\ndata: ${OTHER}\n\n`,
  'no data, which leads to the present address, and more later': `event: endpoint\n\ndata: ${OTHER}\n\n`,
  'a name behind': `event: endpoint\nevent: message\ndata: ${OTHER}\n\n`,
  'a name without value behind': `event: endpoint\nevent\ndata: ${OTHER}\n\n`,
  'the path in two data lines': `event: endpoint\ndata: /https://other.test\ndata: /mcp\n\n`,
  'a harmless data line before': `event: endpoint\ndata: /v1/messages\ndata: ${OTHER}\n\n`,
  'an empty data line before': `event: endpoint\ndata\ndata: ${OTHER}\n\n`,
  'blanks around the name': `event:   endpoint \ndata: ${OTHER}\n\n`,
  'a tab before the name': `event:\tendpoint\ndata: ${OTHER}\n\n`,
  'a blank before the field': ` event: endpoint\ndata: ${OTHER}\n\n`,
  'capitals in the name': `event: Endpoint\ndata: ${OTHER}\n\n`,
  'a capital field': `Event: endpoint\nData: ${OTHER}\n\n`,
  'a byte order mark at the start': `\xef\xbb\xbfevent: endpoint\ndata: ${OTHER}\n\n`,
  'a byte order mark later': `: x\n\n\xef\xbb\xbfevent: endpoint\ndata: ${OTHER}\n\n`,
  'a byte order mark in the event': `data: ${OTHER}\n\xef\xbb\xbfevent: endpoint\n\n`,
  'a vertical tab as line end': `data: x\x0bevent: endpoint\x0bdata: ${OTHER}\n\n`,
  'a form feed as line end': `id: 1\x0cevent: endpoint\ndata: ${OTHER}\n\n`,
  'a file separator as line end': `event: endpoint\ndata: /v1/x\x1cdata: ${OTHER}\n\n`,
  'a next-line character as line end': `id: 1\xc2\x85event: endpoint\ndata: ${OTHER}\n\n`,
  'a line separator as line end': `id: 1\u2028event: endpoint\u2028data: ${OTHER}\n\n`,
  'a paragraph separator as line end': `id: 1\u2029event: endpoint\ndata: ${OTHER}\n\n`,
  'the end of the stream': `event: endpoint\ndata: ${OTHER}`,
  'after many other events': `${'data: {}\n\n'.repeat(500)}event: endpoint\ndata: ${OTHER}\n\n`,
  'after a good one': `${endpoint('/v1/x')}event: endpoint\ndata: ${OTHER}\n\n`,
}

for (const [how, stream] of Object.entries(HIDDEN))
  test(`a hidden endpoint does not pass: ${how}`, () => {
    for (const size of [1, 3, 1000, 100_000]) {
      const [out, reason] = filtered(stream, size)
      assert.notEqual(reason, null)
      assert.equal(out.includes('other.test'), false)
    }
  })

test('every other event passes byte for byte, in whatever pieces it comes', () => {
  const others = [
    'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"endpoint":"/https://other.test/"}}\n\n',
    'data: the event endpoint is /https://other.test\r\n\r\n',
    ': event: endpoint\n\n',
    'event: endpoints\ndata: /https://other.test\n\n',
    'event: my-endpoint\rdata: 1\r\r',
    'event: end\npoint: 1\n\n',
    'id: endpoint\nretry: 10\n\n',
    'data: caf\xc3\xa9 \xff\n\n',
    '\n\n\n',
    'event: message\ndata: cut',
  ]
  const stream = others.join('')
  for (const size of [1, 2, 5, 1000]) assert.deepEqual(filtered(stream, size), [stream, null])
})

test('other lines of the event stay', () => {
  const event = `event: endpoint\nid: 7\ndata: /v1/messages\n\n`
  const [out] = filtered(event)
  assert.equal(out, 'event: endpoint\nid: 7\ndata: /https://api.example.com/v1/messages\n\n')
})

test('the path of the gateway is spelled as the call spelled it', () => {
  const path = '/https:/api.example.com/v1/sse'
  assert.deepEqual(filtered(endpoint('/v1/messages'), 9, path), [
    endpoint('/https:/api.example.com/v1/messages'),
    null,
  ])
})

test('an event without an end is given up at the bound', () => {
  const filter = new EndpointFilter(placeOf())
  const part = Buffer.alloc(1 << 20, 'x')
  let denial = null
  for (let i = 0; i < 9 && denial === null; i++) denial = filter.push(part, false).denial
  assert.equal(denial?.details['reason'], 'unreadable')
})

test('an endpoint in an event of many lines is refused without taking it apart', () => {
  const lines = 'a\n'.repeat(4 << 20)
  assert.deepEqual(filtered(`event: endpoint\n${lines}data: /x\n\n`), ['', 'unreadable'])
})

test('a long result of a tool that quotes the field passes unchanged', () => {
  const stream = `event: message\ndata: ${'An SSE server sends event: endpoint first. '.repeat(1_000)}\n\n`
  assert.deepEqual(filtered(stream), [stream, null])
})

test('the field is found wherever a client that splits lines finds it', () => {
  const ends = [
    '\n',
    '\r',
    '\r\n',
    '\x0b',
    '\x0c',
    '\x1c',
    '\x1e',
    '\xc2\x85',
    '\xe2\x80\xa8',
    '\xe2\x80\xa9',
  ]
  const parts = [
    ...ends,
    'event',
    'event:',
    'EVENT',
    ':',
    ' ',
    '\0',
    '\t',
    '\xef\xbb\xbf',
    'endpoint',
    'Endpoint',
    'x',
    'event: endpoint',
    '\xe2',
    '\x80',
    '\xc2',
  ]
  // oxlint-disable-next-line no-control-regex
  const split = /\r\n|[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]/
  // oxlint-disable-next-line no-control-regex
  const field = /^(?:[\0-\x20]|\xef\xbb\xbf)*event[\0-\x20]*:[\0-\x20]*endpoint[\0-\x20]*$/i
  let found = 0
  const random = new SeededRandom(7)
  for (let i = 0; i < 100_000; i++) {
    const text = random.some(parts, 1, 8).join('')
    const expected = text.split(split).some((line) => field.test(line))
    if (expected) found++
    assert.equal(namesEndpoint(text), expected, JSON.stringify(text))
  }
  assert.ok(found > 1_000)
})
