import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { checkLabels, checkSelector } from '../../admin/labels/check-labels.ts'
import { countSelected, planLabels } from '../../admin/labels/selected.ts'
import type { Labels, Selector, SelectorTerm } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { decideScope } from '../../core/decision/decide-scope.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { bothSelectors, matchesSelector } from '../../core/decision/selector.ts'
import {
  isNegativeSelector,
  readSelector,
  writeSelector,
} from '../../core/catalogue/selector-text.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { RestrictionBoard } from '../../ext-proc/kill/restriction-board.ts'
import { PolicyStore } from '../../ext-proc/policy/policy-store.ts'
import { FakePolicyRedis } from '../kit/fake-policy-redis.ts'
import { repetitions } from '../kit/repetitions.ts'
import { unitStore } from '../kit/unit-store.ts'
import { aScope, anAgent, anIntegration, targetOf } from './policy-kit.ts'

/**
 * What Kubernetes documents, written without the product: each requirement is a set of the objects that it admits, and a selector is
 * what is left of all objects.
 */
function selectedBy(selector: Selector, objects: ReadonlyMap<string, Labels>): Set<string> {
  const having = new Map<string, Set<string>>()
  const withValue = new Map<string, Set<string>>()
  const put = (index: Map<string, Set<string>>, key: string, id: string): void => {
    const ids = index.get(key) ?? new Set()
    index.set(key, ids.add(id))
  }
  for (const [id, labels] of objects)
    for (const key of Object.keys(labels)) {
      put(having, key, id)
      put(withValue, `${key}\n${labels[key] ?? ''}`, id)
    }
  const withAny = (key: string, values: readonly string[]): Set<string> => {
    const found = new Set<string>()
    for (const value of values)
      for (const id of withValue.get(`${key}\n${value}`) ?? []) found.add(id)
    return found
  }
  let left = new Set(objects.keys())
  const keep = (ids: ReadonlySet<string>): void => {
    left = new Set([...left].filter((id) => ids.has(id)))
  }
  const remove = (ids: ReadonlySet<string>): void => {
    left = new Set([...left].filter((id) => !ids.has(id)))
  }
  for (const key of Object.keys(selector.match_labels))
    keep(withAny(key, [selector.match_labels[key] ?? '']))
  for (const term of selector.match_expressions)
    if (term.operator === 'In') keep(withAny(term.key, term.values))
    else if (term.operator === 'NotIn') remove(withAny(term.key, term.values))
    else if (term.operator === 'Exists') keep(having.get(term.key) ?? new Set())
    else remove(having.get(term.key) ?? new Set())
  return left
}

// A name that objects have from their prototype is a label like any other.
const KEYS = ['team', 'env', 'tier', 'constructor', 'example.com/owner']
const VALUES = ['', 'a', 'b', 'c', 'prod']
const labelsArb = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), {
  maxKeys: 4,
  noNullPrototype: true,
})
const termArb: fc.Arbitrary<SelectorTerm> = fc.oneof(
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
    values: fc.constant([]),
  }),
)
const selectorArb: fc.Arbitrary<Selector> = fc
  .record({
    match_labels: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    match_expressions: fc.array(termArb, { maxLength: 3 }),
  })
  .filter((selector) => checkSelector(selector, '').length === 0)

let redis: RedisClient
before(async () => {
  redis = (await unitStore()).redis
})

const edge = (client: RedisClient): PolicyStore =>
  new PolicyStore({
    redis: client,
    keyRing: parseKeyRing(Buffer.alloc(32).toString('base64')),
    killBoard: new RestrictionBoard(() => undefined),
  })

