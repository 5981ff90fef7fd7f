import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Scope } from '../../core/catalogue/model.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { chooseScope, type ScopeChoice } from '../../core/decision/choose-scope.ts'
import { checkMcpTool, isToolAllowed } from '../../core/mcp/check-mcp-tool.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { mergeSettings } from '../../core/decision/merge-settings.ts'
import { parsePathPattern } from '../../core/decision/path-pattern.ts'
import { PathTrie } from '../../core/decision/path-trie.ts'
import { splitRanges } from '../../core/request/split-ranges.ts'
import { compileToolGlob, matchesToolGlob } from '../../core/mcp/tool-glob.ts'
import { repetitions } from '../kit/repetitions.ts'
import { aScope, targetOf } from './policy-kit.ts'

function matches(pattern: string, path: string): boolean {
  const parsed = parsePathPattern(pattern)
  assert.notEqual(typeof parsed, 'string', `${pattern} must parse`)
  if (typeof parsed === 'string') return false
  const trie = new PathTrie()
  trie.add(parsed, 0)
  return trie.match(targetOf(`https://x${path}`).segments, 0, { left: 10_000 }).length > 0
}

test('a rule path matches decoded segments, `*` one and `**` any number', () => {
  const rows: [pattern: string, path: string, expected: boolean][] = [
    ['/chat/completions', '/chat/completions', true],
    ['/chat/completions', '/chat/completions/', true],
    ['/chat/completions/', '/chat/completions', true],
    ['/chat/completions', '/chat/completions/x', false],
    ['/chat/completions', '/chat', false],
    ['/chat/completions', '/Chat/completions', false],
    ['/chat/completions', '/chat%2Fcompletions', false],
    ['/chat/completions', '/ch%61t/completions', true],
    ['/chat/completions', '/chat;v=1/completions', false],
    ['/', '/', true],
    ['/', '', true],
    ['/', '/a', false],
    ['/*', '/a', true],
    ['/*', '/', false],
    ['/*', '//', false],
    ['/*', '/a/b', false],
    ['/*', '/a%2Fb', true],
    ['/*', '/;v=1', false],
    ['/**', '/', true],
    ['/**', '/a/b/c', true],
    ['/**', '/a//c', true],
    ['/models/**', '/models', true],
    ['/models/**', '/models/a/b', true],
    ['/models/**', '/models2', false],
    ['/models/*', '/models//', false],
    ['/a/**/z', '/a/z', true],
    ['/a/**/z', '/a/b/z/z', true],
    ['/a/**/z', '/a/b', false],
    ['/a/**/z', '/z', false],
    ['/**/b/**/b', '/b', false],
    ['/**/b/**/b', '/b/b', true],
    ['/**/b/*/d/**', '/b/b/c/d', true],
    ['/**/**', '/a', true],
    ['/a%2Fb', '/a%2fb', true],
    ['/a%2Fb', '/a/b', false],
    ['/%2A', '/x', false],
    ['/%2A', '/*', true],
    ['/ü', '/%C3%BC', true],
  ]
  for (const [pattern, path, expected] of rows)
    assert.deepEqual([pattern, path, matches(pattern, path)], [pattern, path, expected])
})

test('a rule path that could mislead its writer is refused', () => {
  const rows: [pattern: string, problem: string][] = [
    ['', 'no_leading_slash'],
    ['models', 'no_leading_slash'],
    ['/models*', 'partial_wildcard'],
    ['/***', 'partial_wildcard'],
    ['/a?b=1', 'has_query'],
    ['/a#b', 'has_query'],
    ['/a b', 'whitespace'],
    ['/a//b', 'empty_segment'],
    ['/a/../b', 'bad_path'],
    ['/a/%2e%2e/b', 'bad_path'],
    ['/a\\b', 'bad_path'],
    [`/${'a'.repeat(3_000)}`, 'too_long'],
  ]
  for (const [pattern, problem] of rows)
    assert.deepEqual([pattern, parsePathPattern(pattern)], [pattern, problem])
})

test('a rule path matches exactly what the expression with the same meaning matches', () => {
  const part = fc.constantFrom('a', 'b', '*', '**')
  const pattern = fc.array(part, { maxLength: 7 })
  const path = fc.array(fc.constantFrom('a', 'b'), { maxLength: 9 })
  fc.assert(
    fc.property(pattern, path, (parts, segments) => {
      const source = parts
        .map((p) => (p === '**' ? '(?:/[^/]+)*' : p === '*' ? '/[^/]+' : `/${p}`))
        .join('')
      const expected = new RegExp(`^${source}$`).test(segments.map((s) => `/${s}`).join(''))
      assert.equal(matches(`/${parts.join('/')}`, `/${segments.join('/')}`), expected)
    }),
    { numRuns: repetitions(1_500) },
  )
})

