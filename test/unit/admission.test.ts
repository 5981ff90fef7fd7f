import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionFacts, Caller } from '../../core/decision/admission-facts.ts'
import type { Admission } from '../../core/decision/admission.ts'
import { admit } from '../../core/decision/admit.ts'
import { admitBody } from '../../core/decision/admit-body.ts'
import { type ApiKey, APPROVAL_DEFAULTS } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import type { Header } from '../../core/request/header.ts'
import { NO_OVERRIDES } from '../../core/request/overrides.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { aScope, anAgent, anIntegration } from './policy-kit.ts'

const KILLED_AT = '2026-01-02T00:00:00.000Z'
const KEY: ApiKey = {
  key_id: 'key_a',
  organization_id: 'org_default',
  agent_id: 'agt_a',
  hash: '0'.repeat(64),
  last4: 'aaaa',
  name: 'a',
  agent_ids: null,
  uses: ['proxy'],
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  revoked_at: null,
  revoked_by: null,
}
const ORGANIZATION_KEY: ApiKey = { ...KEY, key_id: 'key_o', agent_id: null }
const HEADERS: readonly Header[] = [
  { name: ':method', value: 'GET' },
  { name: 'accept', value: '*/*' },
]
const NOW_MS = Date.parse('2026-06-01T00:00:00.000Z')

const presented = (key: ApiKey): Caller => ({
  kind: 'known',
  key,
  place: { kind: 'authorization' },
})

const SCOPES = compileScopes([
  aScope({ name: 'read', rules: [{ methods: ['GET'], paths: ['/models/**'] }] }),
  aScope({ name: 'elsewhere', integration_id: 'int_b' }),
])

/** A call that is admitted. */
const FACTS = {
  request: {
    method: 'GET',
    target: parseTarget('/https://x/v1/models/a?limit=2'),
    headers: HEADERS,
    upgrade: null,
    named_agents: [],
    named_users: [],
    is_proxied: false,
    installation: 'here',
  },
  now_ms: NOW_MS,
  caller: presented(KEY),
  integrations: compileIntegrations([
    anIntegration('https://x/v1', { integration_id: 'int_a', name: 'x' }),
    anIntegration('https://x/v1/other', { integration_id: 'int_c', name: 'other' }),
    anIntegration('https://y', {
      integration_id: 'int_y',
      auth: { type: 'header', name: 'x-api-key', value: 'sealed' } as never,
    }),
  ]),
  agent: { agent: anAgent(), killed_at: null, scopes: SCOPES },
} satisfies AdmissionFacts

type Change = Omit<Partial<AdmissionFacts>, 'request'> & {
  readonly request?: Partial<AdmissionFacts['request']>
}

const factsWith = ({ request, ...change }: Change): AdmissionFacts => ({
  ...FACTS,
  ...change,
  request: { ...FACTS.request, ...request },
})

const to = (url: string): Partial<AdmissionFacts['request']> => ({ target: parseTarget(`/${url}`) })

const told = (admission: Admission): string => {
  switch (admission.kind) {
    case 'admitted':
      return `admitted by ${admission.scope.name} ${admission.rule}`
    case 'missing':
      return `missing ${admission.fact}`
    case 'not_admitted': {
      const { step, reason, details } = admission
      const why = details['reason']
      return `${step}: ${reason}${typeof why === 'string' ? ` ${why}` : ''}`
    }
  }
}

test('a call of an agent to an integration and a path that a scope of its allows is admitted', () => {
  const admission = admit(FACTS)
  assert.ok(admission.kind === 'admitted')
  assert.equal(told(admission), 'admitted by read 0')
  assert.equal(admission.integration.integration.integration_id, 'int_a')
  assert.equal(admission.agent.agent_id, 'agt_a')
  assert.equal(admission.key, KEY)
  assert.equal(admission.outgoing.raw_query, 'limit=2')
  assert.deepEqual(admission.settings.scope_ids, ['scp_read'])
})

test('a WebSocket does not pass by the approval of a call', () => {
  const rules = [
    { methods: ['GET'], paths: ['/models/**'], approval: APPROVAL_DEFAULTS },
    { methods: ['GET'], paths: ['/models/**'], upgrade: ['websocket' as const] },
  ]
  const agent = { ...FACTS.agent, scopes: compileScopes([aScope({ rules })]) }
  const asked = admit(factsWith({ agent }))
  assert.ok(asked.kind === 'admitted' && asked.approval !== null)
  assert.equal(
    told(admit(factsWith({ agent, request: { upgrade: 'websocket' } }))),
    'scope: upgrade_not_supported approval',
  )
  const open = { ...FACTS.agent, scopes: compileScopes([aScope({ rules: rules.slice(1) })]) }
  const opened = admit(factsWith({ agent: open, request: { upgrade: 'websocket' } }))
  assert.ok(opened.kind === 'admitted' && opened.is_socket)
})