test('random label sets: an edge selects exactly what an independent evaluator does, and nothing of another organization', async () => {
  await redis.flushall()
  const seed = 49
  const sets = fc.sample(labelsArb, { numRuns: repetitions(1_000), seed })
  const selectors = fc.sample(selectorArb, { numRuns: 40, seed })
  const objects = new Map(sets.map((labels, i) => [`agt_${i}`, labels]))
  const pipeline = redis.pipeline()
  for (const org of ['org_a', 'org_b'])
    for (const [agent_id, labels] of objects) {
      const agent = anAgent({ agent_id, organization_id: org, labels })
      pipeline.hset(REDIS_KEYS.agents(org), agent_id, JSON.stringify(agent))
      pipeline.zadd(REDIS_KEYS.agentIndex(org), 1, agent_id)
      for (const [command, key, ...args] of planLabels(org, agent_id, labels))
        pipeline.call(command, key, ...args)
    }
  for (const [i, agent_selector] of selectors.entries()) {
    const scope_id = `scp_${i}`
    const scope = aScope({ scope_id, name: scope_id, agent_id: '*', agent_selector })
    pipeline.hset(REDIS_KEYS.agentScopes('org_a', '*'), scope_id, JSON.stringify(scope))
  }
  await pipeline.exec()
  const policy = edge(redis)
  const namesOf = async (org: string, agent_id: string): Promise<readonly string[]> =>
    [...(await policy.agent(org, agent_id)).scopes.names].sort()
  const expected = selectors.map((selector) => selectedBy(selector, objects))
  let selections = 0
  for (const agent_id of objects.keys()) {
    const names = expected.flatMap((ids, i) => (ids.has(agent_id) ? [`scp_${i}`] : [])).sort()
    selections += names.length
    assert.deepEqual(await namesOf('org_a', agent_id), names, agent_id)
    assert.deepEqual(await namesOf('org_b', agent_id), [])
  }
  const pairs = objects.size * selectors.length
  assert.ok(selections > 0.05 * pairs && selections < 0.95 * pairs, `${selections} of ${pairs}`)
  for (const [i, selector] of selectors.entries())
    assert.equal(await countSelected(redis, 'org_a', [selector]), expected[i]?.size)
  // Of several selectors and names, each agent counts once.
  for (const [i, selector] of selectors.entries()) {
    const other = (i + 1) % selectors.length
    const named = [...objects.keys()].slice(i, i + 5)
    const all = new Set([...(expected[i] ?? []), ...(expected[other] ?? []), ...named])
    const pair = [selector, ...selectors.slice(other, other + 1)]
    assert.equal(await countSelected(redis, 'org_a', pair, named), all.size)
  }
})

test('what both of two selectors select is selected by neither less nor more', () => {
  fc.assert(
    fc.property(selectorArb, selectorArb, labelsArb, (one, other, labels) =>
      assert.equal(
        matchesSelector(bothSelectors(one, other), labels),
        matchesSelector(one, labels) && matchesSelector(other, labels),
      ),
    ),
    { numRuns: repetitions(500) },
  )
})

test('a selector reads back as it is written, and any text is read or refused', () => {
  fc.assert(
    fc.property(selectorArb, labelsArb, (selector, labels) => {
      const read = readSelector(writeSelector(selector))
      assert.ok(read !== null, writeSelector(selector))
      assert.equal(matchesSelector(read, labels), matchesSelector(selector, labels))
    }),
    { numRuns: repetitions(500) },
  )
  for (const [text, terms] of [
    ['team=a, env in (x, y) ,!z, w', 4],
    ['team==a,team!=b', 2],
    ['a notin (b)', 1],
    ['', 0],
  ] as const) {
    const read = readSelector(text)
    assert.ok(read !== null, text)
    assert.equal(Object.keys(read.match_labels).length + read.match_expressions.length, terms)
  }
  for (const text of ['a b', 'in (x)', '=a', 'a in x', '!!', 'a=b c'])
    assert.equal(readSelector(text), null, text)
})

