import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import { tokenFailure } from '../../core/token/credential-cause.ts'
import { decisionSpans } from '../../ext-proc/trace/call-spans.ts'
import type { Forward, Verdict } from '../../ext-proc/verdict/verdict.ts'
import {
  type CallChange,
  type Decided,
  decide,
  found,
  KILLED_AT,
  ORG,
  toldOf,
  URL_CALLED,
} from './decision-kit.ts'

const IN_FLIGHT = `in flight ${ORG} agt_a`
const RATE = 'rate agt_a scp_write 600'
/** Whose key it is, for the log. */
const OWNER = ['key', 'agent agt_a']
const ADMITTED = ['key', 'agent agt_a', IN_FLIGHT]
const READ = [...ADMITTED, 'body', RATE, 'token', 'read']
const TOOL_CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}'

test('a call that every step allows is forwarded, and every step is in its record', async () => {
  const decided = await decide()
  const { verdict, events, steps, record } = decided
  assert.equal(toldOf(verdict), 'forward')
  assertSpans(decided)
  assert.deepEqual(events, [...READ, 'token'])
  assert.deepEqual(steps, [
    'target pass',
    'integration pass',
    'agent pass',
    'scope pass',
    'rate pass',
    'body pass',
    'tools pass',
    'scan pass',
    'credential pass',
  ])
  const { organization_id, agent_id, key_id, integration_id, scope_id, rule, bytes_in } =
    record.facts
  assert.deepEqual(
    { organization_id, agent_id, key_id, integration_id, scope_id, rule, bytes_in },
    {
      organization_id: ORG,
      agent_id: 'agt_a',
      key_id: 'key_a',
      integration_id: 'int_a',
      scope_id: 'scp_write',
      rule: 0,
      bytes_in: 2,
    },
  )
})

/**
 * In the order of the steps: the change that makes a step refuse, its answer, and all that was asked until then, so
 * that no later step was run.
 */
const ORDER: readonly (readonly [change: CallChange, answer: string, events: readonly string[]])[] =
  [
    [{ mayServe: [false] }, 'lease: gateway_unavailable', []],
    [{ url: 'https://api.example.com/v1/../a' }, 'target: invalid_target_url dot_segment', OWNER],
    [{ headers: { upgrade: 'h3' } }, 'target: upgrade_not_supported', OWNER],
    [{ headers: { via: '1.1 agw-here' } }, 'target: loop_detected', OWNER],
    [{ url: 'https://other.example.com/' }, 'integration: integration_not_found', OWNER],
    [{ headers: { authorization: '' } }, 'agent: authentication_required', []],
    [{ headers: { authorization: 'Bearer wrong' } }, 'agent: invalid_api_key', []],
    [{ key: null }, 'agent: invalid_api_key', ['key']],
    [
      { key: { revoked_at: KILLED_AT, revoked_by: 'operator' } },
      'agent: invalid_api_key',
      ['key', 'agent agt_a'],
    ],
    [{ key: { uses: ['webhooks'] } }, 'agent: key_not_allowed', OWNER],
    [{ headers: { 'x-agw-agent-id': 'agt_b' } }, 'agent: agent_mismatch', OWNER],
    [{ key: { agent_id: null } }, 'agent: agent_id_required', ['key', 'body', 'read']],
    [
      { key: { agent_id: null }, is_busy: true },
      'agent: gateway_unavailable',
      ['key', 'body', 'read'],
    ],
    [{ key: { agent_id: null }, max_body_bytes: 1 }, 'agent: request_too_large', ['key']],
    [
      { key: { agent_id: null }, headers: { 'content-encoding': 'gzip' } },
      'agent: unsupported_content_encoding',
      ['key', 'body'],
    ],
    [{ agent: null }, 'agent: agent_not_found', ['key', 'agent agt_a']],
    [
      { agent: { status: 'killed', killed_at: KILLED_AT, revision: 1 } },
      'agent: agent_killed',
      ADMITTED,
    ],
    [
      { url: 'https://api.example.com/v1/files' },
      'scope: permission_denied path_not_allowed',
      ADMITTED,
    ],
    [{ method: 'DELETE' }, 'scope: permission_denied method_not_allowed', ADMITTED],
    [{ rate: new Error('on purpose') }, 'rate: gateway_unavailable', [...ADMITTED, 'body', RATE]],
    [
      { rate: { kind: 'refused', retry_after_s: 9, violation_minutes: 0, current_rpm: 601 } },
      'rate: rate_limit_exceeded',
      [...ADMITTED, 'body', RATE],
    ],
    [{ max_body_bytes: 1 }, 'body: request_too_large', [...ADMITTED, RATE, 'token']],
    [
      { max_body_bytes: 1, headers: { 'content-length': '' } },
      'body: request_too_large',
      [...ADMITTED, 'body', RATE, 'token'],
    ],
    [{ scope: { max_body_bytes: 1 } }, 'body: request_too_large', [...ADMITTED, RATE, 'token']],
    [{ is_busy: true }, 'body: gateway_unavailable', READ],
    [{ body: '{"agent_id":"agt_b"}' }, 'agent: agent_mismatch', [...READ, 'agent agt_b']],
    [
      { body: '{"agent_id":"agt_a","agent_id":"agt_b"}' },
      'agent: ambiguous_request agent_id',
      READ,
    ],
    [{ headers: { 'content-encoding': 'compress' } }, 'body: unsupported_content_encoding', READ],
    [{ body: '{"_method":"DELETE"}' }, 'scope: permission_denied method_not_allowed', READ],
    [{ body: TOOL_CALL }, 'tools: mcp_tool_blocked tool_not_allowed', READ],
    [{ body: `${TOOL_CALL} ]` }, 'tools: ambiguous_request json_rpc', READ],
    [{ scan: found({}) }, 'scan: security_block', READ],
    [
      { scan: { kind: 'unsupported_encoding', content_encoding: 'x' } },
      'scan: unsupported_content_encoding',
      READ,
    ],
    [{ scan: { kind: 'too_large', limit_bytes: 5 } }, 'scan: request_too_large', READ],
    [
      { token: { kind: 'failed', failure: tokenFailure('timeout') } },
      'credential: credential_unavailable',
      [...READ, 'token'],
    ],
    [
      { auth: { type: 'bearer', token: 'a\nb' } },
      'credential: credential_unavailable',
      READ.filter((event) => event !== 'token'),
    ],
    [{ killed_at_event: 'read' }, 'agent: agent_killed', [...READ, 'token']],
    [{ mayServe: [true, false] }, 'lease: gateway_unavailable', [...READ, 'token']],
  ]

