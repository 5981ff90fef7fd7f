import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bodyReaders } from '../../core/request/body-readers.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { decideScope } from '../../core/decision/decide-scope.ts'
import { findBodyOverrides } from '../../core/request/find-body-overrides.ts'
import { findOverrides } from '../../core/request/find-overrides.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { mayBodyOverride } from '../../core/decision/may-body-override.ts'
import { NO_OVERRIDES } from '../../core/request/overrides.ts'
import { repetitions } from '../kit/repetitions.ts'
import { aScope, anIntegration, targetOf } from './policy-kit.ts'

const FORM = 'application/x-www-form-urlencoded'
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const inQuery = (raw_query: string): readonly string[] => findOverrides([], raw_query).methods
const inForm = (text: string): readonly string[] => findBodyOverrides(bytes(text), FORM).methods

test('threat 28: the name of an override is read as the most lenient framework reads it', () => {
  const names = [
    '_method',
    '_METHOD',
    '_MeThOd',
    '%5Fmethod',
    '%5f%6d%65%74%68%6f%64',
    '%255Fmethod',
    '.method',
    '%2emethod',
    '%2Emethod',
    ' _method'.replace(' ', '%20'),
    '+_method',
    '+++%20%20_method',
    '%20'.repeat(500) + '_method',
    '%09_method',
    '%0a_method',
    '_method%20',
    '_method%00',
    '_method%00.anything',
    `_method%00${'x'.repeat(2_000)}`,
    '-method',
    '%C2%A0_method',
    '_method%5B%5D',
    '_method[]',
    '_method[0]',
    '_method[a][b]',
    '[_method]',
    '%5B_method%5D',
    ']_method',
    '[[]%5D[_method',
    '_method[',
    '_method]',
    '%EF%BC%BFmethod',
    '_%EF%BD%8Dethod',
    '_%5Cmethod',
    '__METHOD_OVERRIDE__',
    '_method_override',
    'REQUEST_METHOD_OVERRIDE',
    '_HttpMethod',
    '_httpmethod',
    'X-HTTP-Method-Override',
    'x_http_method_override',
    'X.HTTP.Method.Override',
    'x-http-method',
    'x-method-override',
    'x-tunneled-method',
    'alf_method',
    'http-method-override',
    'override_method',
    '$method',
    '@method',
    ':method',
  ]
  for (const name of names) {
    for (const value of ['DELETE', 'purge'])
      for (const [where, read] of [
        ['query', inQuery],
        ['form', inForm],
      ] as const)
        assert.deepEqual([where, name, read(`a=1&${name}=${value}&b=2`)], [where, name, [value]])
    assert.deepEqual(inForm(`a=1;${name}=DELETE`), ['DELETE'], name)
  }
})

test('threat 28: a query or form is also split after it is decoded', () => {
  const found: [text: string, method: string][] = [
    ['a%26_method=DELETE', 'DELETE'],
    ['a%26_method%3DDELETE', 'DELETE'],
    ['a=1%26_method=DELETE', 'DELETE'],
    ['a=1%26_method%3dDELETE%26b=2', 'DELETE'],
    ['a%3B_method=DELETE', 'DELETE'],
    ['a%2526_method%253DDELETE', 'DELETE'],
    ['a%2526_method=DELETE', 'DELETE'],
    ['a%u0026_method=DELETE', 'DELETE'],
    ['a%uFF06_method=DELETE', 'DELETE'],
    ['a%EF%BC%86_method=DELETE', 'DELETE'],
    ['a\xef\xbc\x86_method=DELETE', 'DELETE'],
    ['a%EF%B9%A0_method=DELETE', 'DELETE'],
    ['a%EF%BC%9B_method=DELETE', 'DELETE'],
    ['a%CD%BE_method=DELETE', 'DELETE'],
    ['_method%EF%BC%9DDELETE', 'DELETE'],
    ['a%3F_method=DELETE', 'DELETE'],
    ['/x?_method=DELETE', 'DELETE'],
    ['a&amp;_method=DELETE', 'DELETE'],
    ['a%26X-HTTP-Method-Override=DELETE', 'DELETE'],
    ['a%26%5fmethod=DELETE', 'DELETE'],
    ['%u005Fmethod=DELETE', 'DELETE'],
    ['a%26_method%5B%5D=DELETE', 'DELETE'],
  ]
  for (const [text, method] of found)
    for (const read of [inQuery, inForm])
      assert.ok(read(text).includes(method), `${text} ${read(text).join()}`)
  assert.deepEqual(findOverrides([], 'a%26rest_route=/wp/v2/users').addresses, [
    { kind: 'url', value: '/wp/v2/users' },
  ])
  for (const text of [
    'next=https%3A%2F%2Fx%2F%3Fmethod%3Dpost%26verb%3DGET',
    'q=A%26B%3B_methods%3DDELETE',
    'q=a%26payment_method%3DDELETE',
  ])
    assert.deepEqual([text, inQuery(text), inForm(text)], [text, [], []])
})

