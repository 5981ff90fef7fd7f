import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Arbitrary,
  property,
  assert as check,
  constantFrom,
  record,
  subarray,
  array,
  option,
} from 'fast-check'
import { admit } from '../../core/decision/admit.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { CONNECTION_STATUSES, type Connection } from '../../core/catalogue/model.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { repetitions } from '../kit/repetitions.ts'
import { aScope, anAgent, anIntegration } from './policy-kit.ts'

const AGENTS = ['agt_a', 'agt_b'] as const
const USERS = ['alice', 'bob'] as const
const APIS = ['int_a', 'int_b'] as const
const SUBJECTS = ['shared', 'agent:agt_a', 'agent:agt_b', 'user:alice', 'user:bob'] as const
const AUTHS = [
  { type: 'none' },
  { type: 'bearer', token: 'own' },
  { type: 'header', name: 'x-own', value: 'own' },
] as const

const connections = array(
  record({
    integration_id: constantFrom(...APIS),
    subject: constantFrom(...SUBJECTS),
    status: constantFrom('active', ...CONNECTION_STATUSES),
  }),
  { maxLength: 8 },
).map((all) => {
  // One agent or user has one for an integration.
  const seen = new Set<string>()
  return all.flatMap((one, i): Connection[] => {
    const name = `${one.integration_id} ${one.subject}`
    if (one.subject !== 'shared' && seen.has(name)) return []
    seen.add(name)
    const auth = { type: 'bearer', token: `of con_${i}` } as never
    const rest = { granted_by: null, refreshed_at: null, created_at: '' }
    return [
      { ...one, ...rest, connection_id: `con_${i}`, organization_id: 'o', name: `c${i}`, auth },
    ]
  })
})

const cases = record({
  connections,
  auth: constantFrom(...AUTHS),
  agent_id: constantFrom(...AGENTS),
  integration_id: constantFrom(...APIS),
  connection_id: option(constantFrom('con_0', 'con_1', 'con_2', 'con_3', 'con_none')),
  users: subarray([...USERS]),
  user: option(constantFrom(...USERS, 'ALICE', 'mallory', 'alice,bob', '*', '')),
})

type Case = typeof cases extends Arbitrary<infer One> ? One : never

/** The order of credentials, as a list of everything that exists, narrowest first. */
function model(one: Case): string {
  const there = one.connections.filter((c) => c.integration_id === one.integration_id)
  const by = (subject: string): Connection[] => there.filter((c) => c.subject === subject)
  const listed = one.users.filter((name) => name === one.user)
  const candidates: (Connection | 'own' | 'gone' | 'missing')[] = []
  if (one.connection_id !== null) {
    const named = there.filter((c) => c.connection_id === one.connection_id)
    const allowed = [...by('shared'), ...by(`agent:${one.agent_id}`)]
    candidates.push(...named.filter((c) => allowed.includes(c)), 'gone')
  }
  candidates.push(...by(`agent:${one.agent_id}`))
  for (const name of listed) candidates.push(...by(`user:${name}`))
  const isPublic = there.length === 0 && one.users.length === 0
  candidates.push(one.auth.type !== 'none' || isPublic ? 'own' : 'missing')
  const [first = 'missing'] = candidates
  if (typeof first === 'string') return first
  return first.status === 'active' ? first.connection_id : first.status
}

test('which credential a call gets is what the order of credentials says, and never one of another', () => {
  check(
    property(cases, (one) => {
      const { agent_id, auth, connection_id, users } = one
      const admission = admit({
        request: {
          method: 'GET',
          target: parseTarget(`/https://${one.integration_id.replace('_', '-')}/x`),
          headers: [],
          upgrade: null,
          named_agents: [],
          named_users: one.user === null ? [] : [one.user],
          installation: '',
          is_proxied: false,
        },
        now_ms: 0,
        caller: { kind: 'assumed' },
        integrations: compileIntegrations(
          APIS.map((integration_id) =>
            anIntegration(`https://${integration_id.replace('_', '-')}`, {
              integration_id,
              auth: auth as never,
            }),
          ),
          one.connections,
        ),
        agent: {
          agent: anAgent({ agent_id }),
          killed_at: null,
          scopes: compileScopes([
            aScope({ agent_id, integration_id: one.integration_id, connection_id, users }),
          ]),
        },
      })
      assert.ok(admission.kind === 'admitted')
      const { credential: choice } = admission
      const { connection } = choice.credential
      const got = choice.kind === 'refused' ? choice.status : (connection?.connection_id ?? 'own')
      assert.equal(got, model(one))
      if (choice.kind === 'refused' || connection === null) return
      const mine = ['shared', `agent:${agent_id}`, ...users.map((name) => `user:${name}`)]
      assert.ok(mine.includes(connection.subject))
      assert.equal(connection.integration_id, one.integration_id)
      assert.deepEqual(choice.credential.auth, connection.auth)
    }),
    { numRuns: repetitions(1000) },
  )
})

test('two values of X-Agw-User are refused, and what a connection fills is removed from every call', () => {
  const facts = (named_users: readonly string[]) => ({
    request: {
      method: 'GET',
      target: parseTarget('/https://x/y?api_key=mine&a=1'),
      headers: [
        { name: 'x-api-key', value: 'mine' },
        { name: 'x_agw_user', value: 'bob' },
        { name: 'x-agw-user', value: 'alice' },
      ],
      upgrade: null,
      named_agents: [],
      named_users,
      installation: '',
      is_proxied: false,
    },
    now_ms: 0,
    caller: { kind: 'assumed' } as const,
    integrations: compileIntegrations(
      [anIntegration('https://x', { integration_id: 'int_a' })],
      (['x-api-key', 'x-other'] as const).map((name, i) => ({
        connection_id: `con_${i}`,
        organization_id: 'o',
        integration_id: 'int_a',
        name,
        subject: 'shared' as const,
        auth: (i === 0
          ? { type: 'header', name, value: 's' }
          : { type: 'query', name: 'api_key', value: 's' }) as never,
        status: 'active' as const,
        granted_by: null,
        refreshed_at: null,
        created_at: '',
      })),
    ),
    agent: {
      agent: anAgent(),
      killed_at: null,
      scopes: compileScopes([aScope({ connection_id: 'con_0' })]),
    },
  })
  const twice = admit(facts(['alice', 'alice']))
  assert.ok(twice.kind === 'not_admitted')
  assert.deepEqual([twice.reason, twice.details], ['ambiguous_request', { reason: 'user_header' }])
  const once = admit(facts(['alice']))
  assert.ok(once.kind === 'admitted')
  assert.deepEqual([once.outgoing.headers, once.outgoing.raw_query], [[], 'a=1'])
})