const GET_MODELS = { methods: ['GET'], paths: ['/models/**'] }
const POST_CHAT = { methods: ['POST'], paths: ['/chat/completions'] }

function choose(
  scopes: readonly Scope[],
  method: string,
  path: string,
  also: [string, string][] = [],
): ScopeChoice {
  const call = (m: string, p: string) => ({
    method: m,
    segments: targetOf(`https://x${p}`).segments,
    from: 0,
    readings: splitRanges(targetOf(`https://x${p}`).split_readings, 0),
  })
  return chooseScope(
    compileScopes(scopes),
    'int_a',
    call(method, path),
    also.map(([m, p]) => call(m, p)),
  )
}

const outcome = (choice: ScopeChoice): string =>
  choice.kind === 'allowed' ? `${choice.scope.name}#${choice.rule}` : choice.reason

test('the first rule that allows method and path answers, and what is missing is named', () => {
  const scopes = [aScope({ name: 'chat', rules: [POST_CHAT, GET_MODELS] })]
  const rows: [method: string, path: string, expected: string][] = [
    ['POST', '/chat/completions', 'chat#0'],
    ['GET', '/models', 'chat#1'],
    ['GET', '/models/gpt', 'chat#1'],
    ['HEAD', '/models/gpt', 'method_not_allowed'],
    ['get', '/models/gpt', 'method_not_allowed'],
    ['GET', '/chat/completions', 'method_not_allowed'],
    ['POST', '/Chat/completions', 'path_not_allowed'],
    ['POST', '/keys', 'path_not_allowed'],
  ]
  for (const [method, path, expected] of rows)
    assert.deepEqual(
      [method, path, outcome(choose(scopes, method, path))],
      [method, path, expected],
    )
})

test('threat 11: TRACE, TRACK and CONNECT are allowed by no rule', () => {
  const scopes = [
    aScope({ rules: [{ methods: ['*', 'TRACE', 'TRACK', 'CONNECT'], paths: ['/**'] }] }),
  ]
  for (const method of ['TRACE', 'TRACK', 'CONNECT', 'trace', 'Track'])
    assert.equal(outcome(choose(scopes, method, '/a')), 'method_not_allowed')
  assert.equal(outcome(choose(scopes, 'PROPFIND', '/a')), 'a#0')
})

test('a refusal names all scopes of the agent, those of other integrations too', () => {
  const scopes = [
    aScope({ name: 'here', rules: [POST_CHAT] }),
    aScope({ name: 'elsewhere', integration_id: 'int_b', priority: 1 }),
  ]
  const choice = choose(scopes, 'GET', '/keys')
  assert.ok(choice.kind === 'denied')
  assert.deepEqual(choice.agent_scopes, ['elsewhere', 'here'])
  const none = choose([scopes[1] ?? aScope()], 'GET', '/keys')
  assert.ok(none.kind === 'denied')
  assert.deepEqual([none.reason, none.agent_scopes], ['no_scope', ['elsewhere']])
  assert.equal(outcome(choose([], 'GET', '/')), 'no_scope')
  assert.equal(outcome(choose([aScope({ rules: [] })], 'GET', '/')), 'path_not_allowed')
})

test('a refusal names the first rule that covers the path, and none if no rule does', () => {
  const get = (path: string): Scope['rules'][number] => ({ methods: ['GET'], paths: [path] })
  const scopes = [
    aScope({ name: 'other', priority: 1, rules: [get('/b')] }),
    aScope({ name: 'first', priority: 2, rules: [get('/b'), get('/a/*'), get('/a/**')] }),
    aScope({ name: 'second', priority: 3, rules: [get('/a/**')] }),
  ]
  const nearest = (method: string, path: string): string => {
    const choice = choose(scopes, method, path)
    if (choice.kind !== 'denied' || choice.nearest === null) return choice.kind
    return `${choice.nearest.scope.name}#${choice.nearest.rule}`
  }
  assert.equal(nearest('POST', '/a/x'), 'first#1')
  assert.equal(nearest('POST', '/a/x/y'), 'first#2')
  assert.equal(nearest('POST', '/b'), 'other#0')
  assert.equal(nearest('POST', '/c'), 'denied')
  assert.equal(nearest('GET', '/c'), 'denied')
})