test('threat 28: neither repeated nor blank overrides hide the one that follows', () => {
  const repeated = '_method=POST&'.repeat(20)
  const spelled = ['POST', 'post', 'Post', 'pOst', 'poSt', 'posT', 'POst', 'poST', 'PoSt']
  const integrations = compileIntegrations([
    anIntegration('https://x', { integration_id: 'int_a' }),
  ])
  const scopes = compileScopes([aScope({ rules: [{ methods: ['POST'], paths: ['/**'] }] })])
  const target = targetOf('https://x/a')
  const { integration } = matchIntegration(integrations, target)
  assert.ok(integration !== null)
  const decide = (name: string, value: string, query: string): string =>
    decideScope(
      scopes,
      integrations,
      { method: 'POST', target, integration },
      findOverrides([{ name, value }], query),
    ).kind
  assert.equal(decide('a', '', repeated), 'allowed')
  assert.equal(decide('a', '', `${repeated}_method=DELETE`), 'denied')
  const variants = spelled.map((value) => `_method=${value}`).join('&')
  assert.equal(decide('a', '', `${variants}&_method=DELETE`), 'denied')
  const blanks = ['', '+', '++', '%09', '%09+', '%0a', '%0d', '+%09', '%0b'].map(
    (v) => `_method=${v}`,
  )
  assert.equal(decide('a', '', `${blanks.join('&')}&_method=DELETE`), 'denied')
  assert.equal(decide('x-original-url', ', , , , , , , , , ,', '_method=DELETE'), 'denied')
})

test('threat 28: a field that may be the API’s own counts where its value is a method', () => {
  const names = ['method', 'Method', 'httpMethod', 'http_method', 'HTTP-Method', 'request_method']
  names.push('verb', 'http.verb', '[method]'.slice(1), 'method[]')
  for (const name of names) {
    for (const value of ['delete', 'DELETE', '%44elete', '+DELETE%20', 'GET', 'options', 'trace'])
      assert.equal(inQuery(`${name}=${value}`).length, 1, `${name}=${value}`)
    for (const value of ['card', 'tools/call', 'flickr.photos.search', '', 'deleted', 'get-all'])
      assert.deepEqual(inQuery(`${name}=${value}`), [], `${name}=${value}`)
  }
})

test('fields that only look like an override change nothing', () => {
  const pairs = [
    'payment_method=DELETE',
    'shipping-method=GET',
    'methods=DELETE',
    'x_methods=DELETE',
    'auth_method=POST',
    'methodology=GET',
    'a=_method=DELETE',
    'x_method_name=DELETE',
    'method_id=DELETE',
    'contact%5Bmethod%5D=DELETE',
    'options[method]=DELETE',
    '_methods=DELETE',
    '%00_method=DELETE',
    'a%00_method=DELETE',
    'merge_method=merge',
    'url=/v1/keys',
    'route=/v1/keys',
    'rest_route=about',
    'proverb=GET',
    '_method',
    '_method=',
    '%=%&%zz=DELETE',
  ]
  for (const pair of pairs) {
    const found = findOverrides([], pair)
    assert.deepEqual([pair, found.methods.filter((m) => m !== ''), found.addresses], [pair, [], []])
  }
  for (const none of [null, '', 'a=1', 'q=method%20of%20payment', 'url=https://x/%5fmethod'])
    assert.equal(findOverrides([], none), NO_OVERRIDES)
})

