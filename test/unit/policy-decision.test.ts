import assert from 'node:assert/strict'
import { test } from 'node:test'
import { targetProblemDetails } from '../../core/request/target-problem-details.ts'
import { explainCall, type Question } from '../../admin/try/explain-call.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { decideScope, type ScopeDecision } from '../../core/decision/decide-scope.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { type Overrides } from '../../core/request/overrides.ts'
import { aScope, anAgent, anIntegration, targetOf } from './policy-kit.ts'

const TABLE = compileIntegrations([
  anIntegration('https://x/v1', { integration_id: 'int_a', name: 'x' }),
  anIntegration('https://x/v1/admin', { integration_id: 'int_b', name: 'x admin' }),
  anIntegration('https://s3', { integration_id: 'int_s3', name: 's3', allow_empty_segments: true }),
])
const CHAT = aScope({
  name: 'chat',
  rules: [
    { methods: ['POST', 'PUT'], paths: ['/chat', '/drafts/*'] },
    { methods: ['GET'], paths: ['/models/**'] },
  ],
})

function decide(
  method: string,
  url: string,
  overrides: Overrides,
  scopes: readonly Scope[] = [CHAT],
): ScopeDecision {
  const target = targetOf(url)
  const { integration } = matchIntegration(TABLE, target)
  assert.ok(integration !== null)
  return decideScope(compileScopes(scopes), TABLE, { method, target, integration }, overrides)
}

const told = (decision: ScopeDecision): string =>
  decision.kind === 'allowed' ? 'allowed' : `${decision.reason}: ${decision.attempted_action}`

test('threat 10: a call with overrides passes only if the scope allows each overridden call too', () => {
  const rows: [methods: string[], addresses: string[], expected: string][] = [
    [[], [], 'allowed'],
    [['PUT'], [], 'allowed'],
    [[' put ', 'POST', ''], [], 'allowed'],
    [['DELETE'], [], 'method_not_allowed: DELETE /chat'],
    [['put', 'delete'], [], 'method_not_allowed: DELETE /chat'],
    [['TRACE'], [], 'method_not_allowed: TRACE /chat'],
    [[], ['/v1/chat'], 'allowed'],
    [[], ['/v1/drafts/5?a=b'], 'allowed'],
    [[], ['https://X:443/v1/drafts/5'], 'allowed'],
    [[], ['v1/drafts/5'], 'allowed'],
    [[], ['/v1/keys'], 'path_not_allowed: POST /keys'],
    [[], ['/v1/models/a'], 'method_not_allowed: POST /models/a'],
    [['PUT'], ['/v1/drafts/5'], 'allowed'],
    [['GET'], ['/v1/models/a'], 'method_not_allowed: GET /chat'],
    [[], ['/chat'], 'path_not_allowed: POST /chat'],
    [[], ['/v1/admin/chat'], 'path_not_allowed: POST /chat'],
    [[], ['/v1/drafts/../keys'], 'path_not_allowed: POST /chat'],
    [[], ['/v1/drafts//5'], 'path_not_allowed: POST /chat'],
    [[], ['http://x/v1/chat'], 'path_not_allowed: POST /chat'],
    [[], ['https://y/v1/chat'], 'path_not_allowed: POST /chat'],
    [[], ['//y/v1/chat'], 'path_not_allowed: POST /chat'],
    [[], ['file:/v1/chat'], 'path_not_allowed: POST /chat'],
    [[], ['/v1/chat#a'], 'path_not_allowed: POST /chat'],
    [Array.from({ length: 9 }, (_, i) => `M${i}`), [], 'method_not_allowed: POST /chat'],
    [[], Array.from({ length: 9 }, (_, i) => `/v1/drafts/${i}`), 'path_not_allowed: POST /chat'],
  ]
  for (const [methods, addresses, expected] of rows) {
    const urls = addresses.map((value) => ({ kind: 'url', value }) as const)
    const decision = decide('POST', 'https://x/v1/chat', { methods, addresses: urls })
    assert.deepEqual([methods, addresses, told(decision)], [methods, addresses, expected])
  }
})

test('an overridden call that another scope would allow is still refused by the one that governs', () => {
  const wide = aScope({ name: 'wide', priority: 200 })
  const decision = decide('POST', 'https://x/v1/chat', { methods: ['DELETE'], addresses: [] }, [
    CHAT,
    wide,
  ])
  assert.equal(told(decision), 'method_not_allowed: DELETE /chat')
})

