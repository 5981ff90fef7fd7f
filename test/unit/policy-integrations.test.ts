import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileIntegrations } from '../../core/policy/compile-integrations.ts'
import { describeAction, describeEndpoint } from '../../core/policy/describe-call.ts'
import { matchIntegration } from '../../core/policy/match-integration.ts'
import { parseBaseUrl } from '../../core/policy/parse-base-url.ts'
import { anIntegration, targetOf } from './policy-kit.ts'

const BASES = [
  'https://x',
  'https://x/v1',
  'https://x/v1/files',
  'https://x:8443/v1',
  'http://x/v1',
  'https://y/api/v2',
  'https://z/a%2Fb',
]

const covering = (bases: readonly string[], url: string): string | null =>
  matchIntegration(compileIntegrations(bases.map((base) => anIntegration(base))), targetOf(url))
    .integration?.integration.base_url ?? null

test('the longest base URL that ends on a segment boundary covers the target', () => {
  const rows: [url: string, base: string | null][] = [
    ['https://x/v1', 'https://x/v1'],
    ['https://x/v1/', 'https://x/v1'],
    ['https://x/v1/chat', 'https://x/v1'],
    ['https://x/v1?a', 'https://x/v1'],
    ['https://x/v10', 'https://x'],
    ['https://x/v1.0/chat', 'https://x'],
    ['https://x/v2/chat', 'https://x'],
    ['https://x/V1/chat', 'https://x'],
    ['https://x/v1;a=1/chat', 'https://x'],
    ['https://x//v1/chat', 'https://x'],
    ['https://x/v1%2Fchat', 'https://x'],
    ['https://x/%76%31/chat', 'https://x/v1'],
    ['https://X.:443/v1/files/f', 'https://x/v1/files'],
    ['https://x/v1/files2', 'https://x/v1'],
    ['https://x:8443/v1/a', 'https://x:8443/v1'],
    ['https://x:8444/v1/a', null],
    ['http://x/v1/a', 'http://x/v1'],
    ['http://x/a', null],
    ['http://x:443/v1', null],
    ['https://y/api', null],
    ['https://y/api/v2/q', 'https://y/api/v2'],
    ['https://y.evil.example/api/v2/q', null],
    ['https://z/a/b', null],
    ['https://z/a%2fb/c', 'https://z/a%2Fb'],
  ]
  for (const [url, base] of rows) assert.deepEqual([url, covering(BASES, url)], [url, base])
})

test('the match is the same as that of a search through all base URLs', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'v1'), { maxLength: 4 })
    .map((s) => s.map((x) => `/${x}`).join(''))
  const base = fc
    .tuple(fc.constantFrom('https://x', 'https://y:1', 'http://x'), path)
    .map((p) => p.join(''))
  fc.assert(
    fc.property(fc.array(base, { maxLength: 12 }), base, (bases, url) => {
      const expected = bases
        .filter((b) => url === b || url.startsWith(`${b}/`))
        .reduce(
          (longest: string | null, b) => (b.length > (longest ?? '').length ? b : longest),
          null,
        )
      assert.equal(covering(bases, url), expected)
    }),
    { numRuns: 300 },
  )
})

test('of two integrations with one base URL the older covers, whatever their order', () => {
  const older = anIntegration('https://x', { integration_id: 'int_1' })
  const newer = anIntegration('https://x', {
    integration_id: 'int_0',
    created_at: '2026-02-01T00:00:00.000Z',
  })
  for (const list of [
    [older, newer],
    [newer, older],
  ]) {
    const found = matchIntegration(compileIntegrations(list), targetOf('https://x/a'))
    assert.equal(found.integration?.integration.integration_id, 'int_1')
  }
})

test('the name that a credential fills is known, headers in their plain form', () => {
  const owned = (auth: Parameters<typeof anIntegration>[1]) =>
    matchIntegration(
      compileIntegrations([anIntegration('https://x', auth)]),
      targetOf('https://x/'),
    ).integration?.owned
  assert.deepEqual(owned({ auth: { type: 'header', name: 'X_Api-Key', value: '' } }), {
    kind: 'header',
    name: 'x-api-key',
  })
  assert.deepEqual(owned({ auth: { type: 'query', name: 'Key', value: '' } }), {
    kind: 'query',
    name: 'Key',
  })
  assert.deepEqual(owned({ auth: { type: 'bearer', token: '' } }), {
    kind: 'header',
    name: 'authorization',
  })
})

test('a call is described by its method and the path below the base URL, in the caller’s spelling', () => {
  const rows: [url: string, base: string, action: string, endpoint: string][] = [
    [
      'https://x/v1/chat/completions?k=secret',
      'https://x/v1',
      'POST /chat/completions',
      '/v1/chat/completions',
    ],
    ['https://x/v1', 'https://x/v1', 'POST /', '/v1'],
    ['https://x/v1/', 'https://x/v1', 'POST /', '/v1/'],
    ['https://x', 'https://x', 'POST /', '/'],
    ['https://x/a%2Fb//c', 'https://x', 'POST /a%2Fb//c', '/a%2Fb//c'],
    ['https://x/%76%31/ü', 'https://x/v1', 'POST /ü', '/%76%31/ü'],
  ]
  for (const [url, baseText, action, endpoint] of rows) {
    const base = parseBaseUrl(baseText)
    assert.ok(base.ok)
    assert.deepEqual(
      [url, describeAction('POST', targetOf(url), base.base), describeEndpoint(targetOf(url))],
      [url, action, endpoint],
    )
  }
})

test('a described path is cut at its bound', () => {
  assert.equal(describeEndpoint(targetOf(`https://x/${'a'.repeat(10_000)}`)).length, 2_048)
})