test('lowest priority governs, then the oldest, then the id', () => {
  const late = aScope({ name: 'late', created_at: '2026-03-01T00:00:00.000Z', scope_id: 'scp_0' })
  const first = aScope({ name: 'first', priority: 5, created_at: '2026-09-01T00:00:00.000Z' })
  const twin = aScope({ name: 'twin', created_at: '2026-03-01T00:00:00.000Z', scope_id: 'scp_1' })
  assert.equal(outcome(choose([late, first, twin], 'GET', '/')), 'first#0')
  assert.equal(outcome(choose([twin, late], 'GET', '/')), 'late#0')
  assert.equal(outcome(choose([late, aScope({ name: 'old' })], 'GET', '/')), 'old#0')
})

test('a scope that governs is passed over where it has no rule, and the method is missing if any has the path', () => {
  const scopes = [
    aScope({ name: 'chat', priority: 1, rules: [POST_CHAT] }),
    aScope({ name: 'read', rules: [GET_MODELS, { methods: ['GET'], paths: ['/chat/*'] }] }),
  ]
  assert.equal(outcome(choose(scopes, 'GET', '/chat/completions')), 'read#1')
  assert.equal(outcome(choose(scopes, 'DELETE', '/chat/completions')), 'method_not_allowed')
})

const STRICT = aScope({
  name: 'strict',
  priority: 1,
  max_body_bytes: 1_000,
  rules: [{ methods: ['POST'], paths: ['/chat/completions', '/files/*', '/a%2Fb'] }],
})
const WEAK = aScope({
  name: 'weak',
  injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
})

test('threat 9: spelling cannot choose a weaker scope', () => {
  const spellings = [
    '/chat/completions',
    '/chat/completions/',
    '/Chat/COMPLETIONS',
    '/chat//completions',
    '/chat/completions//',
    '//chat/completions',
    '/chat%2Fcompletions',
    '/chat;v=1/completions;w',
    '/chat/;/completions',
    '/%43hat/completion%C5%BF',
    '/FILES/a%2Fb',
    '/files/a%2Fb;x',
    '/a/b',
    '/A%252FB',
  ]
  for (const path of spellings) {
    for (const method of ['POST', 'post']) {
      const choice = choose([WEAK, STRICT], method, path)
      assert.ok(choice.kind === 'allowed', path)
      const { max_body_bytes, injection, scope_ids } = choice.settings
      assert.deepEqual(
        [path, max_body_bytes, injection.enabled, scope_ids],
        [path, 1_000, true, ['scp_strict', 'scp_weak']],
      )
    }
  }
  for (const path of ['/chat', '/chat/completions2', '/files', '/files/a/b/c']) {
    const choice = choose([WEAK, STRICT], 'POST', path)
    assert.ok(choice.kind === 'allowed' && choice.settings.max_body_bytes === null, path)
  }
})

test('settings that were merged once are the same value the next time', () => {
  const agent = compileScopes([WEAK, STRICT])
  const call = { method: 'POST', segments: ['chat', 'completions'], from: 0, readings: [] }
  const [one, two] = [chooseScope(agent, 'int_a', call), chooseScope(agent, 'int_a', call)]
  assert.ok(one.kind === 'allowed' && two.kind === 'allowed')
  assert.equal(one.settings, two.settings)
})

test('an overridden call must be allowed by the governing scope, and tightens the settings', () => {
  const any = aScope({ name: 'any', priority: 9 })
  const own = aScope({
    name: 'own',
    priority: 5,
    rules: [{ methods: ['POST', 'PUT'], paths: ['/x'] }],
  })
  assert.equal(outcome(choose([own, any], 'POST', '/x', [['PUT', '/x']])), 'own#0')
  assert.equal(outcome(choose([own, any], 'POST', '/x', [['DELETE', '/x']])), 'method_not_allowed')
  assert.equal(outcome(choose([own, any], 'POST', '/x', [['POST', '/y']])), 'path_not_allowed')
  const choice = choose([WEAK, STRICT], 'GET', '/x', [['POST', '/chat/completions']])
  assert.ok(choice.kind === 'allowed')
  assert.equal(choice.settings.max_body_bytes, 1_000)
})