/** What the trace of a decision says: its steps, and nothing that the caller or the credential brought. */
function assertSpans({ record, steps, verdict }: Decided): void {
  const reason = verdict.kind === 'deny' ? verdict.denial.reason : null
  const [decision, ...others] = decisionSpans(
    { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) },
    {
      facts: record.facts,
      edge_id: 'edge-1',
      outcome: { decision: reason === null ? 'allowed' : 'blocked', reason, status: null },
      started_ms: 1,
      ended_ms: 2,
      steps: record.steps,
    },
  )
  const told = others.map(({ attributes }) =>
    attributes.map(({ value }) => ('stringValue' in value ? value.stringValue : '')).join(' '),
  )
  assert.deepEqual(told, steps)
  for (const { parentSpanId } of others) assert.equal(parentSpanId, decision?.spanId)
  const text = JSON.stringify([decision, others])
  assert.doesNotMatch(text, /agw_|Bearer|example|models|jsonrpc|method|ignore all|secret/i)
  const names = new Set([decision, ...others].flatMap((span) => span?.attributes ?? []))
  for (const { key } of names) assert.ok(ATTRIBUTES.includes(key), key)
}

const ATTRIBUTES = [
  'agw.decision',
  'agw.reason',
  'agw.organization.id',
  'agw.agent.id',
  'agw.integration.id',
  'agw.request.id',
  'agw.edge.id',
  'agw.step',
  'agw.outcome',
]

for (const [change, answer, events] of ORDER)
  test(`${answer} ends the decision: ${JSON.stringify(change)}`, async () => {
    const decided = await decide(change)
    assert.equal(toldOf(decided.verdict), answer)
    assert.deepEqual(decided.events, events)
    const step = answer.split(':', 1)[0] ?? ''
    const isDenied = (one: string): boolean => one.endsWith(' deny')
    assert.deepEqual(decided.steps.filter(isDenied), [`${step} deny`], 'one refusal in the record')
    assertSpans(decided)
  })

test('a call that the store cannot count is refused with what the store said', async () => {
  const { verdict } = await decide({ rate: new Error('OOM command not allowed') })
  assert.ok(verdict.kind === 'deny')
  assert.deepEqual(verdict.denial.details, { cause: 'the store is full' })
})

test('of two errors the one of the earlier step answers', async () => {
  for (const [at, [change, answer]] of ORDER.entries())
    for (const [later, other] of ORDER.slice(at + 1)) {
      // What would change the same thing, or is of the same step, says nothing of the order.
      const isOther = Object.keys(later).every((member) => !(member in change))
      if (!isOther || answer.split(':', 1)[0] === other.split(':', 1)[0]) continue
      // A body that names something is judged for the step that it concerns, when it is there.
      if (change.body !== undefined || later.body !== undefined) continue
      const both = await decide({ ...later, ...change })
      const step = both.verdict.kind === 'deny' ? both.verdict.step : 'forward'
      assert.equal(step, answer.split(':', 1)[0], `${answer} before ${other}`)
    }
})