test('threat 28: a path in a field that WordPress or Phalcon routes by counts as an address', () => {
  const urlOf = (value: string) => [{ kind: 'url', value }]
  const rows: [text: string, expected: object[]][] = [
    ['rest_route=/wp/v2/users', urlOf('/wp/v2/users')],
    ['rest%5Froute=%2Fwp%2Fv2%2Fusers', urlOf('/wp/v2/users')],
    ['rest.route=/wp/v2/users', urlOf('/wp/v2/users')],
    ['_url=/admin', urlOf('/admin')],
    ['.url=/admin', urlOf('/admin')],
    ['url=/admin', []],
  ]
  for (const [text, expected] of rows) {
    assert.deepEqual([text, findOverrides([], text).addresses], [text, expected])
    assert.deepEqual([text, findBodyOverrides(bytes(text), FORM).addresses], [text, expected])
  }
})

test('threat 28: method headers are found in every spelling', () => {
  const any = [
    'x-http-method-override',
    'x_http_method_override',
    'x.http.method.override',
    'x-http-methodoverride',
    'x-http-method',
    'x-httpmethod',
    'x-method-override',
    'x-method',
    'x-original-method',
    'x-request-method',
    'x-tunneled-method',
    'x-http-verb',
    'x-http-verb-override',
    'http-method-override',
    'method-override',
    'override-method',
    '_method',
  ]
  for (const name of any) {
    assert.deepEqual(
      [name, findOverrides([{ name, value: 'PURGE' }], null).methods],
      [name, ['PURGE']],
    )
    assert.deepEqual(findOverrides([{ name, value: 'a, b' }], null).methods, ['a', ' b'], name)
  }
  for (const name of ['method', 'http-method', 'request-method', 'verb']) {
    assert.deepEqual(findOverrides([{ name, value: 'delete' }], null).methods, ['delete'], name)
    assert.equal(findOverrides([{ name, value: 'card' }], null), NO_OVERRIDES, name)
  }
})

test('threat 28: address headers are found in every spelling', () => {
  const rows: Record<string, readonly string[]> = {
    url: [
      'x-original-url',
      'x_original_url',
      'x-rewrite-url',
      'x-original-uri',
      'x-rewrite-uri',
      'x-override-url',
      'request-uri',
      'request_uri',
      'x-request-uri',
      'x-http-destinationurl',
      'x-original-path',
      'x-rewrite-path',
      'path-info',
      'unencoded_url',
    ],
    host: ['x-host', 'x_host', 'x-original-host', 'x-http-host-override', 'x-host-override'],
    prefix: ['x-script-name', 'script_name'],
  }
  for (const [kind, names] of Object.entries(rows))
    for (const name of names)
      assert.deepEqual(
        [name, findOverrides([{ name, value: '/a,/b' }], null).addresses],
        [name, ['/a,/b', '/a', '/b'].map((value) => ({ kind, value }))],
      )
  const copy = (method: string) => [
    { name: ':method', value: method },
    { name: 'destination', value: 'https://x/v1/keys' },
  ]
  for (const method of ['COPY', 'MOVE', 'move'])
    assert.equal(findOverrides(copy(method), null).addresses.length, 1, method)
  assert.equal(findOverrides(copy('POST'), null), NO_OVERRIDES)
})

test('headers of ordinary calls are no overrides', () => {
  const names = [
    ':method',
    ':path',
    'accept',
    'access-control-request-method',
    'authorization',
    'content-type',
    'host',
    'origin',
    'referer',
    'stripe-account',
    'user-agent',
    'x-api-key',
    'x-forwarded-host',
    'x-methods',
    'x-payment-method',
    'x-request-id',
    'x-stainless-runtime',
  ]
  const headers = names.map((name) => ({ name, value: 'DELETE' }))
  assert.equal(findOverrides(headers, null), NO_OVERRIDES)
})

