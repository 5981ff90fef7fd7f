import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { baseUrlOfTarget } from '../../core/request/base-url-of-target.ts'
import { describeAction, describeEndpoint } from '../../core/request/describe-call.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { parseBaseUrl } from '../../core/request/parse-base-url.ts'
import { repetitions } from '../kit/repetitions.ts'
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
    { numRuns: repetitions(300) },
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
    ).integration?.owned[0]
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

test('threat 31: a key in a path is hidden from the log, whatever the API and the spelling', () => {
  const random = (length: number): string =>
    'aZ3bY7cX1dW9eV5fU2gT8hS4iR6jQ0kPlOmN'.repeat(4).slice(0, length)
  const digits = '1234567890'
  const bot = `${digits}:AA${random(33)}`
  const rows: [url: string, base: string, action: string, endpoint: string][] = [
    [`https://api.telegram.org/bot${bot}/sendMessage`, '', '/bot***', '/bot***'],
    [
      `https://bots.example/bot${bot}/sendMessage`,
      '',
      '/bot***/sendMessage',
      '/bot***/sendMessage',
    ],
    [`https://bots.example/file/bot${bot}/a.png`, '/file', '/bot***/a.png', '/file/bot***/a.png'],
    [`https://bots.example/bot${bot.replace(':', '%3a')}/x`, '', '/bot***/x', '/bot***/x'],
    [`https://bots.example/bot${bot.replace(':', '%253A')}/x`, '', '/bot***/x', '/bot***/x'],
    [
      `https://hooks.slack.com/services/T12345678/B12345678/${random(24)}`,
      '',
      '/services/***',
      '/services/***',
    ],
    [
      `https://slack.internal/services/T12345678/B12345678/${random(24)}`,
      '',
      '/services/T12345678/B12345678/***',
      '/services/T12345678/B12345678/***',
    ],
    [
      `https://discord.com/api/v10/webhooks/123456789012345678/${random(68)}`,
      '/api/v10',
      '/webhooks/***',
      '/api/v10/webhooks/***',
    ],
    [
      `https://x.webhook.office.com/webhookb2/${random(36)}/IncomingWebhook/${random(32)}`,
      '',
      '/webhookb2/***',
      '/webhookb2/***',
    ],
    [`https://mainnet.infura.io/v3/${random(32)}`, '', '/v3/***', '/v3/***'],
    [`https://eth-mainnet.g.alchemy.com/v2/${random(32)}/x`, '/v2', '/***', '/v2/***'],
    [`https://x/v1/sk_live_${random(24)}/a`, '/v1', '/sk_***/a', '/v1/sk_***/a'],
    [`https://x/v1/sk%5Flive%5F${random(24)}/a`, '/v1', '/sk%5F***/a', '/v1/sk%5F***/a'],
    [`https://x/a/ghp_${random(36)}`, '', '/a/ghp_***', '/a/ghp_***'],
    [`https://x/a/AIza${random(35)}/b`, '', '/a/AIza***/b', '/a/AIza***/b'],
    [
      `https://x/jwt/eyJhbGciOiJIUzI1NiJ9.${random(20)}.${random(43)}`,
      '',
      '/jwt/eyJ***',
      '/jwt/eyJ***',
    ],
    ['https://x/login;password=hunter2/b', '', '/login;password=***', '/login;password=***'],
    ['https://x/user:hunter2@host/b', '', '/user:hunter2@host/b', '/user:hunter2@host/b'],
    ['https://x/cards/4111111111111111', '', '/cards/***', '/cards/***'],
    ['https://x/cards/4111-1111-1111-1111/a', '', '/cards/***/a', '/cards/***/a'],
    // What looks like no key stays readable.
    [
      'https://x/v1/threads/thread_4hf8Jk2LmN8QwErTyUiOp/messages',
      '/v1',
      '/threads/thread_4hf8Jk2LmN8QwErTyUiOp/messages',
      '/v1/threads/thread_4hf8Jk2LmN8QwErTyUiOp/messages',
    ],
    [
      'https://x/customers/550e8400-e29b-41d4-a716-446655440000',
      '',
      '/customers/550e8400-e29b-41d4-a716-446655440000',
      '/customers/550e8400-e29b-41d4-a716-446655440000',
    ],
    [
      'https://x/models/gemini-1.5-pro-latest:generateContent',
      '',
      '/models/gemini-1.5-pro-latest:generateContent',
      '/models/gemini-1.5-pro-latest:generateContent',
    ],
    // The placeholder is no secret, and hides none.
    ['https://x/v1/bot{agw:token}/x', '', '/v1/bot{agw:token}/x', '/v1/bot{agw:token}/x'],
    [`https://x/{agw:token}/bot${bot}`, '', '/{agw:token}/bot***', '/{agw:token}/bot***'],
    [
      'https://x/git/commits/3f786850e387550fdab836ed7e6dc881de23001b',
      '',
      '/git/commits/3f786850e387550fdab836ed7e6dc881de23001b',
      '/git/commits/3f786850e387550fdab836ed7e6dc881de23001b',
    ],
  ]
  for (const [url, below, action, endpoint] of rows) {
    const target = targetOf(url)
    const base = parseBaseUrl(target.origin + below)
    assert.ok(base.ok)
    assert.deepEqual(
      [url, describeAction('POST', target, base.base), describeEndpoint(target)],
      [url, `POST ${action}`, endpoint],
    )
  }
  const unknown = targetOf(`https://bots.example/bot${bot}/v1/x`)
  assert.equal(baseUrlOfTarget(unknown), 'https://bots.example/bot***/v1')
})

test('a key that the bound of a described path cuts is hidden', () => {
  const long = `https://x/${'a'.repeat(2_030)}/ghp_${'b7C'.repeat(12)}`
  for (let shift = 0; shift < 24; shift++) {
    const text = describeEndpoint(targetOf(long.replace('/a', `/${'c'.repeat(shift)}`)))
    assert.ok(!text.includes('b7C'), text.slice(-40))
  }
})

test('a described path is cut at its bound', () => {
  assert.equal(describeEndpoint(targetOf(`https://x/${'a'.repeat(10_000)}`)).length, 2_048)
})