test('merged settings are the strictest of each', () => {
  const injection = SCOPE_DEFAULTS.injection_detection
  const a = aScope({
    name: 'a',
    max_body_bytes: 500,
    over_limit: 'pass_unscanned',
    allow_batches: true,
    mcp_tools: { allow: ['read_*', 'list_*'], deny: ['x'] },
    read_tools: ['list_*'],
    token_narrowing: {
      repositories: ['web', 'docs'],
      permissions: { contents: 'write', issues: 'read' },
    },
    injection_detection: {
      ...injection,
      mode: 'log',
      sensitivity: 'low',
      custom_patterns: ['p'],
      whitelist_patterns: ['w', 'v'],
      whitelist_scope: 'request',
      disabled_patterns: ['d', 'e'],
      scan_responses: true,
    },
    anomaly_detection: { enabled: true, alert_threshold: 0.8, auto_kill_threshold: 0.9 },
    rate_limiting: {
      requests_per_minute: null,
      auto_kill_on_sustained_violation: true,
      violation_window_minutes: 7,
    },
  })
  const b = aScope({
    name: 'b',
    max_body_bytes: null,
    max_response_bytes: 700,
    allow_batches: false,
    token_narrowing: { repositories: ['web', 'api'], permissions: { contents: 'read' } },
    mcp_tools: { allow: ['*_file'], deny: ['Y'] },
    injection_detection: {
      ...injection,
      mode: 'alert',
      sensitivity: 'high',
      custom_patterns: ['q', 'p'],
      whitelist_patterns: ['v'],
      disabled_patterns: ['e', 'f'],
      auto_kill_on_critical: true,
    },
    anomaly_detection: { enabled: false, alert_threshold: 0.1, auto_kill_threshold: 0.1 },
    rate_limiting: {
      requests_per_minute: 60,
      auto_kill_on_sustained_violation: false,
      violation_window_minutes: 2,
    },
  })
  const { tools, ...merged } = mergeSettings([a, b])
  assert.deepEqual(merged, {
    scope_ids: ['scp_a', 'scp_b'],
    max_body_bytes: 500,
    max_response_bytes: 700,
    over_limit: 'refuse',
    allow_batches: false,
    read_tools: [[['list_', '']], []],
    token_narrowing: { repositories: ['web'], permissions: { contents: 'read' } },
    injection: {
      enabled: true,
      mode: 'alert',
      sensitivity: 'high',
      custom_patterns: ['p', 'q'],
      whitelist_patterns: ['v'],
      whitelist_scope: 'text',
      disabled_patterns: ['e'],
      roles: injection.roles,
      trusted_texts: [],
      auto_kill_on_critical: true,
      scan_responses: true,
    },
    anomaly: { enabled: true, alert_threshold: 0.8, auto_kill_threshold: 0.9 },
    rate: {
      requests_per_minute: 60,
      auto_kill_on_sustained_violation: true,
      violation_window_minutes: 7,
    },
    rate_scope_id: 'scp_b',
    rate_per: 'agent',
  })
  const allowed = ['read_file', 'list_file', 'read_x', 'a_file', 'x', 'Y'].filter((name) =>
    isToolAllowed(tools, name),
  )
  assert.deepEqual(allowed, ['read_file', 'list_file'])
})

test('the settings of one scope alone are its own', () => {
  const scope = aScope()
  const { injection, anomaly, rate, rate_per, tools } = mergeSettings([scope])
  assert.deepEqual(injection, scope.injection_detection)
  assert.deepEqual(anomaly, scope.anomaly_detection)
  assert.deepEqual({ ...rate, per: rate_per }, scope.rate_limiting)
  assert.equal(tools.is_unrestricted, true)
})

