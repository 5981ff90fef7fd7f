import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { mintKey } from '../../core/keys/api-key.ts'
import { applyCredential } from '../../core/decision/apply-credential.ts'
import { decodeFormText } from '../../core/request/decode-form-text.ts'
import { findOverrides } from '../../core/request/find-overrides.ts'
import { HEADER_GROUPS, HEADER_TABLE, isFraming } from '../../core/catalogue/header-table.ts'
import type { Header } from '../../core/request/header.ts'
import type { OwnedName } from '../../core/request/owned-name.ts'
import {
  plainParameterName,
  queryValues,
  removeQueryParameter,
  replaceQueryParameter,
} from '../../core/request/query-parameter.ts'
import { readKey } from '../../core/request/read-key.ts'
import { dropOwnCookies } from '../../core/request/drop-own-cookies.ts'
import { appendVia, hasOwnVia, headersToRemove } from '../../core/request/request-headers.ts'
import { Secret } from '../../core/keys/secret.ts'
import { repetitions } from '../kit/repetitions.ts'

const OWN_AUTHORIZATION: OwnedName = { kind: 'header', name: 'authorization' }
const OWN_API_KEY: OwnedName = { kind: 'header', name: 'x-api-key' }
const OWN_KEY_PARAMETER: OwnedName = { kind: 'query', name: 'key' }

const named = (...names: string[]): Header[] => names.map((name) => ({ name, value: 'v' }))

test('threat 10: hop-by-hop, forwarded, gateway and owned headers do not go upstream, however they are spelled', () => {
  const removed = [
    'authorization',
    'proxy-authorization',
    'proxy_authorization',
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'trailers',
    'transfer-encoding',
    'upgrade',
    'forwarded',
    'x-real-ip',
    'x_real_ip',
    'x.real.ip',
    'x-request-id',
    'x-forwarded-for',
    'x_forwarded_for',
    'x-forwarded-anything',
    'x-envoy-retry-on',
    'x_envoy-retry_on',
    'x-agw-host',
    'x-agw-agent-id',
    'x_agw_host',
    'x-api-key',
    'x_api_key',
    'x_api-key',
  ]
  const kept = [
    ':path',
    ':authority',
    ':method',
    'host',
    'accept',
    'content-length',
    'content-type',
    'cookie',
    'user-agent',
    'via',
    'x-agwx',
    'x-api-key2',
    'x-http-method-override',
    'openai-organization',
    'authorization-x',
  ]
  const headers = named(...removed, ...kept)
  assert.deepEqual(headersToRemove(headers, [OWN_API_KEY]), removed)
})

test('every name of the table is dropped in each spelling, and what is not dropped there stays', () => {
  for (const { names, fate } of HEADER_GROUPS)
    for (const listed of names) {
      const name = listed.replace('*', 'a-b')
      const goes = fate === 'dropped' || fate === 'refused' || name.startsWith('x-agw-')
      const spellings = [
        name,
        name.toUpperCase(),
        name.replaceAll('-', '_'),
        name.replace('-', '.'),
      ]
      for (const spelled of spellings) {
        const isSame = goes || (isFraming(name) && spelled.toLowerCase() !== name)
        const removed = headersToRemove(named(spelled.toLowerCase()), [OWN_API_KEY])
        assert.deepEqual([spelled, removed.length > 0], [spelled, isSame])
      }
    }
})

test('a method header of the table decides, and is never dropped', () => {
  for (const name of HEADER_TABLE.method.names) {
    const { methods } = findOverrides([{ name, value: 'DELETE' }], null)
    assert.deepEqual([name, methods], [name, ['DELETE']])
  }
})

test('a header that no credential owns stays', () => {
  assert.deepEqual(headersToRemove(named('x-api-key'), [OWN_AUTHORIZATION]), [])
  assert.deepEqual(headersToRemove(named('x-api-key'), [OWN_KEY_PARAMETER]), [])
  assert.deepEqual(headersToRemove(named('authorization'), [OWN_AUTHORIZATION], true), [])
})

