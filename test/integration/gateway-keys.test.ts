import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintKey } from '../../core/keys/api-key.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { call } from '../kit/call.ts'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const access = await stack.makeAccess()
const KEY = access.agent.api_key
/** Of the admin API; a second key of the proxy would be ambiguous. */
const ADMIN_KEY = mintKey('admin')
const ENCODED = [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16)}`).join('')
const BASIC = Buffer.from(`user:${KEY}`).toString('base64')

interface Row {
  readonly name: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly query?: string
  /** The query that goes upstream. */
  readonly sent?: string
  /** Headers as they go upstream; undefined for one that does not. */
  readonly arrives?: Readonly<Record<string, string | undefined>>
}

const removed = (name: string, header: string, value: string): Row => ({
  name,
  headers: [[header, value]],
  arrives: { [header.toLowerCase()]: undefined },
})

const ROWS: readonly Row[] = [
  removed('a header of an SDK', 'X-Api-Key', KEY),
  removed('blanks around it', 'X-Api-Key', `  ${KEY}  `),
  removed('after a scheme', 'X-Auth', `Bearer ${KEY}`),
  removed('in Base64', 'X-Auth', `Basic ${BASIC}`),
  removed('in a list', 'X-Keys', `a, ${KEY}`),
  {
    name: 'in two lines of one name',
    headers: [
      ['X-Keys', 'a'],
      ['X-Keys', KEY],
    ],
    arrives: { 'x-keys': undefined },
  },
  removed('in JSON', 'X-Context', `{"key":"${KEY}"}`),
  removed('in the address of a page', 'Referer', `https://app.test/?key=${ENCODED}`),
  removed('a key of the admin API', 'X-Other', ADMIN_KEY),
  {
    name: 'in Via, which is set again',
    headers: [['Via', `1.1 ${KEY}`]],
  },
  {
    name: 'one of several cookies',
    headers: [['Cookie', `a=1; key=${KEY}; b=2`]],
    arrives: { cookie: 'a=1; b=2' },
  },
  removed('the only cookie', 'Cookie', `key=${ENCODED}`),
  removed(
    'in Base64, around escaped JSON',
    'X-Context',
    Buffer.from(`{"k":"${KEY.replace('a', '\\u0061')}"}`).toString('base64'),
  ),
  removed(
    'in Base64, around percent-encoding',
    'X-Context',
    Buffer.from(ENCODED).toString('base64'),
  ),
  { name: 'a parameter', query: `a=1&k=${KEY}&b=2`, sent: 'a=1&b=2' },
  { name: 'the only parameter', query: `k=${KEY}`, sent: '' },
  { name: 'percent-encoded', query: `k=${ENCODED}&a=%2F`, sent: 'a=%2F' },
  { name: 'in upper case', query: `k=${ENCODED.toUpperCase()}&a`, sent: 'a' },
  { name: 'encoded twice', query: `k=${encodeURIComponent(ENCODED)}&a=1`, sent: 'a=1' },
  { name: 'the name of a parameter', query: `${KEY}=1&a=1`, sent: 'a=1' },
  {
    name: 'what only looks like one',
    headers: [
      ['X-Api-Key', `${KEY.slice(0, -1)}_`],
      ['Cookie', 'k=agw_live_x'],
    ],
    query: 'k=agw_live_x',
    sent: 'k=agw_live_x',
    arrives: { 'x-api-key': `${KEY.slice(0, -1)}_`, cookie: 'k=agw_live_x' },
  },
]

test('no key of the gateway goes upstream, and all else does', async () => {
  for (const { name, headers = [], query, sent = '', arrives = {} } of ROWS)
    for (const http_version of ['1.1', '2'] as const) {
      const since = stack.api.mark()
      const answer = await call({
        to: stack.proxyUrl,
        http_version,
        path: `/${access.base_url}/items${query === undefined ? '' : `?${query}`}`,
        headers: [
          ...Object.entries(access.headers),
          ['x-kept', name],
          ...(http_version === '2'
            ? joined(headers.map(([header, value]) => [header.toLowerCase(), value]))
            : headers),
        ],
      })
      assert.equal(answer.status, 200, name)
      const [request] = since()
      assert.ok(request !== undefined, name)
      assert.ok(request.path.endsWith(sent === '' ? '/items' : `/items?${sent}`), request.path)
      assert.equal(request.header('x-kept'), name)
      for (const [header, value] of Object.entries(arrives))
        assert.equal(request.header(header), value, name)
      const all = `${request.path}\n${request.headers.map((pair) => pair.join(': ')).join('\n')}`
      for (const text of [KEY, ADMIN_KEY, ENCODED, BASIC]) assert.ok(!all.includes(text), name)
    }
})

/** The client of HTTP/2 takes one value a name. */
const joined = (headers: readonly (readonly [string, string])[]): [string, string][] => [
  ...new Map(
    headers.map(([name]) => [
      name,
      headers
        .filter((header) => header[0] === name)
        .map(([, value]) => value.trim())
        .join(', '),
    ]),
  ),
]

test('a key in the path is refused, and is in no answer', async () => {
  const since = stack.api.mark()
  for (const path of [`bot${KEY}/send`, ENCODED]) {
    const answer = await stack.callAs(access, `/${path}`)
    assertRefusal(answer, 400, 'invalid_target_url', { reason: 'gateway_key' })
    assert.ok(!answer.body.includes(KEY))
  }
  assert.deepEqual(since(), [])
})

test('a key as the method is refused, although the scope allows every method', async () => {
  const since = stack.api.mark()
  // The client of HTTP/1.1 writes methods in upper case.
  const answer = await stack.callAs(access, '/items', { http_version: '2', method: KEY })
  assertRefusal(answer, 400, 'invalid_target_url', { reason: 'gateway_key' })
  assert.ok(!answer.body.includes(KEY))
  assert.deepEqual(since(), [])
})

test('a body is read by the type that goes upstream', async () => {
  const { agent_id } = access.agent
  const body = `agent_id=${agent_id}&a=1`
  const since = stack.api.mark()
  const answer = await stack.callAs(access, '/items', {
    method: 'POST',
    body,
    headers: { 'content-type': `application/x-www-form-urlencoded; x=${KEY}` },
  })
  assert.equal(answer.status, 200)
  const [request] = since()
  await request?.ended
  assert.equal(request?.header('content-type'), undefined)
  assert.equal(request?.body.toString(), body, 'without its type it is no form that names an agent')
})
