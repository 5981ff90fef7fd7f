import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeCookie } from '../../ext-proc/response/scope-cookie.ts'

const PREFIX = '/https://api.example.com'
const scoped = (value: string, path = '/v1/login'): string | null =>
  scopeCookie(value, { prefix: PREFIX, path })

const EXPIRES = 'Expires=Wed, 09 Jun 2027 10:18:14 GMT'

for (const [value, expected] of [
  ['a=b', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path=/', `a=b; Path=${PREFIX}`],
  ['a=b; path=/v1', `a=b; Path=${PREFIX}/v1`],
  ['a=b;PATH=/v1/', `a=b; Path=${PREFIX}/v1/`],
  ['a=b; Path=/v1; Path=/v2', `a=b; Path=${PREFIX}/v2`],
  ['a=b; Path=/v1; Path=', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path=v1', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path="/v2"', `a=b; Path=${PREFIX}/v1`],
  ['a=b; \t path \t = \t /v2 \t', `a=b; Path=${PREFIX}/v2`],
  ['a=b; \xa0path=/', `a=b; Path=${PREFIX}`],
  ['a=b; \x85path=/', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path=/caf\xe9', `a=b; Path=${PREFIX}`],
  ['a=b; Path=/http://other.test/', `a=b; Path=${PREFIX}/http://other.test/`],
  ['a=b; Path=/../http://other.test', `a=b; Path=${PREFIX}/../http://other.test`],
  ['a=b; Domain=example.com', `a=b; Path=${PREFIX}/v1`],
  ['a=b; domain=gw.test; DOMAIN = .test', `a=b; Path=${PREFIX}/v1`],
  [
    `a=b; ${EXPIRES}; Max-Age=60; Secure; HttpOnly; SameSite=None; Partitioned; Priority=High`,
    `a=b; ${EXPIRES}; Max-Age=60; Secure; HttpOnly; SameSite=None; Partitioned; Priority=High; Path=${PREFIX}/v1`,
  ],
  [`a=b;${EXPIRES}`, `a=b;${EXPIRES}; Path=${PREFIX}/v1`],
  ['a=b; unknown=1; od d=2; \xe9=3; ;', `a=b; unknown=1; Path=${PREFIX}/v1`],
  ['a="b c, d"; Path=/', `a="b c, d"; Path=${PREFIX}`],
  ['__Secure-a=b; Secure; Path=/', `__Secure-a=b; Secure; Path=${PREFIX}`],
  ['a', `a; Path=${PREFIX}/v1`],
  ['=a', `=a; Path=${PREFIX}/v1`],
  ['my_agw_session=x', `my_agw_session=x; Path=${PREFIX}/v1`],
  ['a=agw_session=x', `a=agw_session=x; Path=${PREFIX}/v1`],
  // One header is one cookie, whatever a client that splits at commas makes of it: `Path` of the second is an attribute's.
  ['a=b; Path=/x, agw_session=c; Path=/', `a=b; Path=${PREFIX}`],
] as const)
  test(`a cookie is for the API that sets it alone: ${JSON.stringify(value)}`, () => {
    assert.equal(scoped(value), expected)
  })

for (const [path, expected] of [
  ['/', PREFIX],
  ['/login', PREFIX],
  ['/v1/login', `${PREFIX}/v1`],
  ['/v1/', `${PREFIX}/v1`],
  ['/v1/a/b', `${PREFIX}/v1/a`],
  ['/v1;x/b', PREFIX],
  ['/caf\xe9/b', PREFIX],
] as const)
  test(`a cookie without a path is for the folder that was called: ${JSON.stringify(path)}`, () => {
    assert.equal(scoped('a=b', path), `a=b; Path=${expected}`)
  })

for (const value of [
  'agw_session=x',
  'AGW_Session=x; Path=/',
  ' agw_session =x',
  'agw_session',
  '=agw_session=x',
  ' = agw_session=x',
  '__Host-agw_session=x; Secure; Path=/',
  '__Secure-agw_session=x; Secure',
  '=__Host-agw_session=x',
  '__Host-sid=x; Secure; Path=/',
  '__host-sid=x; Secure; Path=/',
  '=__Host-sid=x',
  '__Host-Http-sid=x; Secure; HttpOnly; Path=/',
  'a=b\0; Path=/',
  'a=b\x01',
  'a=b; Path=/\x7f',
  'a=b; \x0bPath=/',
  '\x1fagw_session=x',
] as const)
  test(`a cookie of ours, one for the whole origin, or one with control characters is dropped: ${JSON.stringify(value)}`, () => {
    assert.equal(scoped(value), null)
  })