/** In the order of the checks: each row has the error of its line and all of the lines below it. */
const ORDER: readonly (readonly [change: Change, expected: string])[] = [
  [
    { request: { headers: Array.from({ length: 189 }, () => ({ name: 'a', value: '' })) } },
    'target: headers_too_large',
  ],
  [{ request: { method: 'CONNECT' } }, 'target: upgrade_not_supported'],
  [{ request: to('https://x/v1/../a') }, 'target: invalid_target_url dot_segment'],
  [{ request: { upgrade: 'other' } }, 'target: upgrade_not_supported'],
  [
    { request: { headers: [{ name: 'via', value: '1.1 a, 1.1 agw-here' }] } },
    'target: loop_detected',
  ],
  [{ request: to('https://x//v1/models') }, 'target: invalid_target_url empty_segment'],
  [{ request: to('https://z/v1/models') }, 'integration: integration_not_found'],
  [{ request: to('https://x/V1/models') }, 'integration: ambiguous_target'],
  [{ caller: { kind: 'none' } }, 'agent: authentication_required'],
  [
    { caller: { kind: 'ambiguous', reason: 'several_keys' } },
    'agent: ambiguous_request several_keys',
  ],
  [
    { caller: { kind: 'unknown', place: { kind: 'header', name: 'x-api-key' } } },
    'agent: authentication_required',
  ],
  [{ caller: { kind: 'unknown', place: { kind: 'authorization' } } }, 'agent: invalid_api_key'],
  [
    { caller: presented({ ...KEY, revoked_at: KILLED_AT, revoked_by: 'operator' }) },
    'agent: invalid_api_key',
  ],
  [
    { caller: presented({ ...KEY, expires_at: '2026-06-01T00:00:00.000Z' }) },
    'agent: invalid_api_key',
  ],
  [{ caller: presented({ ...KEY, uses: ['webhooks'] }) }, 'agent: key_not_allowed'],
  [{ request: { named_agents: ['agt_a', 'agt_a'] } }, 'agent: ambiguous_request agent_id_header'],
  [{ request: { named_agents: ['agt_b'] } }, 'agent: agent_mismatch'],
  [
    { caller: presented(ORGANIZATION_KEY), request: { named_agents: [''] } },
    'agent: agent_id_required',
  ],
  [{ caller: presented(ORGANIZATION_KEY), said: { kind: 'none' } }, 'agent: agent_id_required'],
  [
    { caller: presented(ORGANIZATION_KEY), said: { kind: 'ambiguous' } },
    'agent: ambiguous_request agent_id',
  ],
  [{ caller: presented({ ...KEY, agent_ids: ['agt_b'] }) }, 'agent: key_not_allowed'],
  [{ agent: { ...FACTS.agent, agent: null } }, 'agent: agent_not_found'],
  [{ agent: { ...FACTS.agent, killed_at: KILLED_AT } }, 'agent: agent_killed'],
  [{ agent: { ...FACTS.agent, scopes: compileScopes([]) } }, 'scope: permission_denied no_scope'],
  [{ request: to('https://x/v1/other/models') }, 'scope: permission_denied no_scope'],
  [{ request: to('https://x/v1/files') }, 'scope: permission_denied path_not_allowed'],
  [{ request: { method: 'POST' } }, 'scope: permission_denied method_not_allowed'],
  [
    { request: { headers: [{ name: 'x-http-method-override', value: 'DELETE' }] } },
    'scope: permission_denied method_not_allowed',
  ],
  [
    { request: to('https://x/v1/models/a?_method=DELETE') },
    'scope: permission_denied method_not_allowed',
  ],
]

test('each check refuses with its own reason', () => {
  for (const [change, expected] of ORDER) assert.equal(told(admit(factsWith(change))), expected)
})

test('as many headers as Envoy can take with ours pass, and not one more', () => {
  const headers = (count: number): readonly Header[] =>
    Array.from({ length: count }, (_, i) => ({ name: `x-${i}`, value: '' }))
  const of = (count: number) => told(admit(factsWith({ request: { headers: headers(count) } })))
  assert.equal(of(188), 'admitted by read 0')
  assert.equal(of(189), 'target: headers_too_large')
})

/** A method in the body, next to that of the call, and what comes of it. */
const IN_BODY: readonly (readonly [methods: readonly string[], expected: string])[] = [
  [[], 'admitted'],
  [['POST'], 'admitted'],
  [['PATCH'], 'admitted'],
  [['PUT'], 'scope: permission_denied method_not_allowed'],
  // Rate and size were judged without the settings of the scope that this one matches, too.
  [['DELETE'], 'scope: ambiguous_request _method'],
  [['PATCH', 'DELETE'], 'scope: ambiguous_request _method'],
]

