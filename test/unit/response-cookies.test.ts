import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeCookie } from '../../ext-proc/response/scope-cookie.ts'

const PREFIX = '/https://api.example.com'
const scoped = (value: string, path = '/v1/login'): string | null =>
  scopeCookie(value, { prefix: PREFIX, path })

const EXPIRES = 'Expires=Wed, 09 Jun 2027 10:18:14 GMT'

for (const [value, expected] of [
  ['a=b', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path=/', `a=b; Path=${PREFIX}/`],
  ['a=b; path=/v1', `a=b; Path=${PREFIX}/v1`],
  ['a=b;PATH=/v1/', `a=b; Path=${PREFIX}/v1/`],
  ['a=b; Path=/v1; Path=/v2', `a=b; Path=${PREFIX}/v2`],
  ['a=b; Path=/v1; Path=', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path=v1', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path="/v2"', `a=b; Path=${PREFIX}/v1`],
  ['a=b; \t path \t = \t /v2 \t', `a=b; Path=${PREFIX}/v2`],
  ['a=b; \xa0path=/', `a=b; Path=${PREFIX}/`],
  ['a=b; \x85path=/', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Path=/caf\xe9', `a=b; Path=${PREFIX}/`],
  ['a=b; Path=/http://other.test/', `a=b; Path=${PREFIX}/http://other.test/`],
  ['a=b; Path=/../http://other.test', `a=b; Path=${PREFIX}/`],
  ['a=b; Path=/x/%2e%2E', `a=b; Path=${PREFIX}/`],
  ['a=b; Path=/x\\..\\', `a=b; Path=${PREFIX}/`],
  ['a=b; Path=/x%2f..', `a=b; Path=${PREFIX}/`],
  ['a=b; Path=/x..y/..z', `a=b; Path=${PREFIX}/x..y/..z`],
  ['a=b; Path=/x,c=d', `a=b; Path=${PREFIX}/`],
  ['a=b; Path=/x"', `a=b; Path=${PREFIX}/`],
  ['a=b; Domain=example.com', `a=b; Path=${PREFIX}/v1`],
  ['a=b; domain=gw.test; DOMAIN = .test', `a=b; Path=${PREFIX}/v1`],
  [
    `a=b; ${EXPIRES}; Max-Age=60; Secure; HttpOnly; SameSite=None; Partitioned; Priority=High`,
    `a=b; ${EXPIRES}; Max-Age=60; Secure; HttpOnly; SameSite=None; Partitioned; Priority=High; Path=${PREFIX}/v1`,
  ],
  [`a=b;${EXPIRES}`, `a=b;${EXPIRES}; Path=${PREFIX}/v1`],
  [
    `a=b; Expires=Thu,01-Jan-1970 00:00:00 GMT; Max-Age=0`,
    `a=b; Expires=Thu,01-Jan-1970 00:00:00 GMT; Max-Age=0; Path=${PREFIX}/v1`,
  ],
  ['a="b"; Version="1"; Port="8080"; Comment="x', `a="b"; Path=${PREFIX}/v1`],
  ['a=b; Max-Age=60, c=d; HttpOnly', `a=b; HttpOnly; Path=${PREFIX}/v1`],
  ['a=b; Expires=Wed, 09 Jun 2027 10:18:14 GMT Path=/', `a=b; Path=${PREFIX}/v1`],
  ['a=b; Expires=Wed, 09 Jun 2027, c=d', `a=b; Path=${PREFIX}/v1`],
  ['a=b; SameSite=None Path=/', `a=b; Path=${PREFIX}/v1`],
  ['a=b; "Path"="/"; $Path="/"; Path ="/"', `a=b; Path=${PREFIX}/v1`],
  ['a=b c; Path=/', `a=b c; Path=${PREFIX}/`],
  ['a={"b":1,"c":[2, 3]}; Path=/', `a={"b":1,"c":[2, 3]}; Path=${PREFIX}/`],
  ['a=b"c"; Path=/', `a=b"c"; Path=${PREFIX}/`],
  ['a="{\\"b\\":1}"; Path=/', `a="{\\"b\\":1}"; Path=${PREFIX}/`],
  ['a=YWJjZA==; Path=/', `a=YWJjZA==; Path=${PREFIX}/`],
  ['a=b=c&d=e; Path=/', `a=b=c&d=e; Path=${PREFIX}/`],
  ['a=b; unknown=1; od d=2; \xe9=3; ;', `a=b; unknown=1; Path=${PREFIX}/v1`],
  ['a="b c, d"; Path=/', `a="b c, d"; Path=${PREFIX}/`],
  ['__Secure-a=b; Secure; Path=/', `__Secure-a=b; Secure; Path=${PREFIX}/`],
  ['a', `a; Path=${PREFIX}/v1`],
  ['=a', `=a; Path=${PREFIX}/v1`],
  ['my_agw_session=x', `my_agw_session=x; Path=${PREFIX}/v1`],
  ['a=agw_session=x', `a=agw_session=x; Path=${PREFIX}/v1`],
  // One header is one cookie, whatever a client that splits at commas makes of it: `Path` of the second is an attribute's.
  ['a=b; Path=/x, agw_session=c; Path=/', `a=b; Path=${PREFIX}/`],
] as const)
  test(`a cookie is for the API that sets it alone: ${JSON.stringify(value)}`, () => {
    assert.equal(scoped(value), expected)
  })

for (const [path, expected] of [
  ['/', `${PREFIX}/`],
  ['/login', `${PREFIX}/`],
  ['/v1/login', `${PREFIX}/v1`],
  ['/v1/', `${PREFIX}/v1`],
  ['/v1/a/b', `${PREFIX}/v1/a`],
  ['/v1;x/b', `${PREFIX}/`],
  ['/caf\xe9/b', `${PREFIX}/`],
  ['/v1,x=/b', `${PREFIX}/`],
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

/** Each was seen to take a cookie to another API with a real jar, or is a relative of one that was. */
for (const value of [
  // Java ends a cookie at a comma where `Max-Age` says that it is of RFC 2109; Python's SimpleCookie ends it at a blank.
  'a=b, c=d; Max-Age=60',
  'a=b,c=d; Max-Age=60',
  'a=b c=d',
  'a=b\tc=d',
  'a=b\xa0c=d',
  'a=b\x85c=d',
  'a=b Path=/ c=d',
  'a=b Path=/',
  'a=b, Path=/',
  'a=b Domain=gw.test; Path=/',
  'a=b, agw_session=c; Path=/',
  'a=b agw_session=c; Path=/',
  'x a=b; Path=/',
  'x, a=b; Path=/',
  // Some readers look for the end of a quoted value behind the semicolon, and take `Path` for a part of it.
  'a="b; Path=/',
  'a="b; Path=/"; HttpOnly',
  'a="b\\"; Path=/',
  'a="b\\\\\\"; Path=/',
  'a="b"c; Path=/',
  'a="; Path=/',
  'a=b"; Path=/',
  'a=b"Path=/',
  'a="b \\" c"; Path=/',
  'a=b\\"c"; Path=/',
  'a"=b; Path=/',
  '="b; Path=/',
  '"agw_session"=x; Path=/',
  '"__Host-sid"=x; Path=/',
] as const)
  test(`what some jars read as several cookies, or without its path, is dropped: ${JSON.stringify(value)}`, () => {
    assert.equal(scoped(value), null)
  })