const forwarded = (verdict: Verdict): Forward => {
  assert.ok(verdict.kind === 'forward', toldOf(verdict))
  return verdict
}
const setBy = (verdict: Verdict, name: string): string | undefined =>
  forwarded(verdict).changes.set.find((header: Header) => header.name === name)?.value

test('where the call goes is said by the integration, and never by the caller', async () => {
  const { verdict } = await decide({
    headers: {
      ':authority': 'evil.example.com',
      host: 'evil.example.com',
      'x-forwarded-host': 'evil.example.com',
      'x-agw-host': 'evil.example.com',
      'x-agw-pass': 'a guess',
    },
  })
  assert.equal(setBy(verdict, 'x-agw-host'), 'api.example.com')
  assert.equal(setBy(verdict, ':path'), '/v1/models/a')
  assert.equal(setBy(verdict, 'x-agw-up'), 'https')
  assert.equal(setBy(verdict, 'x-agw-pass'), 'the verdict secret')
  assert.equal(setBy(verdict, 'authorization'), 'Bearer the-access-token')
  assert.equal(setBy(verdict, 'via'), '1.1 agw-here')
  const { remove } = forwarded(verdict).changes
  assert.ok(remove.includes('x-agw-pass') && remove.includes('authorization'))
})

test('what is removed does not depend on the credential that is set', async () => {
  const { verdict } = await decide({ auth: { type: 'header', name: 'x-key', value: 'ours' } })
  assert.ok(forwarded(verdict).changes.remove.includes('authorization'))
  assert.equal(setBy(verdict, 'authorization'), undefined)
  assert.equal(setBy(verdict, 'x-key'), 'ours')
})

test('the name of the agent is cut out of the body, and its length follows', async () => {
  const { verdict, record } = await decide({ body: '{"agent_id":"agt_a","q":1}' })
  const { changes } = forwarded(verdict)
  assert.equal(changes.body?.toString(), '{"q":1}')
  assert.equal(setBy(verdict, 'content-length'), '7')
  assert.equal(record.facts.bytes_in, 26, 'as it came')
})

test('a key of the organization acts for the agent that the body names; its body is read twice and asked for once', async () => {
  const { verdict, events } = await decide({
    key: { agent_id: null },
    body: '{"agent_id":"agt_a","q":1}',
  })
  assert.equal(forwarded(verdict).changes.body?.toString(), '{"q":1}')
  assert.deepEqual(events, [
    'key',
    'body',
    'read',
    'agent agt_a',
    IN_FLIGHT,
    RATE,
    'token',
    'read',
    'token',
  ])
})

test('a call that nothing has to look into streams through', async () => {
  const { verdict, events, steps } = await decide({
    auth: { type: 'none' },
    headers: { 'content-type': 'application/octet-stream' },
    scope: {
      rules: [{ methods: ['*'], paths: ['/**'] }],
      mcp_tools: SCOPE_DEFAULTS.mcp_tools,
      injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
      rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, requests_per_minute: null },
    },
  })
  assert.deepEqual(events, ADMITTED)
  assert.equal(forwarded(verdict).changes.body, null)
  assert.equal(forwarded(verdict).rate, null)
  assert.deepEqual(
    steps.map((step) => step.split(' ')[0]),
    ['target', 'integration', 'agent', 'scope', 'body', 'credential'],
  )
})

test('the response to an allowed call has its rate limit', async () => {
  const { verdict } = await decide()
  assert.deepEqual(forwarded(verdict).rate, {
    limit: '"scope";r=7;t=3',
    policy: '"scope";q=600;w=60',
  })
})

test('the call is registered in flight before the kill flag is read', async () => {
  const { verdict, events } = await decide({ killed_at_event: IN_FLIGHT })
  assert.equal(toldOf(verdict), 'agent: agent_killed')
  assert.deepEqual(events, ADMITTED)
})

test('a kill that lay unread while the process stood still refuses the call as one in flight', async () => {
  const { verdict, events } = await decide({ has_stalled: true, killed_at_event: 'caught up' })
  assert.ok(verdict.kind === 'deny')
  assert.equal(verdict.denial.reason, 'agent_killed')
  assert.equal(verdict.denial.status, 503)
  assert.deepEqual(verdict.denial.details, { killed_at: KILLED_AT })
  assert.deepEqual(events, [...READ, 'token', 'caught up'])
})