test('labels have the syntax of Kubernetes, and an empty selector is refused', () => {
  const long = 'a'.repeat(63)
  for (const [labels, isValid] of [
    [{ team: 'billing', 'example.com/x_y.z-1': '' }, true],
    [{ [`${long}`]: long }, true],
    [{ [`${long}a`]: '' }, false],
    [{ team: `${long}a` }, false],
    [{ '-team': 'a' }, false],
    [{ team: 'a b' }, false],
    [{ __proto__x: 'a' }, false],
    [{ '/x': '' }, false],
    [{ 'Example.com/x': '' }, false],
    [{ 'a/b/c': '' }, false],
    [{ team: '*' }, false],
    [Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, ''])), true],
    [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ''])), false],
  ] as const)
    assert.equal(checkLabels(labels).length === 0, isValid, JSON.stringify(labels))
  const term = (operator: SelectorTerm['operator'], ...values: string[]): Selector => ({
    match_labels: {},
    match_expressions: [{ key: 'a', operator, values }],
  })
  for (const [selector, isValid, isNegative] of [
    [{ match_labels: {}, match_expressions: [] }, false, true],
    [term('In'), false, false],
    [term('In', 'x'), true, false],
    [term('Exists'), true, false],
    [term('Exists', 'x'), false, false],
    [term('NotIn', 'x'), true, true],
    [term('DoesNotExist'), true, true],
    [{ ...term('NotIn', 'x'), match_labels: { b: 'c' } }, true, false],
  ] as const) {
    assert.equal(checkSelector(selector, '').length === 0, isValid, JSON.stringify(selector))
    assert.equal(isNegativeSelector(selector), isNegative, JSON.stringify(selector))
  }
})

test('scopes that select integrations apply to those, tighten the others, and follow their labels', () => {
  const prod = { match_labels: { env: 'prod' }, match_expressions: [] }
  const scopes = compileScopes([
    aScope({ name: 'wide', integration_id: 'int_a', max_body_bytes: 9 }),
    aScope({
      name: 'selecting',
      integration_id: '*',
      integration_selector: prod,
      priority: 1,
      max_body_bytes: 1,
    }),
  ])
  const decide = (labels: Labels | undefined, url: string): string => {
    const table = compileIntegrations([
      anIntegration('https://x', { integration_id: 'int_a', ...(labels ? { labels } : {}) }),
      anIntegration('https://y', { integration_id: 'int_b', labels: { env: 'prod' } }),
    ])
    const target = targetOf(url)
    const { integration } = matchIntegration(table, target)
    assert.ok(integration !== null)
    const decision = decideScope(scopes, table, { method: 'GET', target, integration })
    return decision.kind === 'allowed'
      ? `${decision.scope.name} ${decision.settings.max_body_bytes}`
      : decision.reason
  }
  assert.equal(decide(undefined, 'https://x/'), 'wide 9')
  assert.equal(decide({ env: 'dev' }, 'https://x/'), 'wide 9')
  assert.equal(decide({ env: 'prod' }, 'https://x/'), 'selecting 1')
  assert.equal(decide(undefined, 'https://y/'), 'selecting 1')
})

test('a change of a selector reaches every agent, also one whose read has begun', async () => {
  const store = new FakePolicyRedis()
  const policy = edge(store.client)
  const selecting = (name: string) =>
    aScope({
      name,
      agent_id: '*',
      agent_selector: { match_labels: { a: 'b' }, match_expressions: [] },
    })
  store.agents.set('agt_a', anAgent({ labels: { a: 'b' } }))
  store.agents.set('agt_b', anAgent({ agent_id: 'agt_b' }))
  store.scopes.set('*', [selecting('first')])
  const names = async (agent_id: string): Promise<readonly string[]> =>
    (await policy.agent('org_default', agent_id)).scopes.names
  assert.deepEqual([await names('agt_a'), await names('agt_b')], [['first'], []])
  store.scopes.set('*', [selecting('second')])
  policy.drop({ what: 'scopes', organization_id: 'org_other' })
  assert.deepEqual(await names('agt_a'), ['first'])
  policy.drop({ what: 'agent', organization_id: 'org_default', agent_id: 'agt_a' })
  store.hold()
  const reading = names('agt_a')
  await new Promise(setImmediate)
  store.scopes.set('*', [selecting('third')])
  policy.drop({ what: 'scopes', organization_id: 'org_default' })
  store.release()
  assert.deepEqual(await reading, ['third'])
})