test('a method that the body names must be allowed too, and under the same settings', () => {
  const paths = ['/models/**']
  const scopes = compileScopes([
    aScope({ name: 'write', rules: [{ methods: ['POST', 'PATCH', 'DELETE'], paths }] }),
    aScope({ name: 'strict', priority: 200, rules: [{ methods: ['DELETE'], paths }] }),
  ])
  const agent = { ...FACTS.agent, scopes }
  const admission = admit(factsWith({ agent, request: { method: 'POST' } }))
  assert.ok(admission.kind === 'admitted')
  for (const [methods, expected] of IN_BODY) {
    const refused = admitBody(admission, { ...NO_OVERRIDES, methods })
    assert.equal(refused === null ? 'admitted' : told(refused), expected, methods.join())
    if (refused === null) continue
    const { integration, key, agent: known } = refused.known
    assert.equal(integration, admission.integration)
    assert.deepEqual([key, known], [KEY, admission.agent], 'who called is known')
  }
})

test('of two errors the one that the contract checks first answers', () => {
  for (const [at, [change, expected]] of ORDER.entries())
    for (const [later, other] of ORDER.slice(at + 1)) {
      const [step, otherStep] = [expected.split(':', 1)[0], other.split(':', 1)[0]]
      if (step === otherStep) continue
      const both: Change = {
        ...later,
        ...change,
        request: { ...later.request, ...change.request },
      }
      assert.equal(told(admit(factsWith(both))), expected, `${expected} before ${other}`)
    }
})

test('facts are asked for only when all checks before them have passed', () => {
  const { request, now_ms, caller, integrations } = FACTS
  assert.equal(told(admit({ request, now_ms })), 'missing caller')
  assert.equal(told(admit({ request, now_ms, caller })), 'missing caller')
  assert.deepEqual(admit({ request, now_ms, caller, integrations }), {
    kind: 'missing',
    fact: 'agent',
    organization_id: 'org_default',
    agent_id: 'agt_a',
    is_calling: true,
  })
  const organization = presented(ORGANIZATION_KEY)
  assert.equal(told(admit({ request, now_ms, integrations, caller: organization })), 'missing said')
  const said = { kind: 'named', agent_id: 'agt_b' } as const
  assert.deepEqual(admit({ request, now_ms, integrations, caller: organization, said }), {
    kind: 'missing',
    fact: 'agent',
    organization_id: 'org_default',
    agent_id: 'agt_b',
    is_calling: true,
  })
  // Nothing is looked up for a call that is refused by what is known already.
  for (const [change, expected] of ORDER.filter(([, text]) => text.startsWith('target'))) {
    if (expected.endsWith('empty_segment')) continue
    const { request: changed } = factsWith(change)
    assert.equal(told(admit({ request: changed, now_ms })), expected)
  }
  for (const [change, expected] of ORDER.filter(
    ([{ caller: by }, text]) => text.startsWith('agent') && by !== undefined,
  )) {
    const { agent: _, ...unasked } = factsWith(change)
    assert.equal(told(admit(unasked)), expected)
  }
})

test('a key that a kill has revoked answers for its agent, and does not count as a call of it', () => {
  const revoked = presented({ ...KEY, revoked_at: KILLED_AT, revoked_by: 'kill' })
  const { request, now_ms, integrations } = FACTS
  assert.deepEqual(admit({ request, now_ms, integrations, caller: revoked }), {
    kind: 'missing',
    fact: 'agent',
    organization_id: 'org_default',
    agent_id: 'agt_a',
    is_calling: false,
  })
  const rows: readonly (readonly [agent: typeof FACTS.agent, reason: string, details: object])[] = [
    [
      { ...FACTS.agent, killed_at: '2026-01-03T00:00:00.000Z' as never },
      'agent_killed',
      { killed_at: '2026-01-03T00:00:00.000Z' },
    ],
    [FACTS.agent, 'agent_killed', { killed_at: KILLED_AT }],
    [{ ...FACTS.agent, agent: null as never }, 'invalid_api_key', {}],
  ]
  for (const [agent, reason, details] of rows) {
    const admission = admit(factsWith({ caller: revoked, agent }))
    assert.ok(admission.kind === 'not_admitted')
    assert.deepEqual([admission.reason, admission.details], [reason, details])
  }
  const organization = { ...ORGANIZATION_KEY, revoked_at: KILLED_AT, revoked_by: 'kill' } as const
  assert.equal(
    told(admit(factsWith({ caller: presented(organization) }))),
    'agent: invalid_api_key',
  )
})