test('threat 6: of a Cookie the session of the dashboard is dropped, and nothing else is touched', () => {
  const rows: readonly (readonly [cookies: readonly string[], sent: string | null])[] = [
    [[], null],
    [['a=1; b=2'], null],
    [['a=agw; my_session=x'], null],
    [['agw_session=s'], ''],
    [['__Host-agw_session=s'], ''],
    [['a=1;agw_session=s;  b="2"; __Host-agw_session=t;'], 'a=1; b="2"'],
    [['agw_session=s', 'a=1', 'agw_session=t; b=agw_session'], 'a=1; b=agw_session'],
    [['agw_session; agw_session =s; x_agw_session=1'], 'x_agw_session=1'],
  ]
  for (const [cookies, sent] of rows) {
    const headers = cookies.map((value) => ({ name: 'cookie', value }))
    assert.equal(dropOwnCookies([...named('x-a'), ...headers]), sent)
  }
})

test('headers named in Connection are removed, except those that frame the request', () => {
  const headers = [
    ...named('x-a', 'x_b', 'content-length', 'content-type', 'host', 'x-c', ':path'),
    { name: 'connection', value: 'close, X-A ,x-b' },
    { name: 'connection', value: 'Content-Length, content-type, Host, :path,' },
  ]
  assert.deepEqual(headersToRemove(headers, [OWN_AUTHORIZATION]), ['x-a', 'x_b', 'connection'])
})

test('a name that occurs twice is named once', () => {
  assert.deepEqual(headersToRemove(named('te', 'te'), [OWN_AUTHORIZATION]), ['te'])
})

test('Via is added to what is there, and only the own installation is a loop', () => {
  assert.equal(appendVia([], 'abc'), '1.1 agw-abc')
  const via = [
    { name: 'via', value: '1.0 a, 2 b (x)' },
    { name: 'via', value: '1.1 c' },
  ]
  assert.equal(appendVia(via, 'abc'), '1.0 a, 2 b (x), 1.1 c, 1.1 agw-abc')
  const rows: [value: string, expected: boolean][] = [
    ['1.1 agw-abc', true],
    ['1.0 x,1.1   agw-abc', true],
    ['2 agw-abc (comment), 1.1 y', true],
    ['1.1 agw-abcd', false],
    ['1.1 xagw-abc', false],
    ['1.1 agw-ab', false],
    ['1.1 x (agw-abc)', false],
    ['', false],
  ]
  for (const [value, expected] of rows)
    assert.deepEqual([value, hasOwnVia([{ name: 'via', value }], 'abc')], [value, expected])
  assert.equal(hasOwnVia([{ name: 'x-via', value: '1.1 agw-abc' }], 'abc'), false)
})

test('an owned query parameter is replaced wherever it is and however it is spelled; every other byte stays', () => {
  const rows: [query: string | null, expected: string][] = [
    [null, 'key=s%20%26'],
    ['', 'key=s%20%26'],
    ['key=x', 'key=s%20%26'],
    ['a=1', 'a=1&key=s%20%26'],
    ['a=1&', 'a=1&&key=s%20%26'],
    ['key=x&a=1', 'a=1&key=s%20%26'],
    ['a=1&key=x&b=2', 'a=1&b=2&key=s%20%26'],
    ['a=1&key=x', 'a=1&key=s%20%26'],
    ['key&a=1&key=&key=y=z', 'a=1&key=s%20%26'],
    ['%6bey=x&ke%79=y&a', 'a&key=s%20%26'],
    ['%256bey=x&a', 'a&key=s%20%26'],
    ['a=%zz+%2B&u=http://x/?key=1;é', 'a=%zz+%2B&u=http://x/?key=1;é&key=s%20%26'],
    ['Key=x&keys=1&akey=2', 'keys=1&akey=2&key=s%20%26'],
    ['a=1;key=x;b=2&c', 'a=1;b=2&c&key=s%20%26'],
    ['key=x;b=2&c', 'c&key=s%20%26'],
    ['a=1;b=2', 'a=1;b=2&key=s%20%26'],
  ]
  for (const [query, expected] of rows)
    assert.deepEqual([query, replaceQueryParameter(query, 'key', 's &')], [query, expected])
  assert.equal(removeQueryParameter('key=1', 'key'), null)
  assert.equal(removeQueryParameter('a=1', 'key'), 'a=1')
})