test('threat 28: a body is read by every reader that its type does not rule out', () => {
  const rows: [type: string, form: boolean, multipart: boolean, inert: boolean][] = [
    [FORM, true, false, false],
    [`${FORM}; charset=utf-8`, true, false, false],
    ['Application/X-WWW-Form-URLencoded', true, false, false],
    ['multipart/form-data; boundary=x', false, true, false],
    ['multipart/mixed; boundary="x"', false, true, false],
    ['multipart/form-data', true, true, false],
    ['multipart/form-data; boundary=""', true, true, false],
    ['application/json', false, false, false],
    ['application/vnd.api+json; charset=utf-8', false, false, false],
    ['', true, true, false],
    [' ', true, true, false],
    [',', true, true, false],
    [';', true, true, false],
    ['/', true, true, false],
    [`${FORM},text/plain`, true, true, false],
    [`${FORM} text/plain`, true, true, false],
    [`application/json, ${FORM}`, true, true, false],
    [`application/json; a=b, ${FORM}`, true, true, false],
    ['application/json application/x', true, true, false],
    ['multipart/form-data; boundary="a,b"', true, true, false],
    ['text/plain', false, false, false],
    ['application/soap+xml; charset=utf-8', false, false, false],
    ['text', true, true, false],
    ['application/unknown', true, true, false],
    ['application/octet-stream', false, false, true],
    ['image/png', false, false, true],
    ['application/grpc+proto', false, false, true],
    ['application/x-git-receive-pack-request', false, false, true],
    ['application/x-ndjson', false, false, true],
    [`image/png, ${FORM}`, true, true, false],
    [`image/png ${FORM}`, true, true, false],
  ]
  for (const [type, form, multipart, is_inert] of rows) {
    const { is_binary: _, ...readers } = bodyReaders(type)
    assert.deepEqual([type, readers], [type, { form, multipart, is_inert }])
  }
  for (const type of ['', `${FORM},x`, `${FORM} x`, `text/plain, ${FORM}`, 'application/x'])
    assert.deepEqual(
      [type, findBodyOverrides(bytes('.method=DELETE'), type).methods],
      [type, ['DELETE']],
    )
})

const part = (head: string, text = 'DELETE', end = '\r\n'): string =>
  ['--b:1', ...head.split('\n'), '', text, '--b:1--', ''].join(end)
const disposition = (rest: string): string => `Content-Disposition: form-data; ${rest}`

test('threat 28: a part of a multipart body is found however its name is written', () => {
  const type = 'multipart/form-data; boundary="b:1"'
  const heads = [
    disposition('name="_method"'),
    disposition("name='_method'"),
    disposition('name=_method'),
    disposition('name="_\\method"'),
    disposition('name="\\_\\m\\e\\t\\h\\o\\d"'),
    disposition('name=".method"'),
    disposition('name=" _method"'),
    disposition('name="_method%00x"'),
    disposition('name="%5Fmethod"'),
    disposition('name="[_method]"'),
    disposition('name="a"; name="_method"'),
    disposition('name="_method"; name="a"'),
    disposition('NAME="_METHOD"'),
    disposition('name = "_method"'),
    disposition('name="_method'),
    disposition('name=_method"'),
    disposition("name*=UTF-8''_method"),
    disposition("name*=UTF-8''%5Fmethod"),
    disposition('name*0="_me"; name*1="thod"'),
    // Go's reader puts pieces together by their numbers, so that gorilla's override finds each of these.
    disposition('name*1=thod; name*0=_me'),
    disposition("name*0*=utf-8''_me; name*1*=thod"),
    disposition("name*0*=utf-8''%5Fme; name*1=thod"),
    disposition("name*1*=%74hod; name*0*=utf-8''_me"),
    disposition('name*0="_"; x=y; name*2="thod"; name*1="me"'),
    disposition('NAME*2=od; Name*1=meth; name*0=_'),
    disposition("name*0*=utf-8'en'_; name*1=method"),
    disposition('name*1="thod"; filename=x; name*0="_me"'),
    disposition('name*0=a; name*0=_me; name*1=thod'),
    disposition('name*0=_me; name*1=thod; name*0=a'),
    disposition('name * 1 = thod; name * 0 = _me'),
    disposition('name="=?UTF-8?B?X21ldGhvZA==?="'),
    disposition('name="=?utf-8?q?=5Fmethod?="'),
    disposition('\n name="_method"'),
    'content-disposition:form-data;name=_method',
    'Content-Disposition: name="_method"',
    `X: y\n${disposition('name="_method"')}`,
    `X: ${'y'.repeat(20_000)}\n${disposition('name="_method"')}`,
    `${disposition('name="_method"')}\nContent-Type: text/plain`,
    'Content-ID: _method',
    disposition('name="_method"; filename="x"'),
    disposition('name="_HttpMethod"'),
    disposition('name="X-HTTP-Method-Override"'),
    disposition('name="method"'),
  ]
  for (const head of heads) {
    for (const end of ['\r\n', '\n', '\r'])
      assert.deepEqual(
        [head, end, findBodyOverrides(bytes(part(head, 'DELETE', end)), type).methods],
        [head, end, ['DELETE']],
      )
    const preamble = `preamble\r\n${part(head)}`
    assert.deepEqual([head, findBodyOverrides(bytes(preamble), '').methods], [head, ['DELETE']])
  }
  // For a reader that does not end a line at CR alone, this line continues.
  const folded = part(disposition('\r\n name="_method"'))
  assert.deepEqual(findBodyOverrides(bytes(folded), type).methods, ['DELETE'])
  const other = 'multipart/form-data; boundary=other'
  assert.deepEqual(findBodyOverrides(bytes(part(heads[0] ?? '')), other).methods, ['DELETE'])
})