test('an agent is named by its key, by the header, or by the body', () => {
  const organization = presented(ORGANIZATION_KEY)
  const rows: readonly (readonly [change: Change, key_id: string])[] = [
    [{}, 'key_a'],
    [{ request: { named_agents: ['agt_a'] } }, 'key_a'],
    [{ caller: organization, request: { named_agents: ['agt_a'] } }, 'key_o'],
    [{ caller: organization, said: { kind: 'named', agent_id: 'agt_a' } }, 'key_o'],
    [
      {
        caller: presented({ ...ORGANIZATION_KEY, agent_ids: ['agt_b', 'agt_a'] }),
        said: { kind: 'named', agent_id: 'agt_a' },
      },
      'key_o',
    ],
  ]
  for (const [change, key_id] of rows) {
    const admission = admit(factsWith(change))
    assert.ok(admission.kind === 'admitted', told(admission))
    assert.equal(admission.key?.key_id, key_id)
  }
})

test('a key counts in the header that the credential of the integration owns, and nowhere else', () => {
  const place = { kind: 'header', name: 'x-api-key' } as const
  const there: Caller = { kind: 'known', key: KEY, place }
  const agent = {
    ...FACTS.agent,
    scopes: compileScopes([aScope({ integration_id: 'int_y' })]),
  }
  assert.equal(
    told(admit(factsWith({ caller: there, agent, request: to('https://y/a') }))),
    'admitted by a 0',
  )
  assert.equal(told(admit(factsWith({ caller: there }))), 'agent: authentication_required')
  const unknown: Caller = { kind: 'unknown', place }
  assert.equal(
    told(admit(factsWith({ caller: unknown, request: to('https://y/a') }))),
    'agent: invalid_api_key',
  )
})

test('a refusal says what is known of the call', () => {
  const rows: readonly (readonly [change: Change, known: readonly (string | null)[]])[] = [
    [{ request: { upgrade: 'other' } }, [null, null, null]],
    [{ request: to('https://x//v1/models') }, [null, null, null]],
    [{ request: to('https://x/v1//models') }, ['int_a', null, null]],
    [{ caller: { kind: 'none' } }, ['int_a', null, null]],
    [{ caller: presented({ ...KEY, uses: [] }) }, ['int_a', 'key_a', null]],
    [{ agent: { ...FACTS.agent, agent: null } }, ['int_a', 'key_a', null]],
    [{ agent: { ...FACTS.agent, killed_at: KILLED_AT } }, ['int_a', 'key_a', 'agt_a']],
    [{ request: { method: 'POST' } }, ['int_a', 'key_a', 'agt_a']],
  ]
  for (const [change, known] of rows) {
    const admission = admit(factsWith(change))
    assert.ok(admission.kind === 'not_admitted')
    const { integration, key, agent } = admission.known
    assert.deepEqual(
      [
        integration?.integration.integration_id ?? null,
        key?.key_id ?? null,
        agent?.agent_id ?? null,
      ],
      known,
      told(admission),
    )
  }
})

test('an unknown agent id is in the log, truncated, and not in the response', () => {
  const agent = { ...FACTS.agent, agent: null }
  const said = { kind: 'named', agent_id: 'x'.repeat(1_000) } as const
  const admission = admit(factsWith({ caller: presented(ORGANIZATION_KEY), said, agent }))
  assert.ok(admission.kind === 'not_admitted')
  assert.deepEqual(admission.details, {})
  assert.deepEqual(admission.data, { claimed_agent_id: 'x'.repeat(128) })
})

test('explain needs no key of the agent', () => {
  const caller: Caller = { kind: 'assumed' }
  const admission = admit(factsWith({ caller }))
  assert.ok(admission.kind === 'admitted')
  assert.equal(admission.key, null)
  const rows: readonly (readonly [change: Change, expected: string])[] = [
    [{ agent: { ...FACTS.agent, agent: null } }, 'agent: agent_not_found'],
    [{ agent: { ...FACTS.agent, killed_at: KILLED_AT } }, 'agent: agent_killed'],
    [{ request: { method: 'POST' } }, 'scope: permission_denied method_not_allowed'],
  ]
  for (const [change, expected] of rows)
    assert.equal(told(admit(factsWith({ ...change, caller }))), expected)
})

test('overrides are looked for in what goes upstream', () => {
  const named = { name: 'connection', value: 'x-http-method-override' }
  const override = { name: 'x-http-method-override', value: 'DELETE' }
  assert.equal(
    told(admit(factsWith({ request: { headers: [override] } }))),
    'scope: permission_denied method_not_allowed',
  )
  assert.equal(
    told(admit(factsWith({ request: { headers: [override, named] } }))),
    'admitted by read 0',
    'it does not go upstream',
  )
})