test('after a replacement a URL parser finds our value alone and all others as they were', () => {
  const text = fc.string({
    unit: fc.constantFrom('k', 'e', 'y', '=', '%6b', '%', '+', 'é', '2'),
    maxLength: 6,
  })
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 6 }),
      fc.string({ unit: 'grapheme' }),
      (pairs, value) => {
        const query = Buffer.from(pairs.join('&'), 'utf8').toString('latin1')
        const decode = (raw: string) => [
          ...new URLSearchParams(Buffer.from(raw, 'latin1').toString('utf8')),
        ]
        const replaced = decode(replaceQueryParameter(query, 'key', value))
        assert.deepEqual(
          replaced.filter(([name]) => name === 'key'),
          [['key', value]],
        )
        assert.deepEqual(
          replaced.filter(([name]) => name !== 'key'),
          decode(query).filter(([name]) => plainParameterName(name) !== 'key'),
        )
      },
    ),
    { numRuns: repetitions(500) },
  )
})

test('form text is decoded as URLSearchParams decodes it', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '%', '%41', '%C3%BC', '%C3', '+', 'ü', '%2', 'f'),
  })
  fc.assert(
    fc.property(text, (raw) => {
      const expected = new URLSearchParams(`x=${raw.replaceAll('ü', '%C3%BC')}`).get('x')
      assert.equal(decodeFormText(Buffer.from(raw, 'utf8').toString('latin1')), expected)
    }),
    { numRuns: repetitions(500) },
  )
  assert.deepEqual(queryValues('key=a%20b&x=1&%6bey=c&key', 'key'), ['a b', 'c', ''])
})

const KEY = mintKey('live')
const OTHER_KEY = mintKey('live')
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
const authorization = (...values: string[]): Header[] =>
  values.map((value) => ({ name: 'authorization', value }))

test('a key is found after Bearer and token and as the password of Basic, well-formed or not', () => {
  const rows: [value: string, key: string | null][] = [
    [`Bearer ${KEY}`, KEY],
    [`bearer   ${KEY} `, KEY],
    [`token ${KEY}`, KEY],
    ['Bearer sk-foreign', 'sk-foreign'],
    [basic(`x-access-token:${KEY}`), KEY],
    [basic(`:${KEY}`), KEY],
    [basic('user:pass:word'), 'pass:word'],
    [basic(KEY), null],
    [basic('user:'), null],
    ['Bearer', null],
    ['Bearer ', null],
    [KEY, null],
    [`Digest ${KEY}`, null],
    ['', null],
  ]
  for (const [value, key] of rows) {
    const found = readKey(authorization(value), null, [])
    assert.deepEqual([value, found.kind === 'presented' ? found.key : null], [value, key])
  }
  assert.deepEqual(readKey([], null, []), { kind: 'none' })
})

test('several Authorization headers are ambiguous, joined or not', () => {
  const ambiguous = { kind: 'ambiguous', reason: 'authorization' }
  assert.deepEqual(readKey(authorization(`Bearer ${KEY}`, `Bearer ${KEY}`), null, []), ambiguous)
  assert.deepEqual(readKey(authorization(`Bearer ${KEY},Bearer ${KEY}`), null, []), ambiguous)
  assert.deepEqual(readKey(authorization(`Bearer ${KEY},`), null, []), ambiguous)
})

