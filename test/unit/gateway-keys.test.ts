import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mintKey } from '../../core/keys/api-key.ts'
import { admit } from '../../core/decision/admit.ts'
import type { Header } from '../../core/request/header.ts'
import { holdsGatewayKey } from '../../core/request/holds-gateway-key.ts'
import { outgoingRequest } from '../../core/decision/outgoing-request.ts'
import type { OwnedName } from '../../core/request/owned-name.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { repetitions } from '../kit/repetitions.ts'

const KEY = mintKey('live')
const ADMIN_KEY = mintKey('admin')
/** Of our form, with one letter changed. */
const MISTYPED = `${KEY.slice(0, 20)}${KEY[20] === 'a' ? 'b' : 'a'}${KEY.slice(21)}`
const AUTHORIZATION: OwnedName = { kind: 'header', name: 'authorization' }

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const everyByte = (text: string, hex: (code: string) => string): string =>
  [...Buffer.from(text)].map((byte) => hex(byte.toString(16).padStart(2, '0'))).join('')

/** How a text can hold a key. */
const SPELLINGS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'blanks around it': (key) => `  ${key} \t`,
  'after Bearer': (key) => `Bearer ${key}`,
  'after token, without a blank': (key) => `token=${key}`,
  'after Basic': (key) => `Basic ${base64(`:${key}`)}`,
  'after Basic, with a user': (key) => `Basic ${base64(`x:${key}`)}`,
  'after Basic, with a longer user': (key) => `Basic ${base64(`xy:${key}`)}`,
  'after Basic, as the user': (key) => `Basic ${base64(`${key}:`)}`,
  'in Base64url': (key) => Buffer.from(`ÿþ:${key}`).toString('base64url'),
  'in Base64 behind letters': (key) => `abc${base64(key)}`,
  'in a list': (key) => `a, ${key}, b`,
  'in quotes': (key) => `"${key}"`,
  'in JSON': (key) => `{"token":"${key}"}`,
  'in JSON, escaped': (key) => `{"token":"${everyByte(key, (hex) => `\\u00${hex}`)}"}`,
  'in a URL': (key) => `https://api.example/?key=${key}`,
  'as user information': (key) => `https://${key}:@api.example/`,
  'percent-encoded': (key) => everyByte(key, (hex) => `%${hex}`),
  'percent-encoded in upper case': (key) => everyByte(key, (hex) => `%${hex.toUpperCase()}`),
  'one byte percent-encoded': (key) => key.replace('_', '%5F'),
  'percent-encoded twice': (key) => everyByte(key, (hex) => `%25${hex}`),
  'in Base64, percent-encoded': (key) => encodeURIComponent(base64(`user:${key}:more`)),
  'in Base64 twice': (key) => base64(base64(key)),
  'in Base64 twice, behind a letter': (key) => base64(`x${base64(`y${key}`)}`),
  'in Base64 twice, behind two': (key) => base64(`xy${base64(`yz${key}`)}`),
  'in Base64 twice, url-safe': (key) =>
    Buffer.from(`ÿ${Buffer.from(`þ${key}`).toString('base64url')}`).toString('base64url'),
  'after Basic in a JSON token': (key) =>
    `e30.${Buffer.from(`{"authorization":"Basic ${base64(`x:${key}`)}"}`).toString('base64url')}.sig`,
  'in Base64 twice, percent-encoded': (key) => encodeURIComponent(base64(base64(`:${key}`))),
  'percent-encoded with u': (key) => everyByte(key, (hex) => `%u00${hex}`),
  'percent-encoded with u in upper case': (key) =>
    everyByte(key, (hex) => `%U00${hex.toUpperCase()}`),
  'one byte percent-encoded with u': (key) => key.replace('_', '%u005F'),
  'in Base64, around escaped JSON': (key) =>
    base64(`{"token":"${everyByte(key, (hex) => `\\u00${hex}`)}"}`),
  'in Base64, around one escaped byte': (key) => base64(key.replace('a', '\\u0061')),
  'in Base64, around percent-encoding': (key) => base64(everyByte(key, (hex) => `%${hex}`)),
  'in Base64, around one percent-encoded byte': (key) => base64(`x:${key.replace('g', '%67')}`),
  'in Base64 twice, around an escaped byte': (key) =>
    base64(`y${base64(key.replace('_', '\\u005f'))}`),
  'in Base64, percent-encoded, around percent-encoding': (key) =>
    encodeURIComponent(base64(`\xff${everyByte(key, (hex) => `%${hex}`)}`)),
  'in Base64 with an escaped byte of its own': (key) => base64(`:${key}`).replace('Y', '%59'),
  'in Base64 three times': (key) => base64(base64(base64(key))),
  'in Base64 three times, behind letters': (key) => base64(`a${base64(`bc${base64(`d${key}`)}`)}`),
  'as hexadecimal digits': (key) => everyByte(key, (hex) => hex),
  'as hexadecimal digits in upper case': (key) => everyByte(key, (hex) => hex.toUpperCase()),
  'in Base64, around hexadecimal digits': (key) => base64(everyByte(key, (hex) => hex)),
  'with escapes of JavaScript': (key) => everyByte(key, (hex) => `\\x${hex}`),
  'with braced escapes': (key) => everyByte(key, (hex) => `\\u{${hex}}`),
  'one byte with a braced escape of six digits': (key) => key.replace('a', '\\u{000061}'),
  'with entities': (key) => everyByte(key, (hex) => `&#x${hex};`),
  'with decimal entities': (key) => [...Buffer.from(key)].map((byte) => `&#${byte};`).join(''),
  'escaped in JSON, percent-encoded': (key) =>
    encodeURIComponent(everyByte(key, (hex) => `\\u00${hex}`)),
  'escaped in JSON, the backslashes percent-encoded': (key) =>
    everyByte(key, (hex) => `%5Cu00${hex}`),
  'with more letters behind it': (key) => `${key}abc`,
  'with letters before it': (key) => `abc${key}`,
  'behind a mistyped one': (key) => `${MISTYPED}${key}`,
  'behind a cut one': (key) => `${key.slice(0, 30)}${key}`,
}