test('a key that a kill has revoked is answered as its agent is, with the time of the kill', async () => {
  const { verdict, record } = await decide({
    key: { revoked_at: KILLED_AT, revoked_by: 'kill' },
    agent: { status: 'killed', killed_at: KILLED_AT, revision: 3 },
  })
  assert.equal(toldOf(verdict), 'agent: agent_killed')
  assert.ok(verdict.kind === 'deny')
  assert.deepEqual(verdict.denial.details, { killed_at: KILLED_AT })
  assert.equal(record.facts.agent_id, 'agt_a')
})

/** Whose log the refusal of an unusable key is in, and what it says of the key. */
for (const [key, state] of [
  [{ revoked_at: KILLED_AT, revoked_by: 'operator' }, 'revoked'],
  [{ expires_at: '2026-01-02T00:00:00.000Z' }, 'expired'],
] as const)
  test(`the use of a key that is ${state} is in the log of its agent, whatever refuses the call`, async () => {
    for (const url of [URL_CALLED, 'https://other.example.com/']) {
      const { record } = await decide({ key, url })
      const { organization_id, agent_id, agent_name, key_id, data } = record.facts
      assert.deepEqual(
        [organization_id, agent_id, agent_name, key_id, data['key_state']],
        [ORG, 'agt_a', 'a', 'key_a', state],
      )
    }
  })

/** Refused before the key is needed, or because there are several, or where no key is accepted. */
const EARLY: readonly (readonly [told: string, change: CallChange])[] = [
  ['target: invalid_target_url', { url: 'ftp://api.example.com/v1/models/a' }],
  ['target: invalid_target_url', { url: 'https://api.example.com/v1/models/../a' }],
  ['target: invalid_target_url', { url: 'https://api.example.com/v1/models/%2e%2e/a' }],
  ['target: invalid_target_url', { url: 'https://user:pass@api.example.com/v1' }],
  ['target: invalid_target_url', { url: 'https://api.example.com/v1//models' }],
  ['target: invalid_target_url', { url: '' }],
  ['target: upgrade_not_supported', { headers: { upgrade: 'h3' } }],
  ['target: upgrade_not_supported', { method: 'CONNECT' }],
  ['target: loop_detected', { installation: 'x', headers: { via: '1.1 agw-x' } }],
  ['agent: ambiguous_request', { headers: { authorization: 'Bearer {key}, Bearer x' } }],
  ['agent: ambiguous_request', { headers: { authorization: 'Bearer x,Bearer {key}' } }],
  ['agent: authentication_required', { headers: { authorization: '', 'x-note': 'a {key}' } }],
  ['agent: authentication_required', { headers: { authorization: '{key}' } }],
  ['agent: authentication_required', { headers: { authorization: '', cookie: 'a={key}; b=1' } }],
  [
    'agent: authentication_required',
    { headers: { authorization: '' }, url: `${URL_CALLED}?token={key}` },
  ],
  ['integration: integration_not_found', { url: 'https://other.example.com/' }],
]
for (const [state, key] of [
  [undefined, {}],
  ['revoked', { revoked_at: KILLED_AT, revoked_by: 'operator' }],
  ['expired', { expires_at: '2026-01-02T00:00:00.000Z' }],
] as const)
  for (const [expected, change] of EARLY)
    test(`a call is in the log of its agent, however early it is refused: ${state ?? 'a live'} key, ${JSON.stringify(change)}`, async () => {
      const { verdict, record } = await decide({ ...change, key })
      assert.ok(toldOf(verdict).startsWith(expected), toldOf(verdict))
      const { organization_id, agent_id, agent_name, key_id, data } = record.facts
      assert.deepEqual(
        [organization_id, agent_id, agent_name, key_id, data['key_state']],
        [ORG, 'agt_a', 'a', 'key_a', state],
      )
      assert.equal(record.refused('invalid_target_url', 400, {})?.event, 'request_rejected')
    })

test('an organization key is recorded without an agent, and an unknown one not at all', async () => {
  const url = 'ftp://x/'
  const org = await decide({ url, key: { agent_id: null } })
  assert.deepEqual(
    [org.record.facts.organization_id, org.record.facts.key_id, org.record.facts.agent_id],
    [ORG, 'key_a', null],
  )
  const unknown = await decide({ url, key: null })
  assert.equal(unknown.record.facts.organization_id, null)
  const none = await decide({ url, headers: { authorization: '' } })
  assert.deepEqual([none.record.facts.organization_id, none.events], [null, []])
  const false_sum = `agw_live_${'a'.repeat(38)}`
  const malformed = await decide({ url, headers: { authorization: `Bearer ${false_sum}` } })
  assert.deepEqual([malformed.record.facts.organization_id, malformed.events], [null, []])
})

test('a call by an unknown key has no organization in its record', async () => {
  const { record } = await decide({ key: null })
  assert.equal(record.facts.organization_id, null)
  assert.equal(record.refused('invalid_api_key', 401, {}), null)
})