test('parts that only look like an override change nothing', () => {
  const type = 'multipart/form-data; boundary="b:1"'
  const rows: [head: string, text: string][] = [
    [disposition('name="file"; filename="_method"'), '<i name="_method">\r\n\r\nx'],
    [disposition('name="payment_method"'), 'DELETE'],
    [disposition("filename*0*=utf-8''_me; filename*1=thod; name=a"), 'x'],
    [disposition('name="method"'), 'card'],
    [disposition('name="note"'), 'name="_method"\r\n\r\nDELETE'],
    [disposition('name="note"'), '_method=DELETE'],
    [disposition('name="note"; filename="a%20b.txt"'), 'DELETE'],
  ]
  for (const [head, text] of rows)
    assert.deepEqual([head, findBodyOverrides(bytes(part(head, text)), type).methods], [head, []])
})

test('threat 28: members of a JSON object are found in every spelling, and by lenient readers', () => {
  const rows: [body: string, methods: string[]][] = [
    ['{"_method":"DELETE","a":{"_method":"b"}}', ['DELETE']],
    ['{"_METHOD":"delete"}', ['delete']],
    [' {"a":1,"\\u005fmethod":"PUT"}', ['PUT']],
    ['{"\\u005f\\u006d\\u0065\\u0074\\u0068\\u006f\\u0064":"PUT"}', ['PUT']],
    ['{".method":"DELETE"}', ['DELETE']],
    ['{" _method ":"DELETE"}', ['DELETE']],
    ['{"_method\\u0000x":"DELETE"}', ['DELETE']],
    ['{"_HttpMethod":"PATCH"}', ['PATCH']],
    ['{"X-HTTP-Method-Override":"DELETE"}', ['DELETE']],
    ['{"httpMethod":"DELETE"}', []],
    ['{"_method":"purge"}', ['purge']],
    ['{"_method":"getUser"}', []],
    ['{"method":"delete"}', []],
    ['{"_method":["DELETE","GET"]}', ['DELETE', 'GET']],
    ['{"_method":"GET","_method":"DELETE"}', ['GET', 'DELETE']],
    ['\ufeff{"_method":"DELETE"}', ['DELETE']],
    ['{"_method":"DELETE"', ['DELETE']],
    ['{"a":NaN,"_method":"DELETE"}', ['DELETE']],
    ["{'_method':'DELETE'}", ['DELETE']],
    ['{_method:"DELETE"}', ['DELETE']],
    ['{_method:DELETE}', ['DELETE']],
    ['{"_method"=>"DELETE"}', ['DELETE']],
    ['{"_method" /* a */ : // b\n "DELETE",}', ['DELETE']],
    ['{"u":"http://x/","_method":"DELETE",}', ['DELETE']],
    ['/* a */{"_method":"DELETE"}', ['DELETE']],
    ['{/* a */_method:"DELETE"}', ['DELETE']],
    ['// a\n{"_method":"DELETE"}', ['DELETE']],
    [')]}\'\n{"_method":"DELETE"}', ['DELETE']],
    ['{"_method":["DELETE"],}', ['DELETE']],
    ['{"_method":5}', []],
    ['{"_method":{"a":"DELETE"}}', []],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}', []],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', []],
    ['{"payment_method":"pm_card_visa","confirm":true}', []],
    [
      '{"messages":[{"role":"user","content":"use the DELETE method: \\"_method\\": \\"DELETE\\""}]}',
      [],
    ],
    ['{"request":{"method":"DELETE","url":"https://x"}}', []],
    ['[{"_method":"DELETE"}]', []],
    ['{"merge_method":"squash"}', []],
    ['{"method":"card"}', []],
    ['"_method"', []],
    ['', []],
  ]
  for (const [body, methods] of rows)
    for (const type of ['application/json', 'image/png', '', 'text/plain', FORM]) {
      const found = findBodyOverrides(Buffer.from(body), type).methods
      // Read as a form, the same text may hold more.
      const asJson = bodyReaders(type).form ? found.filter((m) => methods.includes(m)) : found
      assert.deepEqual([body, type, asJson], [body, type, methods])
      if (methods.length === 0) assert.deepEqual([body, type, found], [body, type, []])
    }
})