test('a gateway key is found in whatever spelling', () => {
  for (const [name, spell] of Object.entries(SPELLINGS))
    for (const key of [KEY, ADMIN_KEY, mintKey('live')])
      assert.equal(holdsGatewayKey(spell(key)), true, `${name}: ${spell(key)}`)
})

test('other texts are not taken for a gateway key', () => {
  const texts = [
    '',
    'agw_live_',
    'agw_live_0123456789',
    MISTYPED,
    `Basic ${base64(`user:${MISTYPED}`)}`,
    KEY.slice(0, -1),
    KEY.toUpperCase(),
    KEY.replace('live', 'test'),
    KEY.replace('agw_', 'agw-'),
    `${KEY.slice(0, 20)} ${KEY.slice(20)}`,
    `sk_live_${'a'.repeat(60)}`,
    base64('a'.repeat(90)),
    base64(`{"token":"${MISTYPED.replace('a', '\\u0061')}"}`),
    everyByte(MISTYPED, (hex) => hex),
    'ab'.repeat(64),
    'V'.repeat(2_000),
    '\\u0061'.repeat(50),
    '%'.repeat(90),
    `%zz${'a'.repeat(90)}`,
    `YWd3X2${'A'.repeat(90)}`,
  ]
  for (const text of texts) assert.equal(holdsGatewayKey(text), false, text)
})

test('every header that holds a key is removed, and no other', () => {
  for (const [name, spell] of Object.entries(SPELLINGS)) {
    const value = spell(KEY)
    const headers: Header[] = [
      { name: ':path', value: '/' },
      { name: 'x-api-key', value },
      { name: 'x-mistyped', value: MISTYPED },
      { name: 'referer', value: `https://gateway.example/${value}` },
      { name: 'content-type', value: `application/json; x=${value}` },
      { name: 'x-twice', value: 'first' },
      { name: 'x-twice', value },
      { name: 'accept', value: '*/*' },
    ]
    const { headers: kept, remove } = outgoingRequest(headers, null, [AUTHORIZATION])
    assert.deepEqual(remove, ['x-api-key', 'referer', 'content-type', 'x-twice'], name)
    assert.deepEqual(
      kept.map((header) => header.name),
      [':path', 'x-mistyped', 'accept'],
      name,
    )
  }
})

test('of cookies those that hold a key are removed', () => {
  for (const [name, spell] of Object.entries(SPELLINGS)) {
    if (spell(KEY).includes(';')) continue
    const value = `a=1; key=${spell(KEY)}; b="2"; agw_session=s; m=${MISTYPED}`
    const sent = `a=1; b="2"; m=${MISTYPED}`
    const outgoing = outgoingRequest([{ name: 'cookie', value }], null, [AUTHORIZATION])
    assert.deepEqual(outgoing.headers, [{ name: 'cookie', value: sent }], name)
    assert.equal(outgoing.cookie, sent, name)
    assert.deepEqual(outgoing.remove, [], name)
    const alone = [{ name: 'cookie', value: `key=${spell(KEY)}` }]
    const without = outgoingRequest(alone, null, [AUTHORIZATION])
    assert.deepEqual([without.headers, without.remove, without.cookie], [[], ['cookie'], null])
  }
})

test('of a query the parameters that hold a key are removed, and every other byte stays', () => {
  for (const [name, spell] of Object.entries(SPELLINGS)) {
    const value = spell(KEY)
    if (value.includes('&') || value.includes('#')) continue
    const rows: readonly (readonly [query: string, sent: string | null])[] = [
      [`k=${value}`, null],
      [value, null],
      [`a=%C3%BC&&k=${value}&b=+&`, 'a=%C3%BC&&b=+&'],
      [`k=${value}&k=1`, 'k=1'],
      [`${value}=1&a=${MISTYPED}`, `a=${MISTYPED}`],
      [`a;k=${value};b&c`, 'c'],
    ]
    for (const [query, sent] of rows)
      assert.equal(outgoingRequest([], query, [AUTHORIZATION]).raw_query, sent, `${name}: ${query}`)
  }
})