test('merging is independent of order in what it enforces, and adding a scope never weakens', () => {
  const scope = fc
    .record({
      max_body_bytes: fc.option(fc.nat(5), { nil: null }),
      max_response_bytes: fc.option(fc.nat(5), { nil: null }),
      over_limit: fc.constantFrom('refuse', 'pass_unscanned'),
      limit: fc.option(fc.nat(5), { nil: null }),
      mode: fc.constantFrom('block', 'alert', 'log'),
      sensitivity: fc.constantFrom('low', 'medium', 'high'),
      enabled: fc.boolean(),
      deny: fc.subarray(['a*', 'b', '*c']),
      allow: fc.subarray(['*', 'a*', 'bc', '*c'], { minLength: 1 }),
    })
    .map((r) =>
      aScope({
        max_body_bytes: r.max_body_bytes,
        max_response_bytes: r.max_response_bytes,
        over_limit: r.over_limit,
        mcp_tools: { allow: r.allow, deny: r.deny },
        injection_detection: {
          ...SCOPE_DEFAULTS.injection_detection,
          enabled: r.enabled,
          mode: r.mode,
          sensitivity: r.sensitivity,
        },
        rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, requests_per_minute: r.limit },
      }),
    )
  const order = { log: 0, alert: 1, block: 2, low: 0, medium: 1, high: 2 }
  const strength = (s: ReturnType<typeof mergeSettings>) => [
    -(s.max_body_bytes ?? 99),
    -(s.max_response_bytes ?? 99),
    s.over_limit === 'refuse' ? 1 : 0,
    -(s.rate.requests_per_minute ?? 99),
    ...(s.injection.enabled
      ? [1, order[s.injection.mode], order[s.injection.sensitivity]]
      : [0, 0, 0]),
    ...['a', 'ab', 'b', 'bc', 'c'].map((name) => (isToolAllowed(s.tools, name) ? 0 : 1)),
  ]
  fc.assert(
    fc.property(fc.array(scope, { minLength: 1, maxLength: 4 }), scope, (scopes, more) => {
      const before = strength(mergeSettings(scopes))
      const after = strength(mergeSettings([...scopes, more]))
      before.forEach((value, i) => assert.ok((after[i] ?? 0) >= value))
      assert.deepEqual(strength(mergeSettings(scopes.toReversed())), before)
    }),
    { numRuns: repetitions(300) },
  )
})

test('a tool glob matches exactly what the expression with the same meaning matches', () => {
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 9 })
  const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 })
  fc.assert(
    fc.property(glob, name, (text, tool) => {
      const expected = new RegExp(`^${text.replaceAll(/\*+/g, '.*')}$`).test(tool)
      assert.equal(matchesToolGlob(compileToolGlob(text), tool), expected)
    }),
    { numRuns: repetitions(1_500) },
  )
})

test('a tool name that readers may change is refused, whatever the lists say', () => {
  const tools = mergeSettings([
    aScope({ mcp_tools: { allow: ['*'], deny: ['delete_*', 'x\u200b'] } }),
  ]).tools
  const invalid = [
    'delete\u200b_all', // zero-width space
    '\ufeffdelete_all',
    'del\u00adete_all', // soft hyphen
    'delete\u2060_all', // word joiner
    'delete_all\u202e', // right-to-left override
    'read\u202e_eteled',
    '\u2066delete_all\u2069', // isolates
    'delete\u061c_all', // Arabic letter mark
    'delete_all\ufe0f', // variation selector
    'delete\u034f_all', // combining grapheme joiner
    'delete\u3164all', // Hangul filler
    'delete_all\u{e0041}', // tag character
    'delete_all\n',
    '\tdelete_all',
    'read\0delete_all',
    'delete_all\u007f',
    'delete_all\u0085',
    'delete\u2028_all',
    'delete\ufffd_all',
    'delete\ud800_all', // lone surrogate
    'delete\udc00_all',
    'delete\ue000_all', // private use
    'delete\ufff9_all', // interlinear annotation
    'delete\uffff_all', // noncharacter
    'x\u200b',
  ]
  for (const name of invalid)
    assert.deepEqual(
      [name, checkMcpTool(tools, name)],
      [name, { kind: 'blocked', reason: 'tool_name_invalid' }],
    )
  for (const name of [
    'read_file',
    'wetter_für_köln',
    '天気',
    'a b',
    'résumé',
    'mcp.tools/list-all',
    '🔍_search',
  ])
    assert.deepEqual([name, checkMcpTool(tools, name)], [name, { kind: 'allowed' }])
})

test('deny wins and ignores case, allow is exact, and a call without a tool name is refused', () => {
  const tools = mergeSettings([
    aScope({ mcp_tools: { allow: ['*_file'], deny: ['Delete_*'] } }),
  ]).tools
  const rows: [name: string | null, expected: string][] = [
    ['read_file', 'allowed'],
    ['delete_file', 'tool_denied'],
    ['DELETE_file', 'tool_denied'],
    [' delete_file', 'tool_denied'],
    ['read_FILE', 'tool_not_allowed'],
    ['other', 'tool_not_allowed'],
    ['', 'tool_not_allowed'],
    [null, 'tool_not_allowed'],
  ]
  for (const [name, expected] of rows) {
    const answer = checkMcpTool(tools, name)
    assert.deepEqual(
      [name, answer.kind === 'allowed' ? 'allowed' : answer.reason],
      [name, expected],
    )
  }
})