test('an override is found in any place of a body that holds other things, and a flood ends at the bound', () => {
  const filler = fc.array(fc.constantFrom('a=1', 'b=%zz', '=', '', 'method', 'q=_method', '%'), {
    maxLength: 20,
  })
  fc.assert(
    fc.property(filler, filler, fc.constantFrom('&', ';'), (before, after, sign) => {
      const text = [...before, '%2emethod=DELETE', ...after].join(sign)
      assert.deepEqual(inForm(text), ['DELETE'])
    }),
    { numRuns: repetitions(500) },
  )
  const names = Array.from({ length: 500 }, (_, i) => `M${i}`)
  assert.equal(inForm(names.map((name) => `_method=${name}`).join('&')).length, 9)
  const one = part(disposition('name="_method"'))
  const parts = names.map((name) => one.replace('DELETE', name)).join('')
  assert.equal(findBodyOverrides(bytes(parts), 'multipart/form-data').methods.length, 9)
})

test('hostile bodies are read in linear time', () => {
  const bodies = [
    '&'.repeat(200_000),
    '%'.repeat(200_000),
    '%5fmethod'.repeat(20_000),
    '--'.repeat(100_000),
    '\n--'.repeat(60_000),
    `{"method${'"'.repeat(200_000)}`,
    `{"a":1,${'/*method*/'.repeat(20_000)}`,
    `{${'method '.repeat(30_000)}`,
    `{${'/method//'.repeat(20_000)}`,
    `{"_method":${'['.repeat(100_000)}`,
    `{"verb${' '.repeat(200_000)}`,
    `{${'verb /*'.repeat(20_000)}`,
    `--\n${'name="'.repeat(30_000)}method\n\nx`,
    `--\n${'=?a?b?'.repeat(30_000)}method\n\nx`,
  ]
  for (const body of bodies) {
    const started = process.cpuUsage()
    findBodyOverrides(bytes(body), '')
    const { user } = process.cpuUsage(started)
    // A quadratic reader takes half a minute of these.
    assert.ok(user < 5_000_000, `${body.slice(0, 20)} took ${user} µs`)
  }
})