test('a target with a key in its path is refused, since none can be taken out of it', () => {
  const paths = [KEY, `bot${KEY}/send`, KEY.replace('_', '%5F'), `v1/${ADMIN_KEY}`]
  for (const path of paths) {
    const parsed = parseTarget(`/https://api.example/${path}`)
    assert.deepEqual(parsed, { ok: false, reason: 'gateway_key' }, path)
  }
  assert.ok(parseTarget(`/https://api.example/${MISTYPED}`).ok)
  assert.ok(parseTarget(`/https://api.example/?k=${KEY}`).ok)
})

test('a key as the method is refused, since none can be taken out of it', () => {
  const target = parseTarget('/https://api.example/v1')
  const request = {
    target,
    headers: [],
    upgrade: null,
    named_agents: [],
    named_users: [],
    is_proxied: false,
    installation: '',
  }
  for (const method of [
    KEY,
    ADMIN_KEY,
    `X${KEY}`,
    `${KEY}-X`,
    base64(`:${KEY}`).replaceAll(/[=+/]/g, ''),
    everyByte(KEY, (hex) => `%${hex}`),
    everyByte(KEY, (hex) => hex),
    `${MISTYPED}${KEY}`,
  ]) {
    const admission = admit({ request: { ...request, method }, now_ms: 0 })
    assert.ok(admission.kind === 'not_admitted', method)
    assert.equal(admission.reason, 'invalid_target_url')
    assert.deepEqual(admission.details, { reason: 'gateway_key' })
  }
  for (const method of ['GET', 'M-SEARCH', MISTYPED, 'X'.repeat(128)])
    assert.equal(admit({ request: { ...request, method }, now_ms: 0 }).kind, 'missing', method)
})

test('the longest values take bounded time, however they are encoded', () => {
  const texts = [
    'V'.repeat(60_000),
    base64('V'.repeat(45_000)),
    base64(base64(base64('\\u0061gw_'.repeat(3_000)))),
    '%25'.repeat(20_000),
    `${'A'.repeat(62)}.`.repeat(900),
    `${'V'.repeat(63)}.`.repeat(900),
    '&#'.repeat(30_000),
    '\\u{0'.repeat(15_000),
    `\\u{${'0'.repeat(60_000)}`,
    'agw_live_'.repeat(6_600),
    'ab'.repeat(30_000),
  ]
  for (const text of texts) {
    const start = process.cpuUsage()
    holdsGatewayKey(text)
    const { user } = process.cpuUsage(start)
    assert.ok(user < 500_000, `${text.slice(0, 40)}: ${user} µs`)
  }
})

test('what the credential fills is not among what goes out', () => {
  const { headers, raw_query, remove } = outgoingRequest(
    [
      { name: 'cookie', value: 'a=1' },
      { name: 'x-a', value: '1' },
    ],
    'key=1&a=2&%6bey=3',
    [{ kind: 'query', name: 'key' }],
  )
  assert.equal(raw_query, 'a=2')
  assert.equal(headers.length, 2)
  assert.deepEqual(remove, [])
  const owned: OwnedName = { kind: 'header', name: 'cookie' }
  const cookie = outgoingRequest([{ name: 'cookie', value: `k=${KEY}; a=1` }], null, [owned])
  assert.deepEqual([cookie.headers, cookie.remove, cookie.cookie], [[], ['cookie'], null])
})

test('whatever the request, no key goes out, and what holds none stays', () => {
  const spelling = fc.constantFrom(...Object.values(SPELLINGS))
  const text = fc.oneof(
    fc.string({ unit: 'binary-ascii', maxLength: 60 }).map((s) => s.replaceAll(/[&;=,\s]/g, '')),
    spelling.map((spell) => spell(KEY)),
    fc.constant(MISTYPED),
  )
  const name = fc.constantFrom('x-a', 'x-b', 'cookie', 'via', 'accept')
  fc.assert(
    fc.property(
      fc.array(fc.record({ name, value: text }), { maxLength: 6 }),
      fc.array(text, { maxLength: 6 }),
      (headers, parameters) => {
        const outgoing = outgoingRequest(headers, parameters.join('&'), [AUTHORIZATION])
        for (const { value } of outgoing.headers) assert.equal(holdsGatewayKey(value), false)
        assert.equal(holdsGatewayKey(outgoing.raw_query ?? ''), false)
        const removed = headers.filter((header) => outgoing.remove.includes(header.name))
        for (const header of removed)
          assert.ok(
            headers.some((one) => one.name === header.name && holdsGatewayKey(one.value)),
            header.name,
          )
      },
    ),
    { numRuns: repetitions(300) },
  )
})