test('in a place that a credential owns only a key with our prefix and checksum is one', () => {
  const owned = [OWN_API_KEY, OWN_KEY_PARAMETER, OWN_AUTHORIZATION]
  const wrong = KEY.slice(0, -1) + (KEY.endsWith('0') ? '1' : '0')
  const rows: [
    headers: Header[],
    query: string | null,
    key: string | null,
    place: string | null,
  ][] = [
    [[{ name: 'x-api-key', value: KEY }], null, KEY, 'header'],
    [[{ name: 'x_api_key', value: KEY }], null, KEY, 'header'],
    [[{ name: 'x-api-key', value: `Key ${KEY}` }], null, KEY, 'header'],
    [[], `a=1&key=${KEY}`, KEY, 'query'],
    [[], `%6bey=%61${KEY.slice(1)}`, KEY, 'query'],
    [authorization(`GenieKey ${KEY}`), null, KEY, 'header'],
    [[{ name: 'x-api-key', value: wrong }], null, null, null],
    [[{ name: 'x-api-key', value: mintKey('admin') }], null, null, null],
    [[{ name: 'x-other', value: KEY }], `other=${KEY}`, null, null],
    [[...authorization('Bearer sk-dummy'), { name: 'x-api-key', value: KEY }], null, KEY, 'header'],
    [
      [...authorization(`Bearer ${KEY}`), { name: 'x-api-key', value: 'sk-dummy' }],
      null,
      KEY,
      'authorization',
    ],
    [
      [...authorization(`Bearer ${KEY}`), { name: 'x-api-key', value: KEY }],
      null,
      KEY,
      'authorization',
    ],
  ]
  for (const [i, [headers, query, key, place]] of rows.entries()) {
    const found = readKey(headers, query, owned)
    const seen = found.kind === 'presented' ? [found.key, found.place.kind] : [null, null]
    assert.deepEqual([i, ...seen], [i, key, place])
  }
  assert.deepEqual(readKey([{ name: 'x-api-key', value: KEY }], null, []), { kind: 'none' })
})

test('two different keys are ambiguous', () => {
  const headers = [...authorization(`Bearer ${KEY}`), { name: 'x-api-key', value: OTHER_KEY }]
  assert.deepEqual(readKey(headers, null, [OWN_API_KEY]), {
    kind: 'ambiguous',
    reason: 'several_keys',
  })
  assert.deepEqual(readKey([], `key=${KEY}&key=${OTHER_KEY}`, [OWN_KEY_PARAMETER]), {
    kind: 'ambiguous',
    reason: 'several_keys',
  })
})

test('a credential is put where its type says, and the query stays otherwise as it is', () => {
  const rows: [
    effect: ReturnType<typeof applyCredential>,
    headers: Header[],
    query: string | null,
  ][] = [
    [
      applyCredential({ type: 'bearer', token: new Secret('t') }, 'a=1'),
      [{ name: 'authorization', value: 'Bearer t' }],
      'a=1',
    ],
    [
      applyCredential({ type: 'header', name: 'X-Api-Key', value: new Secret('ü') }, null),
      [{ name: 'x-api-key', value: 'Ã¼' }],
      null,
    ],
    [
      applyCredential(
        { type: 'basic', username: new Secret('u'), password: new Secret('p:ü') },
        null,
      ),
      [{ name: 'authorization', value: basic('u:p:ü') }],
      null,
    ],
    [
      applyCredential({ type: 'query', name: 'key', value: new Secret('s/1') }, 'key=x&a'),
      [],
      'a&key=s%2F1',
    ],
    [applyCredential({ type: 'none' }, 'a'), [], 'a'],
  ]
  for (const [effect, headers, raw_query] of rows)
    assert.deepEqual(effect, { kind: 'applied', headers, raw_query })
})

test('a credential that would break out of its header is not used', () => {
  for (const text of ['a\r\nx: y', 'a\nb', 'a\0', 'a\x7f'])
    assert.deepEqual(applyCredential({ type: 'bearer', token: new Secret(text) }, null), {
      kind: 'unusable',
    })
  for (const name of ['', 'x y', 'x:y', ':path', 'x\r\n'])
    assert.deepEqual(applyCredential({ type: 'header', name, value: new Secret('v') }, null), {
      kind: 'unusable',
    })
})

test('an opened credential shows nothing when it is printed', () => {
  const auth = { type: 'bearer', token: new Secret('hunter2') } as const
  for (const shown of [
    JSON.stringify(auth),
    inspect(auth, { showHidden: true }),
    `${auth.token.toString()}`,
  ])
    assert.doesNotMatch(shown, /hunter2/)
})