/** Each tries to reach a path, host or method that the scope does not allow, in the clothes of one that it does. */
const BYPASSES: readonly [method: string, url: string, error: string, reason: string | null][] = [
  ['GET', 'https://x/v1/models/../keys', 'invalid_target_url', 'dot_segment'],
  ['GET', 'https://x/v1/models/..%2fkeys', 'invalid_target_url', 'dot_segment'],
  ['GET', 'https://x/v1/models/..%252fkeys', 'invalid_target_url', 'dot_segment'],
  ['GET', 'https://x/v1/models/%252e%252e/keys', 'invalid_target_url', 'dot_segment'],
  ['GET', 'https://x/v1/models/%25252e%25252e%25252fkeys', 'invalid_target_url', 'dot_segment'],
  ['GET', 'https://x/v1/models/..;/keys', 'invalid_target_url', 'dot_segment'],
  ['GET', 'https://x/v1/models/..\\keys', 'invalid_target_url', 'backslash'],
  ['GET', 'https://x/v1/models/..%5ckeys', 'invalid_target_url', 'backslash'],
  ['GET', 'https://x/v1/models//a', 'invalid_target_url', 'empty_segment'],
  ['GET', 'https://x/v1/models/;a=1/b', 'invalid_target_url', 'empty_segment'],
  ['GET', 'https://x//v1/models', 'invalid_target_url', 'empty_segment'],
  ['GET', 'https://x/v1/models/a%0d%0aHost:%20evil', 'invalid_target_url', 'control_character'],
  ['GET', 'https://x@evil.example/v1/models', 'invalid_target_url', 'user_info'],
  ['GET', 'https://evil.example\\@x/v1/models', 'invalid_target_url', 'backslash'],
  ['GET', 'https://x#@evil.example/v1/models', 'invalid_target_url', 'fragment'],
  ['GET', 'https://127.1/v1/models', 'invalid_target_url', 'ip_spelling'],
  ['GET', 'https://x:8443/v1/models', 'integration_not_found', null],
  ['GET', 'http://x/v1/models', 'integration_not_found', null],
  ['GET', 'http://x:443/v1/models', 'integration_not_found', null],
  ['GET', 'https://x.evil.example/v1/models', 'integration_not_found', null],
  ['GET', 'https://evil.example/https://x/v1/models', 'invalid_target_url', 'empty_segment'],
  ['GET', 'https://x/v10/models', 'integration_not_found', null],
  ['GET', 'https://x/V1/models', 'ambiguous_target', null],
  ['GET', 'https://x/v1;a/models', 'ambiguous_target', null],
  ['GET', 'https://x/v1%2Fmodels', 'ambiguous_target', null],
  ['GET', 'https://x/v1/models2', 'permission_denied', 'path_not_allowed'],
  ['GET', 'https://x/v1/Models', 'permission_denied', 'path_not_allowed'],
  ['GET', 'https://x/v1/models%2Fa', 'permission_denied', 'path_not_allowed'],
  ['GET', 'https://x/v1/models;a=1', 'permission_denied', 'path_not_allowed'],
  ['HEAD', 'https://x/v1/models', 'permission_denied', 'method_not_allowed'],
  ['get', 'https://x/v1/models', 'permission_denied', 'method_not_allowed'],
  ['TRACE', 'https://x/v1/models', 'permission_denied', 'method_not_allowed'],
  ['GET', 'https://x/v1/admin/keys', 'permission_denied', 'no_scope'],
  ['CONNECT', 'https://x/v1/models', 'upgrade_not_supported', null],
]

const AGENT: Question['agent'] = {
  agent: anAgent(),
  killed_at: null,
  scopes: compileScopes([CHAT, aScope({ name: 's3', integration_id: 'int_s3' })]),
}
const FACTS: Omit<Question, 'method' | 'url'> = { agent: AGENT, integrations: TABLE, now_ms: 0 }

test('threat 8: no spelling brings a call past its scope', () => {
  for (const [method, url, error, reason] of BYPASSES) {
    const { answer, error: code, details } = explainCall({ ...FACTS, method, url })
    assert.deepEqual(
      [url, answer, code, details['reason'] ?? null],
      [url, 'refused', error, reason],
    )
  }
})

test('spellings that mean the same pass', () => {
  for (const url of [
    'https://x/v1/models',
    'HTTPS://X.:443/v1/models/',
    'https:/x/%76%31/%6dodels/a%2Fb',
    'https://x/v1/models/gpt%2D4?u=https://y/../z',
    'https://s3//bucket//key',
  ])
    assert.equal(explainCall({ ...FACTS, method: 'GET', url }).answer, 'allowed', url)
})

test('an explanation names integration, scope and rule, or the refusal that a caller would get', () => {
  assert.deepEqual(explainCall({ ...FACTS, method: 'GET', url: 'https://x/v1/models/a' }), {
    answer: 'allowed',
    error: null,
    integration: { integration_id: 'int_a', name: 'x', base_url: 'https://x/v1' },
    connection: null,
    scope: { scope_id: 'scp_chat', name: 'chat' },
    rule: 1,
    nearest: null,
    approval: null,
    settings_from: ['scp_chat'],
    details: {},
  })
  assert.deepEqual(
    explainCall({ ...FACTS, method: 'DELETE', url: 'https://x/v1/chat?key=secret' }),
    {
      answer: 'refused',
      error: 'permission_denied',
      integration: { integration_id: 'int_a', name: 'x', base_url: 'https://x/v1' },
      connection: null,
      scope: null,
      rule: null,
      nearest: { scope_id: 'scp_chat', name: 'chat', rule: 0, methods: ['POST', 'PUT'] },
      approval: null,
      settings_from: [],
      details: {
        service: 'x',
        attempted_action: 'DELETE /chat',
        reason: 'method_not_allowed',
        agent_scopes: ['chat', 's3'],
      },
    },
  )
})

test('an explanation follows the order of checks', () => {
  const killed = { killed_at: '2026-01-02T00:00:00.000Z' }
  const none = { agent: null }
  const rows: [change: Partial<Question['agent']>, url: string, error: string, details: object][] =
    [
      [none, 'https://x/v1/../a', 'invalid_target_url', targetProblemDetails('dot_segment')],
      [none, 'https://x/v1/a\\b', 'invalid_target_url', targetProblemDetails('backslash')],
      [none, 'https://y/a/v2/b', 'integration_not_found', { base_url: 'https://y/a/v2' }],
      [none, 'https://x/v1/none', 'agent_not_found', {}],
      [killed, 'https://x/v1/none', 'agent_killed', killed],
    ]
  for (const [change, url, error, details] of rows) {
    const agent = { ...AGENT, ...change }
    const explanation = explainCall({ ...FACTS, method: 'GET', url, agent })
    assert.deepEqual([url, explanation.error, explanation.details], [url, error, details])
  }
})