test('a body need not be held where no override in it could change the answer', () => {
  const held = (
    methods: string[],
    type: string,
    others = 0,
    path = '/**',
    alone = true,
    batch = false,
  ): boolean => {
    const scopes = [aScope({ rules: [{ methods, paths: [path] }] })]
    for (let i = 0; i < others; i++) scopes.push(aScope({ name: `other ${i}` }))
    const compiled = compileScopes(scopes).by_integration.get('int_a')
    assert.ok(compiled !== undefined)
    const [first] = scopes
    assert.ok(first !== undefined)
    return mayBodyOverride(compiled, first, type, alone, batch)
  }
  assert.equal(held(['POST'], 'application/json'), true)
  assert.equal(held(['POST'], ''), true)
  assert.equal(held(['POST'], 'application/x-unknown'), true)
  assert.equal(held(['POST'], 'image/png'), false)
  assert.equal(held(['POST'], `image/png, ${FORM}`), true)
  assert.equal(held(['*'], 'application/json'), false)
  assert.equal(held(['*'], ''), false)
  for (const form of [FORM, 'multipart/form-data; boundary=b']) {
    assert.equal(held(['*'], form), false)
    // A path in it could be one that the scope does not allow, or that of another integration.
    assert.equal(held(['*'], form, 0, '/uploads/**'), true)
    assert.equal(held(['*'], form, 0, '/**', false), true)
    assert.equal(held(['*'], form, 1), true)
    assert.equal(held(['POST'], form), true)
  }
  assert.equal(held(['*'], 'application/json', 1), true)
  assert.equal(held(['*'], 'application/json', 0, '/items/**'), true)
  assert.equal(held(['*'], 'application/json', 0, '/**', true, true), true)
})

const TABLE = compileIntegrations([
  anIntegration('https://x/v1', { integration_id: 'int_a' }),
  anIntegration('https://x/v1/admin', { integration_id: 'int_b' }),
])
const SCOPE = compileScopes([
  aScope({
    rules: [
      { methods: ['POST', 'PUT'], paths: ['/items/*'] },
      { methods: ['COPY'], paths: ['/drafts/*'] },
    ],
  }),
])

test('threat 28: an override passes only where the scope allows the overridden call too', () => {
  const rows: [name: string, value: string, allowed: boolean][] = [
    ['x-method', 'put', true],
    ['x-method', 'DELETE', false],
    ['x-original-method', 'GET', false],
    ['x-original-uri', '/v1/items/2', true],
    ['x-original-uri', '/v1/keys', false],
    ['x-original-uri', '/v1/items/2%2fsecret', false],
    ['x-original-uri', '/V1/items/2', false],
    ['x-original-uri', '/v1/items/．．', false],
    ['x-rewrite-uri', '/v1/admin/x', false],
    ['x-override-url', 'https://x/v1/items/3', true],
    ['x-override-url', 'https://y/v1/items/3', false],
    ['request-uri', 'items/1', false],
    ['x-http-destinationurl', 'http://169.254.169.254/', false],
    ['x-original-host', 'x', true],
    ['x-original-host', 'X.:443', true],
    ['x-host', 'x:443', true],
    ['x-host', 'y', false],
    ['x-host', 'x:8443', false],
    ['x-http-host-override', 'x/v1/items/1?', false],
    ['x-http-host-override', 'user@x', false],
    ['x-script-name', '', true],
    ['x-script-name', '/', true],
    ['x-script-name', '/v1', false],
    ['script_name', '/v1/items', false],
    ['destination', '/v1/keys', true],
  ]
  for (const [name, value, allowed] of rows) {
    const target = targetOf('https://x/v1/items/1')
    const { integration } = matchIntegration(TABLE, target)
    assert.ok(integration !== null)
    const text = Buffer.from(value, 'utf8').toString('latin1')
    const overrides = findOverrides(
      [
        { name: ':method', value: 'POST' },
        { name, value: text },
      ],
      null,
    )
    const decision = decideScope(SCOPE, TABLE, { method: 'POST', target, integration }, overrides)
    assert.deepEqual([name, value, decision.kind === 'allowed'], [name, value, allowed])
  }
})

test('threat 28: WebDAV writes only where the scope allows the same method', () => {
  const decide = (destination: string) => {
    const target = targetOf('https://x/v1/drafts/1')
    const { integration } = matchIntegration(TABLE, target)
    assert.ok(integration !== null)
    const headers = [
      { name: ':method', value: 'COPY' },
      { name: 'destination', value: destination },
    ]
    const overrides = findOverrides(headers, null)
    return decideScope(SCOPE, TABLE, { method: 'COPY', target, integration }, overrides).kind
  }
  assert.equal(decide('https://x/v1/drafts/2'), 'allowed')
  assert.equal(decide('/v1/drafts/2'), 'allowed')
  assert.equal(decide('https://x/v1/items/2'), 'denied')
  assert.equal(decide('https://x/v1/drafts/../items/2'), 'denied')
  assert.equal(decide('https://y/v1/drafts/2'), 'denied')
})
